"""Opens a thread for an alert that fires, and keeps it in line with what its tool says later: repeats, and its end.

Reads and writes threads. Messages about one alert come here one at a time (AlertArrived in bot/domain/jobs.py), maybe
late and maybe twice; whatever dies in between, each counts once.

Who has a thread: an approver takes it, or hands it to a person or a user group, who are told in private.

Each change counts once, and only if the click knew who had the thread until then. Who is to be told is on disk before
the chat hears of it, so that a crash in between delays the message and never doubles it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import dropwhile, islice
from typing import Any, Final, NamedTuple

from bot.casework.approvers import may_never_decide
from bot.casework.clicks import DraftClick
from bot.casework.orchestrator import Orchestrator
from bot.casework.thread_service import ThreadService
from bot.casework.waiting_drafts import is_waiting
from bot.domain.alerts import AlertState, Severity, ThreadAlert
from bot.domain.events import Event, MessageType, thread_key
from bot.domain.jobs import AlertArrived, FollowUpArrived, QuestionAsked
from bot.domain.threads import HandOver, ThreadState, ThreadStatus, hash_draft
from bot.domain.waits import DoubtCode, alert_changed
from bot.errors import Conflict, InputError, ProviderError, Unavailable
from bot.ports import Journal, PageChat
from bot.ports.chat import may_still_arrive

LOOKED_THROUGH: Final = 2_000
"""Among how many of the newest messages the end of an alert is looked for before a thread is opened for it."""


class AlertThreads:
    """Works off the messages of alert tools; `orchestrator` opens the threads and investigates them.

    `events` are all messages that were heard, which are journaled before they come here.
    """

    def __init__(self, service: ThreadService, orchestrator: Orchestrator, events: Journal) -> None:
        self._service, self._orchestrator, self._events = service, orchestrator, events

    def take_alert(self, arrived: AlertArrived) -> None:
        """Note a message on the open thread of its alert; where there is none, open one if the alert fires.

        Raises:
            Unavailable: the chat does not take a card; the job is tried again.
        """
        event = arrived.event
        if event.alert is None:
            return
        state = self._thread_of(event)
        if state is not None:
            self.catch_up(state.thread_id, [event])
            self._begin(state.thread_id)
        elif event.alert.is_firing and not self._has_ended(event, event.alert.fingerprint):
            self._open(event)

    def _has_ended(self, event: Event, fingerprint: str) -> bool:
        """Whether the end of an alert, or who took it, was heard before what fired earlier, as in a backfill."""
        told = [(float(event.message_id), AlertState.FIRING.value)]
        newest = islice(self._events.newest_first(), LOOKED_THROUGH)
        for record in dropwhile(lambda record: not _is_record_of(record, event), newest):
            said = record.get("alert") or {}
            if said.get("fingerprint") == fingerprint and record["team_id"] == event.team_id:
                told.append((float(record["message_id"]), said["state"]))
        return max(told, key=lambda one: one[0])[1] in (AlertState.RESOLVED, AlertState.ACKNOWLEDGED)

    def catch_up(self, thread_id: str, events: Iterable[Event]) -> None:
        """Note the messages that are about a thread's alert, oldest first, in one write; harmless if done twice."""
        told, now = list(events), self._service.clock.now()

        def noted(state: ThreadState) -> ThreadState | None:
            changed = state
            for event in told:
                changed = _noted(changed, event, now) if changed.is_open and _is_about(changed, event) else changed
            return None if changed is state else changed

        if self._service.store.amend(thread_id, noted) is not None:
            self._service.cards.show_later(thread_id)

    def _thread_of(self, event: Event) -> ThreadState | None:
        """Return the open thread that a message is about; that of an edited message comes first."""
        about = [state for state in self._service.store.open_threads() if _is_about(state, event)]
        return next((state for state in about if _has_message(state, event)), about[0] if about else None)

    def _open(self, event: Event) -> None:
        """Open a thread; in a Slack thread that is worked on for something else the message is a follow-up."""
        state = self._service.store.get(thread_key(event))
        if state is not None and state.is_open:
            self._orchestrator.take_follow_up(FollowUpArrived(event=event))
            return
        self._orchestrator.open_unworked(QuestionAsked(event=event))
        self._begin(thread_key(event))

    def _begin(self, thread_id: str) -> None:
        """Have a thread that has no card yet investigated, and show it at once: the investigation may be paused."""
        state = self._service.store.get(thread_id)
        if state is not None and state.is_at_work and state.card_ts is None:
            self._service.queue(thread_id, unless_queued=True)
            self._service.cards.show_card(thread_id)


