"""Notes that other teams share, as copies below memory/shared/<team>/: found and cited like one's own, never changed.

A copy is made anew when its original changed and goes when that was retired or is shared no more.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from bot.adapters.storage.files.atomic_write import make_folder, remove_file, replace_text
from bot.adapters.storage.files.note_files import NoteFiles
from bot.domain.memory.notes import SHARED
from bot.errors import StoreError

log = logging.getLogger(__name__)


def copy_shared_notes(memory: Path, sharing: Mapping[str, NoteFiles]) -> None:
    """Bring the copies in one team's memory up to what other teams share; `sharing` has their notes by team.

    Raises:
        StoreError: the disk refuses; the next call goes on.
    """
    wanted = {
        memory / SHARED / team / note.ref.removeprefix("memory/"): notes.folder / note.ref.removeprefix("memory/")
        for team, notes in sharing.items()
        for note in notes.all()
        if not note.is_shared
    }
    for copy in sorted((memory / SHARED).rglob("*.md")):
        if copy not in wanted:
            remove_file(copy)
    for copy, original in wanted.items():
        try:
            text = original.read_text(encoding="utf-8", errors="replace")
            if copy.is_file() and copy.read_text(encoding="utf-8", errors="replace") == text:
                continue
        except OSError as error:
            log.warning("a shared note was not read: %s", error.strerror, extra={"action": "note_unread"})
            continue
        try:
            make_folder(copy.parent)
        except OSError as error:
            raise StoreError(f"cannot keep notes of other teams in {copy.parent}: {error.strerror}") from error
        replace_text(copy, text)
