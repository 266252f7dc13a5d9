"""What `heartbeat …` does to sessions, and what tells an owner once that a session is broken."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bot.config.heartbeat_settings import LONGEST_INTERVAL
from bot.domain.answers import Answer, sentence
from bot.domain.command_specs import CommandLine
from bot.domain.heartbeats.allowed_commands import not_run_notice
from bot.domain.heartbeats.beats import BeatStep, Wake
from bot.domain.heartbeats.session_state import (
    ChangedBy,
    EnabledOverride,
    EveryOverride,
    InboxMessage,
    MessageKind,
    SessionOverride,
)
from bot.domain.intervals import format_interval, parse_interval
from bot.domain.playbook_entries import PlaybookEntry, PlaybookSection
from bot.domain.secrets import redact
from bot.domain.text.sanitize import check_whole, has_visible, one_line, strip_hidden
from bot.errors import ConfigError, InputError, StoreError, TriageError
from bot.heartbeat.alert_routing import AlertRouter
from bot.heartbeat.playbook_file import playbook_of
from bot.heartbeat.scheduler import Admission
from bot.heartbeat.session_registry import (
    PLAYBOOK,
    Asker,
    BeatLog,
    Owners,
    Session,
    SessionMemory,
    SessionRegistry,
    WakeBox,
)
from bot.heartbeat.session_rows import LOOKED_AT, list_answer, log_answer, rows, why_answer, without_findings
from bot.ports import Clock, collections

log = logging.getLogger(__name__)


SHORTEST: Final = timedelta(minutes=1)
DEFAULT: Final = "default"
MAX_CHARS: Final = 2_000
"""How long an assignment may be."""
SHOWN_CHARS: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionControls:
    """Answers every verb of `heartbeat`.

    `wake` is the scheduler's, or on the terminal leaves a wake for the bot, and says what becomes of it; `cancel` stops
    a beat that runs in this process and says whether there was one. `known_secrets` are blacked out in assignments, as
    are all that look like secrets.
    """

    sessions: SessionRegistry
    store: SessionMemory
    zones: Owners
    record: BeatLog
    overrides: collections.Collection[SessionOverride]
    wakes: WakeBox
    wake: Callable[[str, Wake], str]
    cancel: Callable[[str], bool]
    clock: Clock
    known_secrets: Collection[str] = ()

    def answer(self, line: CommandLine, by: Asker) -> Answer:
        """Do what a line says with a session, or tell of it, or of all of them.

        Raises:
            InputError: there is no such session, the message names the near ones; it cannot be done; or they may not.
            StoreError: the disk refuses it.
        """
        verb, now = line.word(1) or "list", self.clock.now()
        if verb == "list":
            return list_answer(rows(self.sessions, self.store, self.zones, self.record, now), now)
        session = self.sessions.get(line.word(2))
        if verb in ("log", "why"):
            return self._told(session, verb, by)
        refusal = f"Only approvers and the owner of {session.id} may do that."
        by.require(refusal, session, next_step="See /triage heartbeat list")
        changed = ChangedBy(id=by.id, name=by.name, at=now)
        match verb:
            case "assign":
                return sentence(self._assign(session, line.words_after(3), changed))
            case "every":
                return self._pace(session, "".join(line.words[3:]).lower(), changed)
            case "run" | "wake":
                return sentence(self.wake(session.id, Wake.ON_DEMAND if verb == "run" else Wake.AUTOMATION))
            case _:
                return self._switch(session, changed, on=verb == "on")

    def _told(self, session: Session, verb: str, by: Asker) -> Answer:
        """Return the latest beats; what they found is for those who may read it."""
        beats = self.record.recent(session.id, LOOKED_AT)
        if not beats:
            return sentence(f"{session.id} has not been checked yet.", f"heartbeat run {session.id}", data=[])
        shown = beats if by.may(session) else [without_findings(beat) for beat in beats]
        return log_answer(session.id, shown) if verb == "log" else why_answer(session.id, shown)

    def _assign(self, session: Session, text: str, by: ChangedBy) -> str:
        """Put what is to be done into the session's inbox and wake it; return what was queued and what to type next."""
        said = redact(_checked(text, session.id), self.known_secrets)
        self.wakes.drop(session.id, Wake.ASSIGNMENT)  # a crash after this makes a beat too many, never one too few
        message = InboxMessage(
            at=by.at,
            from_=f"@{one_line(by.name, 80)}",  # a session's id has no such sign
            to=session.id,
            kind=MessageKind.ASSIGNMENT,
            text=said,
            data={"assigned_by": by.id},
        )
        self.store.send(message)
        queued = f"Assigned to {session.id}: “{one_line(said, SHOWN_CHARS)}”. It waits in the inbox for the next check."
        return f"{queued} {self.wake(session.id, Wake.ASSIGNMENT)}"

    def _switch(self, session: Session, by: ChangedBy, *, on: bool) -> Answer:
        """Switch a heartbeat on or off, across restarts and whatever triage.yml says; off stops the running beat."""
        switch = EnabledOverride(value=on, by=by) if on != session.configured.enabled else None
        self.overrides.evolve(session.id, enabled=switch)
        if on:
            return sentence(f"{session.id} is on.", f"heartbeat run {session.id}")
        stopped = " The check under way is being stopped." if self.cancel(session.id) else ""
        return sentence(f"{session.id} is off; nothing starts a check.{stopped}", undo=("heartbeat", "on", session.id))

    def _pace(self, session: Session, interval: str, by: ChangedBy) -> Answer:
        """Set how often a session beats; `default` gives the word back to triage.yml."""
        configured = session.configured.every
        every = configured if interval == DEFAULT else _interval(interval, session.id)
        pace = EveryOverride(value=every, by=by) if every != configured else None
        self.overrides.evolve(session.id, every=pace)
        said = f"{session.id} is checked every {format_interval(every)}{'' if pace else ', as triage.yml says'}."
        return sentence(said, undo=("heartbeat", "every", session.id, DEFAULT) if pace else ())


def _interval(text: str, session_id: str) -> timedelta:
    """Return an interval as typed; raises InputError for none, and for one that is too short or too long."""
    try:
        every = parse_interval(text)
    except ConfigError as error:
        raise InputError(f"{error};", next_step=f"type /triage heartbeat every {session_id} 30m") from error
    if not SHORTEST <= every <= LONGEST_INTERVAL:
        stop = f"to stop the checks: /triage heartbeat off {session_id}"
        raise InputError(f"{text} is not between 1m and 366d;", next_step=stop)
    return every


def _checked(text: str, session_id: str) -> str:
    """Return the text, stripped, without characters that its readers do not see."""
    said = strip_hidden(check_whole(text))[0].strip()
    if has_visible(said) and len(said) <= MAX_CHARS:
        return said
    raise InputError(
        f"What is to be done? Say it in at most {MAX_CHARS:,} characters:",
        next_step=f"/triage heartbeat assign {session_id} Look at the error rate",
    )


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
