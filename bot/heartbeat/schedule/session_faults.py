"""Tells the owner of a session once what it is broken by, and again only after it was whole. Other sessions go on.

Looked for are: what the gate refuses until somebody mends it, and a HEARTBEAT.md that cannot be read, has no tasks, or
has some that never run. Of a state or inbox that cannot be read the ops channel hears, for nobody knows the owner's way
then.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from bot.domain.heartbeats.allowed_commands import commands_in, is_allowed, not_run_notice
from bot.domain.heartbeats.beats import BeatStep, Wake
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.errors import StoreError, TriageError
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.playbooks.playbook_file import playbook_of, read_template
from bot.heartbeat.schedule.admission import Admission
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry
from bot.ports import Clock

log = logging.getLogger(__name__)

Faults = Mapping[str, str | None]
"""What is wrong with a session, by the kind of fault; None: it is whole in that. Kinds stand in its stored state."""

NAMED_COMMANDS: Final = 5

_OF_THE_GATE: Final = {
    BeatStep.FOLDER: "folder_missing",
    BeatStep.ROUTE: "unreachable",
    BeatStep.BUDGET: "budget",
    BeatStep.TRACKED: "tracked",
}
"""What the gate refuses until the owner, or the day, ends it."""


def playbook_faults(session: Session, *, has_model: bool) -> Faults:
    """Return what is wrong with a session's HEARTBEAT.md; of one that is missing nothing is known.

    `has_model`: a model works the tasks. Of one that cannot be read no other fault is known.
    """
    try:
        playbook = playbook_of(session).peek() if session.cwd.is_dir() else None
    except StoreError as error:
        return {"unchecked": _stopped(str(error))}
    if playbook is None:
        return {}
    is_silent = not (playbook.all_tasks or playbook.unscheduled)
    add = f"Add one: /triage tiers {session.id} add quick <task>"
    return {
        "unchecked": f"its HEARTBEAT.md has no tasks, so nothing is checked. {add}" if is_silent else None,
        "unscheduled": _unscheduled(session, playbook),
        "unanswered": None if has_model else _unanswered(playbook),
        "refused": _refused(session, playbook),
    }


def _unscheduled(session: Session, playbook: Playbook) -> str | None:
    """Return what is said of tasks under no heading of a tier; items without boxes count by a command that may run."""

    def is_check(entry: PlaybookEntry) -> bool:
        named = commands_in([entry.text, *entry.details]) if entry.is_item or entry.is_table_of_commands else []
        return entry.checked is not None or any(is_allowed(argv, session.beat.commands, session.cwd) for argv in named)

    lost = [entry for entry in playbook.elsewhere if is_check(entry)]
    if not lost:
        return None
    return (
        f"{counted(len(lost), 'task in HEARTBEAT.md never runs', 'tasks in HEARTBEAT.md never run')}, for no heading "
        f"above says Quick, Hourly or Daily ({_first(lost)}). Move tasks under one of these headings, and take the "
        f"boxes away from notes. {'Its other tasks are' if playbook.all_tasks else 'Nothing else is'} looked at."
    )


def _unanswered(playbook: Playbook) -> str | None:
    """Return what is said of tasks that nobody looks at without a model; those of the templates are no news."""
    own = {task.id for is_master in (False, True) for _, task in read_template(is_master=is_master).all_tasks}
    asks = [task for _, task in playbook.all_tasks if not (task.id in own or commands_in([task.text, *task.details]))]
    if not asks:
        return None
    count = counted(len(asks), "task in HEARTBEAT.md names no command", "tasks in HEARTBEAT.md name no command")
    return (
        f"{count}, and without a model nobody looks at such a task ({_first(asks)}). Name a command in backticks, or "
        "set ANTHROPIC_API_KEY."
    )


def _refused(session: Session, playbook: Playbook) -> str | None:
    """Return what is said of commands that beats never run, with how to allow the first few."""
    lines = [line for _, task in playbook.all_tasks for line in (task.text, *task.details)]
    refused = session.refused_commands(*lines)
    if not refused:
        return None
    count = counted(len(refused), "command in HEARTBEAT.md never runs", "commands in HEARTBEAT.md never run")
    return f"{count}: {'; '.join(map(not_run_notice, refused[:NAMED_COMMANDS]))}"


def _first(entries: list[PlaybookEntry]) -> str:
    return f"first: “{one_line(entries[0].text, 80)}”, line {entries[0].start + 1}"


def _stopped(why: str) -> str:
    return f"heartbeats are stopped: {why}. They start again by themselves after that; other sessions are not affected."


class SessionFaults:
    """Looks at every enabled session; an owner who cannot be reached now is told at a later look.

    `has_model`: a model works the tasks.
    """

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        clock: Clock,
        alerts: AlertRouter,
        admission: Admission,
        *,
        has_model: bool,
    ) -> None:
        self._sessions, self._store, self._clock, self._alerts = sessions, store, clock, alerts
        self._admission, self._has_model = admission, has_model
        self._unread: set[str] = set()

    def check(self) -> None:
        """Look once at every session; what fails for one is logged and looked at again, and concerns no other."""
        for session in self._sessions.all():
            try:
                if session.beat.enabled and self._is_readable(session):
                    self._note(session, self._found(session))
            except (TriageError, OSError):
                log.exception("a session was not looked at", extra={"action": "fault_unseen", "session": session.id})

    def _is_readable(self, session: Session) -> bool:
        try:
            self._store.inbox(session.id)
        except StoreError as error:
            if session.id not in self._unread:
                self._alerts.tell_owner_or_ops(session, f"{session.id}: {_stopped(str(error))}")
                self._unread.add(session.id)
            return False
        self._unread.discard(session.id)
        return True

    def _found(self, session: Session) -> Faults:
        state, now = self._store.load(session.id), self._clock.now()
        refusals = {one.step: one.why for one in self._admission.refusals(session, state, Wake.INTERVAL, now)}
        of_gate = {kind: refusals.get(step) for step, kind in _OF_THE_GATE.items()}
        stops = {kind: why and _stopped(why) for kind, why in of_gate.items()}
        return {**stops, **playbook_faults(session, has_model=self._has_model)}

    def _note(self, session: Session, found: Faults) -> None:
        """Tell of what was not told yet, and forget what is whole again."""
        told = self._store.load(session.id).told
        for kind, fault in found.items():
            if fault is not None and kind not in told:
                self._alerts.tell_owner_or_ops(session, f"{session.id}: {fault}")
                self._remember(session, kind, self._clock.now())
            elif fault is None and kind in told:
                self._remember(session, kind, None)

    def _remember(self, session: Session, kind: str, at: datetime | None) -> None:
        self._store.save(session.id, lambda state: state.with_told(kind, at))
