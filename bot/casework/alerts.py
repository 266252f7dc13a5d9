"""Opens a thread for an alert that fires, and keeps it in line with what its tool says later: repeats, and its end.

Reads and writes threads. Messages about one alert come here one at a time (AlertArrived in bot/domain/jobs.py), maybe
late and maybe twice; whatever dies in between, each counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import dropwhile, islice
from typing import Any, Final

from bot.casework.orchestrator import Orchestrator
from bot.casework.thread_service import ThreadService
from bot.domain.alerts import AlertState, ThreadAlert
from bot.domain.doubts import DoubtCode, alert_changed
from bot.domain.events import Event, MessageType, thread_key
from bot.domain.jobs import AlertArrived, FollowUpArrived, QuestionAsked
from bot.domain.severity import Severity
from bot.domain.threads import ThreadState, ThreadStatus
from bot.ports import Journal

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
