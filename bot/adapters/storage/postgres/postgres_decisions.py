"""Port DecisionLog over a journal, which says of itself what decisions.md says in a data directory."""

from __future__ import annotations

from bot.adapters.storage.files.decision_log import HEAD
from bot.adapters.storage.postgres.postgres_journal import PostgresJournal


class PostgresDecisions:
    """The decisions of one namespace."""

    def __init__(self, journal: PostgresJournal) -> None:
        self._journal = journal

    def note(self, mark: str, line: str) -> None:
        """Append a line unless one that holds `mark` is there, also one of another replica at this moment."""
        if any(mark in str(record.get("line")) for record in self._journal.records(containing=mark)):
            return
        one_line = " ".join(line.split()).encode("utf-8", "replace").decode()
        self._journal.append_once({"line": one_line}, [("mark", mark)])

    def text(self) -> str:
        """Return the lines as decisions.md has them."""
        lines = "".join(f"- {record.get('line')}\n" for record in self._journal.records())
        return f"{HEAD}{lines}" if lines else ""
