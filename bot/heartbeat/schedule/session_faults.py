"""Tells the owner of a session once what it is broken by, and again only after it was whole. Other sessions go on.

Looked for are: what the gate refuses until somebody mends it, and a HEARTBEAT.md that cannot be read, has no tasks, or
has some that never run. Of a state or inbox that cannot be read the ops channel hears, for nobody knows the owner's way
then.
"""

from __future__ import annotations

import logging
from typing import Final

from bot.domain.heartbeats.allowed_commands import not_run_notice
from bot.domain.heartbeats.beats import BeatStep, Wake
from bot.domain.playbooks.playbook_entries import PlaybookEntry, PlaybookSection
from bot.domain.text.sanitize import one_line
from bot.errors import StoreError, TriageError
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.schedule.scheduler import Admission
from bot.heartbeat.sessions.session_registry import PLAYBOOK, Session, SessionMemory, SessionRegistry
from bot.ports import Clock

log = logging.getLogger(__name__)

Faults = dict[str, str]
"""What is wrong with a session, by the kind of fault; kinds stand in its stored state."""

NAMED: Final = 5
"""How many commands one message names."""

_NO_TASKS: Final = f"{PLAYBOOK} has no tasks, so nothing is checked. Add one:"
_NO_TIER: Final = (
    f"tasks in {PLAYBOOK} never run, for no heading above them says Quick, Hourly or Daily. Move them under one, and "
    "take the boxes away from notes."
)
_NOT_ALLOWED: Final = f"commands in {PLAYBOOK} never run, for `commands` does not hold them:"

_OF_THE_GATE: Final = {
    BeatStep.FOLDER: "folder_missing",
    BeatStep.ROUTE: "unreachable",
    BeatStep.BUDGET: "budget",
    BeatStep.TRACKED: "tracked",
}
"""What the gate refuses until the owner, or the day, ends it."""


def playbook_faults(session: Session) -> Faults:
    """Return what is wrong with a session's HEARTBEAT.md; of one that is missing or cannot be read no more is known."""
    try:
        playbook = playbook_of(session).peek() if session.cwd.is_dir() else None
    except StoreError as error:
        return {"unchecked": _stopped(str(error))}
    if playbook is None:
        return {}
    refused = session.refused_commands(*(line for task in playbook.all_tasks for line in _lines(task)))
    lost = [each for each in playbook.in_section(PlaybookSection.OTHER) if _is_meant_to_run(session, each)]
    found = {"refused": f"{_NOT_ALLOWED} {'; '.join(map(not_run_notice, refused[:NAMED]))}"} if refused else {}
    if lost:
        first = f"first “{one_line(lost[0].text, 80)}” in line {lost[0].start + 1}"
        return {"unscheduled": f"{_NO_TIER} {len(lost)} in all, {first}.", **found}
    return found if playbook.all_tasks else {"unchecked": f"{_NO_TASKS} /triage tiers {session.id} add quick <task>"}


def _is_meant_to_run(session: Session, entry: PlaybookEntry) -> bool:
    """Whether somebody takes an entry for a check: it has a box, or is an item that names a command that may run."""
    may_run = len(session.refused_commands(*_lines(entry))) < len(entry.commands)
    return entry.is_task and (entry.checked is not None or may_run)


def _lines(entry: PlaybookEntry) -> list[str]:
    return [entry.text, *entry.details]


def _stopped(why: str) -> str:
    return f"heartbeats are stopped: {why}. They start again by themselves after that; other sessions are not affected."


class SessionFaults:
    """Looks at every enabled session; an owner who cannot be reached now is told at a later look."""

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        clock: Clock,
        alerts: AlertRouter,
        admission: Admission,
    ) -> None:
        self._sessions, self._store, self._clock, self._alerts = sessions, store, clock, alerts
        self._admission = admission
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
        whys = {one.step: _stopped(one.why) for one in self._admission.refusals(session, state, Wake.INTERVAL, now)}
        return {kind: whys[step] for step, kind in _OF_THE_GATE.items() if step in whys} | playbook_faults(session)

    def _note(self, session: Session, found: Faults) -> None:
        """Tell of what was not told yet, and forget what is whole again."""
        told = {kind: at for kind, at in self._store.load(session.id).told.items() if kind in found}
        self._store.evolve(session.id, told=told)
        for kind, fault in found.items():
            if kind not in told:
                self._alerts.tell_owner_or_ops(session, f"{session.id}: {fault}")
                told = {**told, kind: self._clock.now()}
                self._store.evolve(session.id, told=told)
