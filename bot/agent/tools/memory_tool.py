"""search_memory: what was answered before.

Reads the notes that the index finds; what comes up stands in the ledger by its ref.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from bot.agent.ledger import MEMORY_TOOL
from bot.agent.tools.base import Arguments, Text
from bot.agent.tools.snapshot import Snapshot
from bot.agent.tools.tool_output import path_text, quote_line, truncated
from bot.domain.search.passages import MemoryHit
from bot.domain.secrets import redact_lines
from bot.ports import NoteIndex, NoteStore

MAX_NOTES: Final = 4
MAX_NOTE_CHARS: Final = 4_000


class SearchMemory(Arguments):
    """What may have been answered before."""

    query: Annotated[Text, Field(min_length=2, description="The question, or its telling words.")]


class MemorySearch:
    """Searches approved notes and earlier replies; what comes up stands in the ledger by its ref."""

    def __init__(self, snapshot: Snapshot, memory: NoteIndex, notes: NoteStore) -> None:
        self._snapshot, self._memory, self._notes = snapshot, memory, notes

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
        return next((note.text for note in self._notes.all() if note.ref == hit.ref), hit.excerpt)