def _is_record_of(record: Mapping[str, Any], event: Event) -> bool:
    names = ("chat_id", "message_id", "msg_type")
    return all(record.get(name) == getattr(event, name) for name in names)


def _has_message(state: ThreadState, event: Event) -> bool:
    """Whether the very message that was edited belongs to a thread."""
    known = state.alert.message_ids if state.alert else (state.original_message_id,)
    return event.msg_type is MessageType.EDIT and event.message_id in known


def _is_about(state: ThreadState, event: Event) -> bool:
    """Whether a message is about a thread's alert, or is the root of a thread that knows of none yet.

    What names no alert, such as "Acknowledged by Ann" or "Resolved #12", is about that of the Slack thread it is in.
    """
    if event.alert is None or state.team_id != event.team_id:
        return False
    if state.alert is None:
        return state.thread_id == thread_key(event) and event.message_id == state.thread_ts
    is_nameless = event.alert.name.strip("#0123456789") in ("", event.alert.tool)
    is_its_answer = is_nameless and state.thread_id == thread_key(event)
    return is_its_answer or state.alert.fingerprint == event.alert.fingerprint or _has_message(state, event)


def _noted(state: ThreadState, event: Event, now: datetime) -> ThreadState:
    """Return a thread after one more message about its alert; itself where that changes nothing."""
    assert event.alert is not None
    before, is_edit = state.alert, event.msg_type is MessageType.EDIT
    at = now if is_edit else event.create_time
    if before is None:
        alert = ThreadAlert.of_first(event.alert, event.message_id, at)
    else:
        alert = before.after(event.alert, event.message_id, at, is_edit=is_edit)
    if alert is before:
        return state
    changed = state.evolve(alert=alert, last_event_at=max(state.last_event_at, at))
    if before is not None and alert.state is not before.state:
        changed = _doubted(changed, alert.state, at)
    return _with_severity(changed, before, alert, now)


def _doubted(state: ThreadState, became: AlertState, at: datetime) -> ThreadState:
    """Return the thread with what the new state of its alert says against its draft.

    That is nothing where no draft waits, and where the alert fires once more as it did when the draft was made.
    """
    others = [doubt for doubt in state.doubts if doubt.code is not DoubtCode.ALERT]
    has_draft = state.status is not ThreadStatus.PENDING_USER or state.draft_pending is not None
    fires_on = became is AlertState.FIRING and len(others) < len(state.doubts)
    return state.in_doubt([*others, alert_changed(became, at)] if has_draft and not fires_on else others)


def _with_severity(state: ThreadState, before: ThreadAlert | None, alert: ThreadAlert, now: datetime) -> ThreadState:
    """Return the thread as urgent as its alert: an end of the alert ends the page, and firing anew rings anew.

    Where a person raised the alarm it is a page as long as the alert fires.
    """
    if before is not None and (alert.state, alert.severity) == (before.state, before.severity):
        return state
    is_page, goes_on = state.severity is Severity.PAGE, alert.is_firing and (before is None or before.is_firing)
    by_person = is_page and goes_on and (before is None or state.paging.said is not None)
    severity = Severity.PAGE if by_person else alert.urgency
    if severity is Severity.PAGE and not (is_page and goes_on):
        state = state.evolve(paging=state.paging.raised(now))
    return state.evolve(severity=severity)


log = logging.getLogger(__name__)

MAX_PEOPLE: Final = 30
"""Members of the ops channel that the dialogue offers; anybody else is looked up there by name."""

_PLACE: Final = re.compile(r"[UWS][A-Z0-9]{1,40}")


class Choice(NamedTuple):
    """Somebody a thread can be handed to: a name, and a Slack user or user group id."""

    label: str
    place_id: str


def clicked_assignee(state: ThreadState) -> str:
    """Return what a click names as who had the thread."""
    return hash_draft(state.assignee or "")


