"""Sessions that could learn from one another, over real playbooks and fakes of everything else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bot.config.heartbeat_settings import SessionSettings
from bot.domain.heartbeats.session_state import InboxMessage
from bot.domain.suggestions import DecidedBy, Offer, Suggestion, SuggestionStatus
from bot.heartbeat.run.inputs import PeerSessions
from bot.heartbeat.session_registry import SessionMemory, SessionRegistry
from bot.heartbeat.suggestion_desk import SuggestionDesk, checks_to_share
from bot.ports.collections import OVERRIDES
from bot.ports.feature_collections import SUGGESTIONS
from tests.fakes import (
    FakeClock,
    Faults,
    MemoryDecisionLog,
    MemoryDocuments,
    MemoryStore,
    in_memory,
)

ANA, BEN = DecidedBy("U0ANA", "ana"), DecidedBy("U0BEN", "ben")
COMMANDS = ["df -h", "budget left", "incidents open", "builds nightly", "check {number}", "show {word}"]
"""What every session of the garden allows."""
BASICS = (Path(__file__).parents[2] / "bot" / "heartbeat" / "templates" / "worker.md").read_text(encoding="utf-8")


def with_task(tier: str, *tasks: str) -> str:
    """Return the template with tasks more in a tier."""
    head, title, tail = BASICS.partition(f"## {tier.capitalize()} Tasks")
    line, _, rest = tail.partition("\n\n")
    return "".join([head, title, line, "\n\n", *(f"- [ ] {task}\n" for task in tasks), rest])


class Garden:
    """The sessions `master` and those named; `faults` can kill the process at any effect."""

    def __init__(self, folder: Path, faults: Faults | None = None, *, master: bool = True, **playbooks: str) -> None:
        self.folder, self.clock = folder, FakeClock()
        self.faults = faults or Faults()
        self.texts: dict[tuple[str, str], tuple[int, str]] = {}
        self.lines: list[str] = []
        self.inboxes: dict[str, list[str]] = {}
        names = {**({"master": BASICS} if master else {}), **playbooks}
        for name, text in names.items():
            (folder / name).mkdir()
            if text:
                (folder / name / "HEARTBEAT.md").write_text(text)
        self.settings = {name: self._settings(name) for name in names}
        self.restart()

    def restart(self) -> None:
        """Begin a new process on what the last one left."""
        self.sessions = SessionRegistry(self.settings, in_memory(OVERRIDES))
        self.store = SessionMemory(MemoryStore(self.texts, self.inboxes, self.faults))
        self.suggestions = in_memory(SUGGESTIONS, MemoryDocuments(self.texts, self.faults))
        self.desk = SuggestionDesk(
            sessions=self.sessions,
            states=self.store,
            suggestions=self.suggestions,
            decisions=MemoryDecisionLog(self.lines, self.faults),
            clock=self.clock,
        )
        self.neighbours = PeerSessions(self.desk)

    def accept(self, one: Suggestion, by: DecidedBy = ANA, why: str | None = None) -> Suggestion:
        """Decide that a suggestion's session takes it."""
        return self.desk.decide(one.id, SuggestionStatus.ACCEPTED, by, why or "")

    def reject(self, one: Suggestion, by: DecidedBy = ANA, why: str | None = None) -> Suggestion:
        """Decide that it does not."""
        return self.desk.decide(one.id, SuggestionStatus.REJECTED, by, why or "")

    def share(self, offers: Sequence[Offer]) -> None:
        """Have other teams share these checks."""
        self.desk.of_teams = offers

    def checks_to_share(self, team: str) -> list[Offer]:
        """Return what this team shares."""
        return checks_to_share(self.desk.known(), team)

    def set(self, name: str, **beat: Any) -> None:
        """Give a session settings of its beats."""
        self.settings = {**self.settings, name: self._settings(name, **beat)}
        self.sessions.replace(self.settings)

    def playbook(self, name: str) -> str:
        return (self.folder / name / "HEARTBEAT.md").read_text()

    def count(self, name: str, task: str) -> int:
        """Return how many lines of a playbook hold a task."""
        return sum(task in line for line in self.playbook(name).splitlines())

    def inbox(self, name: str) -> Sequence[InboxMessage]:
        return self.store.inbox(name)

    def _settings(self, name: str, **beat: Any) -> SessionSettings:
        beat = {"commands": COMMANDS, **beat}
        given = {"cwd": self.folder / name, "owner": "U0ANA", "master": name == "master", "heartbeat": beat}
        return SessionSettings.model_validate(given)
