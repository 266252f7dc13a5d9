"""Tells the owner of a session once what it is broken by, and of beats that never came. Other sessions go on.

Looked for are a folder that is missing, alerts that are to go where this process cannot send anything, money that is
spent, a HEARTBEAT.md that git tracks, that cannot be read, without tasks or with tasks that never run, and a state or
inbox that cannot be read: of that the ops channel hears once.
A beat never came if it was due, and neither ran nor was refused for a reason. That is found while sessions are looked
at, and told after that, for the chat may be slow.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from bot.config.session_settings import unreachable
from bot.domain.heartbeats.allowed_commands import Argv, is_allowed
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.hours import ActiveHours
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.text.humanize import counted, utc_text
from bot.domain.text.sanitize import one_line
from bot.errors import StoreError, TriageError
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.playbooks.playbook_file import playbook_of, read_template
from bot.heartbeat.schedule.admission import TRACKED, spent_today
from bot.heartbeat.sessions.owners import OwnerZones
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry
from bot.ports import Clock

log = logging.getLogger(__name__)

ENOUGH: Final = 2
LONGEST_BEAT: Final = timedelta(minutes=20)
"""A beat may take longer than its session's interval; until then its silence is no reason to worry."""

_REST: Final = "Its heartbeats start again by themselves after that. Other sessions are not affected."


def missed_slots(state: SessionState, slot: datetime, every: timedelta, hours: ActiveHours) -> tuple[datetime, ...]:
    """Return the latest two slots before `slot` that nothing answered inside the active hours, oldest first.

    A session that was never seen before has missed nothing, nor has one that answered a moment ago.
    """
    answered = last_answer(state)
    if answered is not None and slot - answered < LONGEST_BEAT:
        return ()
    missed: list[datetime] = []
    earlier = slot - every
    while answered is not None and earlier > answered and len(missed) < ENOUGH:
        if hours.contains(earlier):
            missed.insert(0, earlier)
        earlier -= every
    return tuple(missed)


def is_report_due(state: SessionState, missed: tuple[datetime, ...]) -> bool:
    """Whether the owner has to be told, which happens once for each silence."""
    answered = last_answer(state)
    told = state.missed_reported_at
    return len(missed) >= ENOUGH and (told is None or answered is None or told <= answered)


def missed_beat_text(session_id: str, missed: tuple[datetime, ...]) -> str:
    """Return what the owner is told."""
    times = " and ".join(map(utc_text, missed))
    return (
        f"{session_id} missed its heartbeats at {times}: they did not run, and no reason was recorded. "
        f"See /triage heartbeat why {session_id} and triage status."
    )


def last_answer(state: SessionState) -> datetime | None:
    """Return when a beat last ran or was refused for a reason."""
    times = [at for at in (state.last_run, state.answered_at) if at is not None]
    return max(times, default=None)


class MissedBeatAlerts:
    """The sessions found silent and not yet reported."""

    def __init__(self, store: SessionMemory, zones: OwnerZones, alerts: AlertRouter) -> None:
        self._store, self._zones, self._alerts = store, zones, alerts
        self._found: list[tuple[Session, str]] = []

    def check_silence(self, session: Session, state: SessionState, slot: datetime) -> None:
        """Note a session whose two beats before `slot` never came."""
        missed = missed_slots(state, slot, session.beat.every, self._zones.hours(session))
        if session.beat.enabled and is_report_due(state, missed):
            self._found.append((session, missed_beat_text(session.id, missed)))

    def tell_owners(self, now: datetime) -> None:
        """Tell the owners, once for each silence; who could not be told is told at the next slot."""
        found, self._found = self._found, []
        for session, text in found:
            try:
                self._alerts.tell_owner_or_ops(session, text)
                self._store.evolve(session.id, missed_reported_at=now)
            except TriageError:
                log.exception("an owner could not be told", extra={"action": "silence_untold", "session": session.id})


def empty_text(playbook: Playbook) -> str | None:
    """Return what is said of a playbook that asks for nothing; None where it has tasks, or boxes elsewhere."""
    asks = playbook.all_tasks or any(entry.checked is not None for entry in playbook.elsewhere)
    return None if asks else "its HEARTBEAT.md has no tasks, so nothing is checked"


def unscheduled_text(playbook: Playbook, commands: Sequence[Argv], cwd: Path) -> str | None:
    """Return what is said of tasks that no beat ever looks at; None where there are none.

    A list item or table without boxes is one if it names a command that `commands` of the session allow.
    """

    def is_check(entry: PlaybookEntry) -> bool:
        return entry.checked is not None or any(is_allowed(argv, commands, cwd) for argv in entry.commands)

    lost = [entry for entry in playbook.elsewhere if is_check(entry)]
    if not lost:
        return None
    count = counted(len(lost), "task in HEARTBEAT.md never runs", "tasks in HEARTBEAT.md never run")
    return (
        f"{count}, for no heading above says Quick, Hourly or Daily (first: “{one_line(lost[0].text, 80)}”, "
        f"line {lost[0].start + 1}). Move tasks under one of these headings, and take the boxes away from notes"
    )


