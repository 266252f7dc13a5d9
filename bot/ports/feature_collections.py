"""Names the collections of patches, suggestions, notes and the like, apart from the others: few commands read one."""

from __future__ import annotations

from typing import Final

from bot.domain.acknowledgement import Acknowledgement
from bot.domain.fixes import Fix, check_fix_id
from bot.domain.notes import StoredNote, check_note_path
from bot.domain.suggestions import Suggestion, check_suggestion_id
from bot.domain.threads import check_thread_id
from bot.ports.collections import CollectionSpec

ACKNOWLEDGEMENTS: Final = CollectionSpec(
    name="acknowledgements", model=Acknowledgement, check_id=check_thread_id, default=Acknowledgement
)
SUGGESTIONS: Final = CollectionSpec(
    name="suggestions",
    model=Suggestion,
    check_id=check_suggestion_id,
    unknown="there is no suggestion {id}",
    id_in=lambda one: one.id,
    order=lambda one: (one.at, one.id),
)
FIXES: Final = CollectionSpec(
    name="fixes",
    model=Fix,
    check_id=check_fix_id,
    unknown="This patch is not on file any more; nothing happened.",
    id_in=lambda one: one.id,
    order=lambda one: one.asked_at,
)
NOTES: Final = CollectionSpec(name="notes", model=StoredNote, check_id=check_note_path, unknown="there is no note {id}")
"""The notes by their paths below memory/, where an engine is shared; in a data directory they are those files."""
