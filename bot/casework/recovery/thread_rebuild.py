"""Rebuilds a thread whose record was lost from the journal of events, unless it was answered already.

Reads events.ndjson, replies.ndjson, the archive and the thread in the chat. One job for each damaged file, retried
like any other; the result is told in the ops channel. Posts no reply.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from bot.casework.alerts import AlertThreads
from bot.casework.orchestrator import Orchestrator
from bot.casework.posting.reply_log import posted_at
from bot.casework.thread_service import ThreadService
from bot.domain.events import Event, MessageType, thread_key
from bot.domain.jobs import QuestionAsked, RebuildThread
from bot.domain.threads import check_thread_id
from bot.errors import InputError
from bot.intake.classifier.classification import classify
from bot.intake.classifier.rules import Rules
from bot.ports import DamagedDocument, Journal

log = logging.getLogger(__name__)

_CHANGES = frozenset({MessageType.EDIT, MessageType.DELETE})


ANSWERED: Final = "Its reply had been posted; nothing is left to do."
NO_QUESTION: Final = "It has no stored question: if one is still open, please ask it again."


class ThreadRebuild:
    """Finds the question of a lost record and hands it to the orchestrator anew."""

    def __init__(
        self,
        service: ThreadService,
        orchestrator: Orchestrator,
        alerts: AlertThreads,
        events: Journal,
        rules: Rules,
    ) -> None:
        self._service, self._orchestrator, self._alerts = service, orchestrator, alerts
        self._events, self._rules = events, rules

    def plan(self, damage: DamagedDocument) -> str | None:
        """Queue the rebuilding of a damaged record; returns a line where none is possible, else None.

        A file of an earlier start counts as long as nothing is known of its thread since: the bot may have died
        between setting it aside and this.
        """
        try:
            thread_id = check_thread_id(damage.doc_id)
        except InputError:
            return f"{_lost(damage.name)} Its name is not a thread id, so nothing was done." if damage.is_new else None
        if damage.is_new or not self._is_accounted_for(thread_id, damage.at):
            self._service.jobs.put(RebuildThread(thread_id=thread_id, file=damage.name, is_new=damage.is_new))
        return None

    def plan_missing(self, thread_id: str) -> None:
        """Queue the rebuilding of a thread of which only what is kept beside its record is left, unless it ended."""
        if self._service.store.latest(thread_id) is None and not self._service.jobs.holds(thread_id):
            self._service.jobs.put(RebuildThread(thread_id=thread_id, file=""))

    def rebuild_thread(self, work: RebuildThread) -> None:
        """Do one job that `plan` queued: open the thread, if that was not done yet, and investigate it.

        A reply of ours that stands in its thread and is not in the log is found there as in any other thread.

        Raises:
            ProviderError: the chat cannot say how the thread stands; the job is tried again.
        """
        thread_id, told = work.thread_id, list(self._told())
        lost = _lost(work.file) if work.file else f"The record of thread {thread_id} is gone."
        if self._service.store.get(thread_id) is not None:
            self._say(f"{lost} Its question is being investigated.")
        else:
            question = self._question_of(thread_id, [event for event in told if thread_key(event) == thread_id])
            if question is None:
                self._say(f"{lost} {NO_QUESTION if not self._replies_of(thread_id) else ANSWERED}")
                return
            if not self._stands(question):
                if work.is_new:  # told once; the file stays for a human to look at
                    self._say(f"{lost} Its question is gone from the chat; nothing is left to do.")
                return
            self._say(f"{lost} It was rebuilt from the journal of events and is being investigated again, on its card.")
            self._orchestrator.open_unworked(QuestionAsked(event=question))
        began = float(thread_id.split(".", 2)[2])
        since = (event for event in told if event.alert is not None and float(event.message_id) >= began)
        self._alerts.catch_up(thread_id, since)  # it may be known what became of its alert
        self._orchestrator.continue_thread(work)

    def _question_of(self, thread_id: str, told: Sequence[Event]) -> Event | None:
        """Return the message the thread was opened for, as it reads now: the first that nobody has dealt with."""
        deleted = {event.message_id for event in told if event.msg_type is MessageType.DELETE}
        since, dealt_with = self._settled(thread_id)
        left = [
            event
            for event in told
            if event.msg_type not in _CHANGES
            and event.message_id not in deleted | dealt_with
            and (since is None or event.create_time > since)
        ]
        question = next(filter(self._opens, left), None) or (left[0] if left and since is None else None)
        if question is None:
            return None
        edits = [e for e in told if e.msg_type is MessageType.EDIT and e.message_id == question.message_id]
        return question.model_copy(update={"content": edits[-1].content}) if edits else question

    def _opens(self, event: Event) -> bool:
        """Whether the rules would open a thread for a message, whatever it was written in."""
        return classify(event, self._rules, inflight=False).classification == "actionable"

    def _told(self) -> Iterator[Event]:
        for record in self._events.records():
            with suppress(ValueError):
                yield Event.model_validate(record)

    def _settled(self, thread_id: str) -> tuple[datetime | None, set[str]]:
        """Return until when the thread is settled by an earlier ending, and which messages that dealt with."""
        closed, replies = self._service.store.last_closed(thread_id), self._replies_of(thread_id)
        times = [at for line in replies if (at := posted_at(line)) is not None]
        messages = {str(line.get("reply_to_message_id")) for line in replies}
        if closed is None:
            return max(times, default=None), messages
        return max([*times, closed.started_at]), messages | closed.message_ids

    def _stands(self, question: Event) -> bool:
        """Whether the question is still to be read in the chat."""
        said = self._service.workspace.thread(question.chat_id, question.thread_id or question.message_id)
        return any(message.message_id == question.message_id for message in said)

    def _replies_of(self, thread_id: str) -> list[Mapping[str, Any]]:
        return [line for line in self._service.replies.records() if line.get("thread_id") == thread_id]

    def _is_accounted_for(self, thread_id: str, damaged_at: datetime) -> bool:
        """Whether anything is known of the thread that is newer than its damaged record."""
        closed = self._service.store.last_closed(thread_id)
        is_newer = closed is not None and closed.closed_at is not None and closed.closed_at > damaged_at
        return is_newer or self._service.store.get(thread_id) is not None or bool(self._replies_of(thread_id))

    def _say(self, line: str) -> None:
        log.warning(line, extra={"action": "record_rebuilt"})
        self._service.messenger.tell_ops(line)


def _lost(name: str) -> str:
    return f"The record of a thread could not be read; it was set aside as {name}."
