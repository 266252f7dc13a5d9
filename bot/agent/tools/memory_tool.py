"""search_memory: what was answered before.

Reads the notes in memory/ that the index finds, links out of it aside; what comes up stands in the ledger by its ref.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from bot.agent.ledger import MEMORY_TOOL
from bot.agent.tools.base import Arguments, Text
from bot.agent.tools.snapshot import Snapshot
from bot.agent.tools.tool_output import path_text, quote_line, redact_lines, truncated
from bot.domain.memory.notes import note_words
from bot.domain.search.passages import MemoryHit
from bot.ports import NoteIndex

log = logging.getLogger(__name__)

MAX_NOTES: Final = 4
MAX_NOTE_CHARS: Final = 4_000
MAX_NOTE_BYTES: Final = 1_000_000


class SearchMemory(Arguments):
    """What may have been answered before."""

    query: Annotated[Text, Field(min_length=2, description="The question, or its telling words.")]


class MemorySearch:
    """Searches approved notes and earlier replies; what comes up stands in the ledger by its ref."""

    def __init__(self, snapshot: Snapshot, memory: NoteIndex, folder: Path) -> None:
        self._snapshot = snapshot
        self._memory = memory
        self._folder = folder.resolve()

    def __call__(self, given: SearchMemory) -> str:
        """Return the notes nearest to a question, each under the ref to cite."""
        hits = self._memory.search(given.query, limit=MAX_NOTES)
        for hit in hits:
            self._snapshot.ledger.record_query(MEMORY_TOOL, hit.ref)
        return "\n".join(line for hit in hits for line in self._shown(hit)) or "nothing in memory fits"

    def _shown(self, hit: MemoryHit) -> list[str]:
        lines = redact_lines(self._text(hit).split("\n"), self._snapshot.known_secrets)
        text = "\n".join(quote_line(line) for line in lines)
        more = (
            truncated(MAX_NOTE_CHARS, len(text), "characters", "a closer query") if len(text) > MAX_NOTE_CHARS else []
        )
        cautioned = [f"caution: {hit.caution}"] if hit.caution else []
        return [f"ref: {path_text(hit.ref)}", *cautioned, text[:MAX_NOTE_CHARS], *more]

    def _text(self, hit: MemoryHit) -> str:
        """Return the words of a whole note, or what the index kept of an earlier reply."""
        path = (self._folder / hit.ref.removeprefix("memory/")).resolve()
        is_note = hit.ref.startswith("memory/") and path.is_relative_to(self._folder) and path.is_file()
        try:
            if is_note and path.stat().st_size <= MAX_NOTE_BYTES:
                return note_words(path.read_text(encoding="utf-8", errors="replace"))
        except OSError:  # gone a moment after it was found
            log.info("a note is gone: %s", hit.ref, extra={"action": "note_gone"})
        return hit.excerpt