def unanswered_text(playbook: Playbook) -> str | None:
    """Return what is said of tasks that nobody looks at without a model; those of the templates are no news."""
    own = {task.id for is_master in (False, True) for _, task in read_template(is_master=is_master).all_tasks}
    asks = [task for _, task in playbook.all_tasks if not (task.id in own or task.commands)]
    if not asks:
        return None
    count = counted(len(asks), "task in HEARTBEAT.md names no command", "tasks in HEARTBEAT.md name no command")
    return (
        f"{count}, and without a model nobody looks at such a task (first: “{one_line(asks[0].text, 80)}”, "
        f"line {asks[0].start + 1}). Name a command in backticks, or set ANTHROPIC_API_KEY"
    )


def _stopped(session: Session, fault: str) -> str:
    return f"Heartbeats of {session.id} are stopped: {fault}. {_REST}"


class SessionFaults:
    """Looks at every enabled session; an owner who cannot be reached now is told at a later look.

    `surfaces` are the names of the ways to reach people, `has_model`: a model works the tasks; `runs_elsewhere` says
    whether another replica has a session.
    """

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        clock: Clock,
        alerts: AlertRouter,
        *,
        surfaces: Collection[str],
        has_model: bool,
        runs_elsewhere: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._sessions, self._store, self._clock, self._alerts = sessions, store, clock, alerts
        self._surfaces, self._has_model, self._runs_elsewhere = surfaces, has_model, runs_elsewhere
        self._unread: set[str] = set()

    def log_tracked_playbooks(self) -> None:
        """Log, at a start, whose playbook is tracked; one that is allowed to be is named too."""
        for session in self._sessions.all():
            if session.beat.enabled and playbook_of(session).is_tracked():
                log.warning("%s: %s", session.id, TRACKED, extra={"action": "playbook_tracked", "session": session.id})

    def check_sessions(self) -> None:
        """Look once at every session's folder and its way to people."""
        self._check(self._check_memory)
        self._check(self._check_folder)
        self._check(self._check_way)
        self._check(self._check_budget)

    def check_playbooks(self) -> None:
        """Look once for HEARTBEAT.md files that git tracks, without tasks or with some that nobody looks at."""
        self._check(self._check_playbook)
        self._check(self._check_tasks)

    def _check(self, check: Callable[[Session], None]) -> None:
        """Look at each session; what fails for one is logged and looked at again, and concerns no other."""
        for session in self._sessions.all():
            try:
                check(session)
            except (TriageError, OSError):
                log.exception("a session was not looked at", extra={"action": "fault_unseen", "session": session.id})

    def _check_memory(self, session: Session) -> None:
        try:
            self._store.inbox(session.id)
        except StoreError as error:
            if session.id not in self._unread and session.beat.enabled:
                self._alerts.tell_owner_or_ops(session, _stopped(session, str(error)))
                self._unread.add(session.id)
        else:
            self._unread.discard(session.id)

    def _check_folder(self, session: Session) -> None:
        name = session.id
        missing = f"its folder {session.cwd} is not there. Put it back, or correct sessions.{name}.cwd in triage.yml"
        is_there = session.cwd.is_dir() or self._runs_elsewhere(name)
        self._note(session, "folder_missing_told_at", None if is_there else _stopped(session, missing))

    def _check_way(self, session: Session) -> None:
        fault = unreachable(session.id, session.beat.deliver, has_telegram="telegram" in self._surfaces)
        self._note(session, "unreachable_told_at", fault and _stopped(session, fault))

    def _check_budget(self, session: Session) -> None:
        spent, limit = spent_today(self._store.load(session.id), self._clock.now()), session.beat.daily_budget_usd
        is_spent = limit is not None and spent >= limit
        fault = f"{spent:.2f} of {limit:.2f} USD (daily_budget_usd) are spent until 00:00 UTC" if is_spent else None
        self._note(session, "budget_told_at", fault and _stopped(session, fault))

    def _check_playbook(self, session: Session) -> None:
        if session.beat.enabled:
            is_refused = not session.beat.allow_tracked_playbook and playbook_of(session).is_tracked()
            self._note(session, "tracked_told_at", _stopped(session, TRACKED) if is_refused else None)

    def _check_tasks(self, session: Session) -> None:
        try:
            playbook = playbook_of(session).peek() if session.cwd.is_dir() else None
        except StoreError as error:
            self._note(session, "unchecked_told_at", _stopped(session, str(error)))
            return
        lost = unscheduled_text(playbook, session.beat.commands, session.cwd) if playbook else None
        empty = empty_text(playbook) if playbook else None
        rest = "Its other tasks are looked at" if playbook and playbook.all_tasks else "Nothing else is checked"
        self._note(session, "unscheduled_told_at", lost and f"{session.id}: {lost}. {rest}.")
        silent = unanswered_text(playbook) if playbook and not self._has_model else None
        self._note(session, "unanswered_told_at", silent and f"{session.id}: {silent}.")
        begin = f"Add one: /triage tiers {session.id} add quick <task>"
        self._note(session, "unchecked_told_at", empty and f"{session.id}: {empty}. {begin}")

    def _note(self, session: Session, told_at: str, fault: str | None) -> None:
        """Tell of a fault once; `told_at` is the field of the state that remembers it."""
        was_told = getattr(self._store.load(session.id), told_at) is not None
        if fault is None and was_told:
            self._store.evolve(session.id, **{told_at: None})
            log.info("a session is whole again", extra={"action": "fault_over", "session": session.id})
        elif fault is not None and not was_told and session.beat.enabled:
            self._alerts.tell_owner_or_ops(session, fault)
            self._store.evolve(session.id, **{told_at: self._clock.now()})
