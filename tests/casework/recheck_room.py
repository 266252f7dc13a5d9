"""Notes over a real codebase, and people who are asked about them."""

from __future__ import annotations

from pathlib import Path

from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.citation_staleness import CitationStaleness
from bot.casework.memory.note_rechecks import NoteRechecks
from bot.domain.memory.notes import NoteCitation, note_text
from bot.domain.memory.rechecks import Recheck
from bot.errors import ProviderError
from tests.casework.office import Office
from tests.fakes import Faults, MemorySingle
from tests.gitrepo import commit_files, make_repo

FIVE = "# Retries\n\nLIMIT = 5\n\ndef retry():\n    pass\n"
SEVEN = FIVE.replace("LIMIT = 5", "LIMIT = 7")
MOVED = f"# one more line\n{FIVE}"
WORDS = "# Retries\n\nThe gateway is retried five times.\n"


class Cards:
    """Port RecheckChat: each card and all it has shown; `refuse` is raised instead."""

    def __init__(self, faults: Faults) -> None:
        self.shown: dict[str, list[Recheck]] = {}
        self.refuse: ProviderError | None = None
        self._faults = faults

    def show(self, recheck: Recheck) -> tuple[str, str]:
        if self.refuse is not None:
            raise self.refuse
        known = (ts for ts, shown in self.shown.items() if shown[-1].id == recheck.id)
        ts = recheck.card_ts or next(known, f"1800000000.{len(self.shown) + 1:06d}")
        self._faults.point("cards: before a card")
        self.shown.setdefault(ts, []).append(recheck)
        self._faults.point("cards: after a card")
        return "C0OPS", ts

    @property
    def last(self) -> Recheck:
        """What the newest card shows."""
        return list(self.shown.values())[-1][-1]


class DyingDocument(MemorySingle):
    """A document at whose writes a test may die."""

    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self._faults = faults

    def change(self, change):  # type: ignore[no-untyped-def]
        self._faults.point("stored: before")
        super().change(change)
        self._faults.point("stored: after")


class Room:
    """One note that cites `LIMIT = 5` of a codebase, and a card for whoever decides."""

    def __init__(self, folder: Path, faults: Faults | None = None) -> None:
        folder.mkdir()
        self.faults = faults or Faults()
        self.code = make_repo(folder / "code", {"app/retry.py": FIVE})
        self.office = Office(folder)
        self.memory, self.shelf = folder / "memory", self.office.shelf
        self.cards, self.stored = Cards(self.faults), DyingDocument(self.faults)
        self.cite = NoteCitation(path="app/retry.py", lines="3", commit=GitRepo(self.code).head(), quote="LIMIT = 5")
        facts = {"kind": "note", "saved_by": "U2", "saved_at": "2026-11-20T09:00:00+00:00"}
        self.shelf.create("retries", note_text(WORDS, {**facts, "cites": [self.cite.model_dump()]}))
        self.start()

    def start(self) -> None:
        """Be a process that has just begun."""
        repo = GitRepo(self.code)
        self.rechecks = NoteRechecks(
            self.office.service, self.shelf, repo, CitationStaleness(repo), self.stored, self.cards
        )

    def commit(self, text: str | None) -> str:
        """Move HEAD on, the file with this text or without it, and tick; returns the commit."""
        path = self.code / "app" / "retry.py"
        if text is None:
            path.unlink()
        head = commit_files(self.code, {"app/retry.py": text} if text is not None else {})
        self.rechecks.tick()
        return head

    @property
    def cited(self) -> tuple[NoteCitation, ...]:
        """What the note cites now."""
        [note] = self.shelf.all()
        return note.facts.cites