class HandOvers:
    """Carries out the clicks; `chat` tells whoever a thread was handed to."""

    def __init__(self, service: ThreadService, chat: PageChat) -> None:
        self._service, self._workspace, self._chat = service, service.workspace, chat

    def take(self, click: DraftClick, *, by: str) -> None:
        """Note that an approver has the thread; a page rings no more. Raises Conflict where somebody was first."""
        self._assign(click, by, None, by)

    def hand(self, click: DraftClick, to: str, *, by: str) -> str:
        """Give the thread to a person or a group and tell them; returns what happened.

        Raises:
            InputError: nobody is named, or who may not see drafts; Conflict: somebody was first.
        """
        self._check(to)
        state = self._assign(click, to, HandOver(by=by, at=self._service.clock.now()), by)
        if self._tell(state):
            return "Handed over. They have a direct message with the link to this card."
        return "Handed over. Slack did not take the direct message; triage tries again."

    def tick(self) -> None:
        """Tell those who were not told yet, for whom the click itself has had its time."""
        now = self._service.clock.now()
        for state in self._service.store.open_threads():
            given = state.handed
            if given is not None and not given.is_told and not may_still_arrive(given.at, now):
                self._tell(state)

    def choices(self, click: DraftClick) -> list[Choice]:
        """Return whom the dialogue offers: owners of the code that the chat knows, groups, then the ops channel."""
        state = self._service.store.get(click.thread_id)
        ret = state.investigator_return if state else None
        mails = {one.email: one for one in (ret.owners if ret else ()) if one.email}
        owners = [(one, self._workspace.user_of(mail)) for mail, one in mails.items()]
        found = [Choice(f"{one.name}, owns the code", user) for one, user in owners if user]
        found += [Choice(f"@{handle}", group) for group, handle in self._workspace.user_groups()]
        try:
            members = sorted(self._workspace.members(self._service.settings.ops_channel))[:MAX_PEOPLE]
            people = [self._workspace.person(one) for one in members]
        except ProviderError:
            people = []
        known = {one.place_id for one in found}
        return found + [
            Choice(one.name, one.user_id) for one in people if not may_never_decide(one) and one.user_id not in known
        ]

    def _check(self, to: str) -> None:
        if not _PLACE.fullmatch(to):
            raise InputError("Choose a person, a group or an owner.")
        try:
            if to.startswith("S"):
                if not self._workspace.members(to):
                    raise InputError("That user group has no members.")
            elif may_never_decide(self._workspace.person(to, fresh=True)):
                raise InputError("A guest, an app or somebody of another company cannot get it.")
        except ProviderError as error:
            raise InputError(f"Nothing was handed over: {error}") from error

    def _assign(self, click: DraftClick, to: str, handed: HandOver | None, by: str) -> ThreadState:
        at = self._service.clock.now()

        def assigned(now: ThreadState) -> ThreadState | None:
            if not now.is_open or clicked_assignee(now) != click.draft_hash:
                return None
            changed = now.evolve(assignee=to, handed=handed)
            if not is_waiting(now):
                return changed
            return changed.evolve(paging=now.paging.evolve(acknowledged_at=at, acknowledged_by=by))

        state = self._service.store.amend(click.thread_id, assigned)
        self._service.cards.show_card(click.thread_id)
        if state is None:
            now = self._service.store.get(click.thread_id)
            raise Conflict(f"{_who_has(now)} Your click changed nothing; the card shows the current state.")
        return state

    def _tell(self, state: ThreadState) -> bool:
        """Tell the assignee, once; what Slack refuses for good is told to the ops channel instead."""
        try:
            self._chat.hand_over(state)
        except Unavailable:
            log.info("a hand-over is told later", extra={"action": "hand_over_waits"}, exc_info=True)
            return False
        except ProviderError as error:
            log.warning("a hand-over was not told", extra={"action": "hand_over_untold"}, exc_info=True)
            self._service.messenger.tell_ops(f"Handed over, but nobody could be told: {error}")
        told = state.handed
        self._service.store.amend(
            state.thread_id,
            lambda now: (
                now.evolve(handed=told.model_copy(update={"is_told": True}))
                if told is not None and now.handed == told
                else None
            ),
        )
        return True


def _who_has(state: ThreadState | None) -> str:
    if state is None or not state.is_open:
        return "This thread is closed."
    if state.assignee is None:
        return "Nobody has it any more."
    return "A user group has it." if state.assignee.startswith("S") else f"<@{state.assignee}> has it."
