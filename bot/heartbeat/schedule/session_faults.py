"""Tells the owner of a session once what it is broken by, and again only after it was whole. Other sessions go on.

Looked for are: what the gate refuses until somebody mends it, and a HEARTBEAT.md that cannot be read, has no tasks, or
has some that never run. Of a state or inbox that cannot be read the ops channel hears, for nobody knows the owner's way
then.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from bot.domain.heartbeats.allowed_commands import not_run_notice
from bot.domain.heartbeats.beats import BeatStep, Wake
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.text.sanitize import one_line
from bot.errors import StoreError, TriageError
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.playbooks.playbook_file import playbook_of, read_template
from bot.heartbeat.schedule.scheduler import Admission
from bot.heartbeat.sessions.session_registry import PLAYBOOK, Session, SessionMemory, SessionRegistry
from bot.ports import Clock

log = logging.getLogger(__name__)

Faults = Mapping[str, str | None]
"""What is wrong with a session, by the kind of fault; None: it is whole in that. Kinds stand in its stored state."""

NAMED: Final = 5
"""How many commands one message names."""

_NO_TASKS: Final = f"{PLAYBOOK} has no tasks, so nothing is checked. Add one:"
_NO_TIER: Final = (
    f"tasks in {PLAYBOOK} never run, for no heading above them says Quick, Hourly or Daily. Move them under one, and "
    "take the boxes away from notes."
)
_NO_COMMAND: Final = (
    f"tasks in {PLAYBOOK} name no command, and without a model nobody looks at them. Name a command in backticks, or "
    "set ANTHROPIC_API_KEY."
)
_NOT_ALLOWED: Final = f"commands in {PLAYBOOK} never run, for `commands` does not hold them:"

_OF_THE_GATE: Final = {
    BeatStep.FOLDER: "folder_missing",
    BeatStep.ROUTE: "unreachable",
    BeatStep.BUDGET: "budget",
    BeatStep.TRACKED: "tracked",
}
"""What the gate refuses until the owner, or the day, ends it."""


def playbook_faults(session: Session, *, has_model: bool) -> Faults:
    """Return what is wrong with a session's HEARTBEAT.md; of one that is missing nothing is known.

    `has_model`: a model works the tasks, the template's too that name no command. Of one that cannot be read no other
    fault is known.
    """
    try:
        playbook = playbook_of(session).peek() if session.cwd.is_dir() else None
    except StoreError as error:
        return {"unchecked": _stopped(str(error))}
    if playbook is None:
        return {}
    tasks = [task for _, task in playbook.all_tasks]
    templates = (read_template(is_master=is_master) for is_master in (False, True))
    seeded = {task.id for template in templates for _, task in template.all_tasks}
    mute = [task for task in tasks if not (has_model or task.id in seeded or task.commands)]
    refused = session.refused_commands(*(line for task in tasks for line in _lines(task)))
    lost = [entry for entry in playbook.elsewhere if _is_meant_to_run(session, entry)]
    return {
        "unchecked": None if tasks or lost else f"{_NO_TASKS} /triage tiers {session.id} add quick <task>",
        "unscheduled": _said(_NO_TIER, lost),
        "unanswered": _said(_NO_COMMAND, mute),
        "refused": f"{_NOT_ALLOWED} {'; '.join(map(not_run_notice, refused[:NAMED]))}" if refused else None,
    }


def _is_meant_to_run(session: Session, entry: PlaybookEntry) -> bool:
    """Whether somebody takes an entry for a check: it has a box, or is an item that names a command that may run."""
    return entry.checked is not None or len(session.refused_commands(*_lines(entry))) < len(entry.commands)


def _lines(entry: PlaybookEntry) -> list[str]:
    return [entry.text, *entry.details]


def _said(wrong: str, entries: list[PlaybookEntry]) -> str | None:
    """Return what is said of tasks, with their number and the first of them; None where there are none."""
    if not entries:
        return None
    return f"{wrong} {len(entries)} in all, first “{one_line(entries[0].text, 80)}” in line {entries[0].start + 1}."


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
        whys = {one.step: _stopped(one.why) for one in self._admission.refusals(session, state, Wake.INTERVAL, now)}
        of_gate = {kind: whys.get(step) for step, kind in _OF_THE_GATE.items()}
        return {**of_gate, **playbook_faults(session, has_model=self._has_model)}

    def _note(self, session: Session, found: Faults) -> None:
        """Tell of what was not told yet, and forget what is whole again."""
        told = {kind: at for kind, at in self._store.load(session.id).told.items() if found.get(kind, kind)}
        self._store.evolve(session.id, told=told)
        for kind, fault in found.items():
            if fault and kind not in told:
                self._alerts.tell_owner_or_ops(session, f"{session.id}: {fault}")
                told = {**told, kind: self._clock.now()}
                self._store.evolve(session.id, told=told)
