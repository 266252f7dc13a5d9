"""What a crash left is settled: replies half posted, cards half shown, threads whose record was lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from bot.casework.alerts import AlertThreads
from bot.casework.orchestrator import Orchestrator
from bot.casework.posting.replies import BeingPosted, GivenBack, Replies, ReplyInFlight
from bot.casework.posting.reply_proof import posted_at
from bot.casework.thread_service import ThreadService
from bot.domain.events import Event, MessageType, thread_key
from bot.domain.jobs import DEADLY_DEATHS, Job, QuestionAsked, RebuildThread, RunBeat
from bot.domain.threads import ThreadState, ThreadStatus, check_thread_id
from bot.errors import Conflict, InputError, ProviderError, StoreError, TriageError, Unavailable, Unconfirmed
from bot.intake.classifier.classification import Rules, classify
from bot.ports import DamagedDocument, Journal
from bot.ports.chat import may_still_arrive

log = logging.getLogger(__name__)


_OF_NO_THREAD = (RebuildThread, RunBeat)


class CrashRecovery:
    """Settles threads; those whose reply may still be on its way to the chat are settled later."""

    def __init__(self, service: ThreadService, replies: Replies) -> None:
        self._service, self._replies = service, replies
        self._tried_at: dict[str, datetime] = {}
        self._unlooked: set[str] = set()
        self._settling = threading.Lock()
        self._seen: dict[str, int] = {}

    def recover(self) -> list[str]:
        """Take up what an earlier process left; its open cards are looked at later, before they are shown again.

        Returns one line for each reply that was given back, and for each that cannot be settled.
        """
        for state in self._service.store.threads():
            self._take_up(state)
            if state.is_open and state.card_ts is not None:
                self._unlooked.add(state.thread_id)
        return self._settle_all(self._due())

    def reconcile(self) -> None:
        """Take up what another replica left, and cards and reactions that are behind.

        What changed since the last look is somebody's.
        """
        self._service.asker.recall()
        before, self._seen = self._seen, {}
        for state in self._service.store.open_threads():
            self._seen[state.thread_id] = state.version
            if before.get(state.thread_id) == state.version:
                self._take_up(state)
                if state.status is ThreadStatus.PENDING_USER and state.card_ts and self._service.cards.is_behind(state):
                    self._service.cards.show_later(state.thread_id)

    def _take_up(self, state: ThreadState) -> None:
        """Have somebody go on with a thread: a claim past its time, work that nobody does, a card that did not end."""
        if not state.is_open:
            self._service.cards.show_later(state.thread_id)
        elif state.post_intent is not None:
            self._replies.recall(state.thread_id)
        elif state.is_at_work:
            self._service.queue(state.thread_id, unless_queued=True)

    def is_due(self) -> bool:
        """Whether there is something for `settle_late` to do."""
        return bool(self._unlooked) or bool(self._due())

    def settle_late(self) -> list[str]:
        """Settle the claims that nobody confirmed, every 10 s each, and look at the cards of an earlier process.

        Returns one line for each reply that was given back, and for each that cannot be settled.
        """
        if not self._settling.acquire(blocking=False):  # an earlier call is still at it
            return []
        try:
            return [*self._settle_all(self._due()), *self._look()]
        finally:
            self._settling.release()

    def _due(self) -> list[ThreadState]:
        now = self._service.clock.now()
        known = (self._service.store.get(thread_id) for thread_id in sorted(self._replies.unsettled()))
        return [state for state in known if state is not None and not self._was_tried(state.thread_id, now)]

    def _was_tried(self, thread_id: str, now: datetime) -> bool:
        at = self._tried_at.get(thread_id)
        return at is not None and may_still_arrive(at, now)

    def _settle_all(self, states: Iterable[ThreadState]) -> list[str]:
        problems = []
        for state in states:
            try:
                self._replies.settle(state)
            except (BeingPosted, ReplyInFlight, Unconfirmed):
                self._again(state)
            except GivenBack as error:
                problems.append(f"{state.thread_id}: {error}")
            except TriageError as error:
                log.warning(
                    "thread not settled: %s",
                    error,
                    extra={"action": "recovery_failed", "thread_id": state.thread_id},
                    exc_info=not isinstance(error, Unavailable),
                )
                if state.thread_id not in self._tried_at:
                    problems.append(f"{state.thread_id}: it could not be completed: {error}")
                if isinstance(error, ProviderError | StoreError) and state.post_intent is not None:
                    self._again(state)
        return problems

    def _again(self, state: ThreadState) -> None:
        self._tried_at[state.thread_id] = self._service.clock.now()
        self._replies.recall(state.thread_id)

    def _look(self) -> list[str]:
        """Look whether what waits for a human was answered already, then show the cards that differ or are gone.

        Ends in an outage.

        Returns a line for each thread that was.
        """
        lines = []
        for thread_id in sorted(self._unlooked):
            try:
                adopted = self._adopted(thread_id)
                if not adopted:
                    self._service.cards.show_after_restart(thread_id)
            except Unavailable as error:
                log.warning("waiting cards are looked at later: %s", error, extra={"action": "look_later"})
                break
            except (ProviderError, Conflict):
                log.warning(
                    "thread not looked at", extra={"action": "look_failed", "thread_id": thread_id}, exc_info=True
                )
                adopted = False
                self._service.cards.show_later(thread_id)
            self._unlooked.discard(thread_id)
            if adopted:
                lines.append(f"{thread_id}: its reply was already in the thread; it was logged and the card closed")
        return lines

    def _adopted(self, thread_id: str) -> bool:
        state = self._service.store.get(thread_id)
        if state is None or state.status is not ThreadStatus.PENDING_USER or state.post_intent:
            return False
        return self._replies.adopt_standing(state, self._service.workspace.thread(state.chat_id, state.thread_ts))


class GivingUp:
    """Hands threads to a human; `say` says a line in the ops channel."""

    def __init__(self, service: ThreadService, orchestrator: Orchestrator, say: Callable[[str], None]) -> None:
        self._service, self._orchestrator, self._say = service, orchestrator, say

    def deadly(self, job: Job) -> bool:
        """Settle a job that is not to be run any more; False where it is about no thread.

        Raises:
            ProviderError: the card could not be shown; the job is tried again.
        """
        if type(job.work) in _OF_NO_THREAD:
            return False
        if isinstance(job.work, QuestionAsked):
            self._orchestrator.open_unworked(job.work)
        died = f"the bot died {DEADLY_DEATHS} times while it worked on this and on nothing else"
        return self._handed_over(job.key, died, self._service.cards.show_card)

    def given_up(self, job: Job) -> bool:
        """Settle a thread whose job failed for the last time; False where there is no such thread."""
        why = job.failures[-1] if job.failures else "the bot died while it ran"
        return self._handed_over(job.key, why, self._show)

    def _show(self, thread_id: str) -> None:
        """Show the card, now or later."""
        try:
            self._service.cards.show_card(thread_id)
        except ProviderError:
            log.warning("card not shown", extra={"action": "card_later", "thread_id": thread_id}, exc_info=True)
            self._service.cards.show_later(thread_id)

    def _handed_over(self, thread_id: str, why: str, show: Callable[[str], object]) -> bool:
        """Let a thread wait for a human, who is told why, once; one that waits already keeps its draft."""
        words, at = f"could not be investigated: {why}", self._service.clock.now()
        handed = self._service.store.amend(
            thread_id, lambda now: now.failed(at=at, why=words) if now.is_at_work else None
        )
        state = handed or self._service.store.get(thread_id)
        if state is None:
            return False
        is_told = state.is_open and state.status_history[-1:] and state.status_history[-1].why == words
        if handed is not None:
            self._say(f"Thread {thread_id} {words}. Its card offers to investigate it again.")
        show(thread_id)
        if state.is_open and not is_told:
            self._say(f"A later job for thread {thread_id} failed: {why}. Its card is unchanged.")
        return True


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
