"""What one beat looks at, what it changed in its playbook, and what whoever carried it out reports. Pure values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from bot.domain.heartbeats.alerts import OpenFinding, Removal
from bot.domain.heartbeats.beats import BeatReport, Receipt, RunCheckpoint, Wake
from bot.domain.heartbeats.session_state import InboxMessage
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry, checks_of
from bot.domain.sharing.suggestions import Suggestion
from bot.domain.text.humanize import counted
from bot.domain.tiers import TaskHistory, Tier, TierMove, add_measured
from bot.heartbeat.run.probes import ProbeReport, ProbeResult
from bot.heartbeat.sessions.session_registry import Session

SHOWN: Final = 3
SHOWN_CHARS: Final = 80
AGENT: Final = "its agent"


class EditKind(StrEnum):
    """Kinds of edits; the value is written to trace.json."""

    ADD_TASK = "add_task"
    CHECK_TASK = "check_task"
    REMOVE_TASK = "remove_task"
    MOVE_TASK = "move_task"
    RAISE_FLAG = "raise_flag"
    CLEAR_FLAG = "clear_flag"
    NOTE = "note"
    DROP_NOTE = "drop_note"


_PHRASES: Final = {
    EditKind.ADD_TASK: "new {tier} task",
    EditKind.REMOVE_TASK: "removed from {tier}",
    EditKind.MOVE_TASK: "moved from {before} to {tier}",
    EditKind.RAISE_FLAG: "flag raised",
    EditKind.CLEAR_FLAG: "flag cleared",
    EditKind.NOTE: "noted",
    EditKind.DROP_NOTE: "note dropped",
}
"""How an alert tells of an edit; a box is no news."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaybookEdit:
    """One change; `tier` is where a task stands now, or stood, `before` where a moved one came from."""

    what: EditKind
    text: str
    tier: Tier | None = None
    before: Tier | None = None

    def record(self) -> dict[str, Any]:
        """Return the edit as it stands in trace.json."""
        moved = {"from_tier": self.before} if self.before else {}
        return {"what": self.what, "tier": self.tier, **moved, "text": self.text}


@dataclass(slots=True)
class PlaybookEditLog:
    """The changes of one beat, in order."""

    made: list[PlaybookEdit] = field(default_factory=list)

    @property
    def news(self) -> list[PlaybookEdit]:
        """Those an owner hears of: all but ticked boxes."""
        return [edit for edit in self.made if edit.what in _PHRASES]

    def removals(self, at: datetime) -> dict[str, Removal]:
        """Return the checks that the session's agent took out, by their identity."""
        removed = [edit.text for edit in self.made if edit.what is EditKind.REMOVE_TASK]
        return {check: Removal(at=at, by=AGENT) for text in removed for check in checks_of(text)}

    def described(self) -> str:
        """Return what changed on one line, or nothing.

        >>> PlaybookEditLog([PlaybookEdit(what=EditKind.ADD_TASK, text="Disk: `df -h`", tier=Tier.HOURLY)]).described()
        'Changed in HEARTBEAT.md: new hourly task “Disk: `df -h`”'
        """
        told = [f"{_phrase(edit)} “{_short(edit.text)}”" for edit in self.news[:SHOWN]]
        more = [f"and {len(self.news) - SHOWN} more"] if len(self.news) > SHOWN else []
        return f"Changed in HEARTBEAT.md: {'; '.join([*told, *more])}" if told else ""

    def counted(self) -> str:
        """Return how much changed, without a word of what, for lines that more people read; or nothing.

        >>> PlaybookEditLog([PlaybookEdit(what=EditKind.NOTE, text="secret")]).counted()
        '1 edit to HEARTBEAT.md'
        """
        count = len(self.news)
        return f"{counted(count, 'edit')} to HEARTBEAT.md" if count else ""


def _phrase(edit: PlaybookEdit) -> str:
    return _PHRASES[edit.what].format(tier=edit.tier, before=edit.before)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1].rstrip() + "…"


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerData:
    """What may be offered to others, who sent no report, what waits for this session's own decision.

    `receipts` are those of the due tasks that code carries out, by task id; a beat without a model takes them as they
    are.
    """

    offers: tuple[Suggestion, ...] = ()
    silent: tuple[str, ...] = ()
    offered: tuple[Suggestion, ...] = ()
    receipts: Mapping[str, Receipt] = field(default_factory=dict)


NONE: Final = PeerData()
"""A beat that has nothing to do with others."""


@dataclass(frozen=True, kw_only=True)
class BeatStart:
    """One beat as it starts: why, the time its tiers are stamped with, what it will change in its playbook.

    `cancel` is set by whoever cancels it. `paid` is the run of a beat that a crash broke off after it: this one is that
    beat, and goes on from there.
    """

    session: Session
    run_id: str
    wake: Wake
    stamp_at: datetime
    started_at: datetime
    cancel: threading.Event = field(default_factory=threading.Event)
    edits: PlaybookEditLog = field(default_factory=PlaybookEditLog)
    paid: RunCheckpoint | None = None


@dataclass(frozen=True, kw_only=True)
class BeatView(BeatStart):
    """A beat with its due tasks and what is known before anybody thinks about them.

    `changed` are the probe results that differ from the last good beat's, `earlier` the hashes of what commands printed
    then; `spent_usd` is what the session has cost today; `moves` are the tasks that were measured to stand in a wrong
    tier, `exchange` what the beat has to do with other sessions.
    """

    tier: Tier
    playbook: Playbook
    tasks: tuple[PlaybookEntry, ...]
    probes: ProbeReport
    changed: tuple[ProbeResult, ...]
    earlier: Mapping[str, str]
    inbox: tuple[InboxMessage, ...]
    open_findings: tuple[OpenFinding, ...]
    spent_usd: float
    moves: tuple[TierMove, ...] = ()
    exchange: PeerData = NONE
    removals: Mapping[str, Removal] = field(default_factory=dict)
    """Who took which check out of the playbook, by its identity."""
    ahead_s: float = 0.0
    """How long the commands took that were run while the beat waited for its turn, in seconds."""
    bare_tokens: int = 0
    """How many full runs in a row before this beat ended in the bare token."""


FullRun = Callable[[BeatView], BeatReport]
"""Carries out the due tasks and returns the report. Raises RunCancelled if the view's `cancel` was set, RunFailed where
there is no report."""


def measured_after(history: Mapping[str, TaskHistory], view: BeatView) -> dict[str, TaskHistory]:
    """Return the history with one beat more, of the tasks that stand in the playbook.

    A task that stands in several tiers is measured in the first one that was due.
    """
    standing = {task.id for _, task in view.playbook.all_tasks}
    seen = {
        task.id: TaskHistory(text=task.text, tier=tier_of(task), seconds=_seconds(view, task))
        for task in reversed(view.tasks)
        if task.id in standing
    }
    return add_measured({each: past for each, past in history.items() if each in standing}, seen)


def tier_of(task: PlaybookEntry) -> Tier:
    """Return the tier a task stands in; one of a playbook without tiers is quick."""
    return Tier(task.section.value) if task.section.value in list(Tier) else Tier.QUICK


def _seconds(view: BeatView, task: PlaybookEntry) -> tuple[float, ...]:
    """Return how long its commands took; nothing where none ran."""
    results = view.probes.results_for(task)
    return (round(sum(result.seconds for result in results), 3),) if results else ()
