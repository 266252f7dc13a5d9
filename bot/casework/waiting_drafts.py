"""What waits for people: drafts that nobody touches are reminded of and closed, questions that page ring again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from bot.casework.reports.status_overview import ThreadLine, thread_line
from bot.casework.thread_service import ThreadService
from bot.domain.alerts import Severity
from bot.domain.events import Event
from bot.domain.hours import ActiveHours
from bot.domain.paging import is_escalation_due, is_ring_due
from bot.domain.text.humanize import duration
from bot.domain.threads import PendingReason, Resolution, ThreadState, ThreadStatus
from bot.errors import ProviderError, TriageError, Unavailable, Unconfirmed
from bot.ports import Journal, PageChat, PageRing

log = logging.getLogger(__name__)


LOG_TAIL_BYTES = 1024 * 1024

Remind = Callable[[Sequence[ThreadLine], datetime], None]
"""Names waiting cards in the ops channel; raises ProviderError if refused, Unconfirmed if nobody can tell."""

WHY = "the index is finished; the answer before was from part of the files"


class DraftReminders:
    """Looks through the waiting cards whenever it is ticked; reminds of them within `hours` (None: at any)."""

    def __init__(
        self, service: ThreadService, reminders: Journal, remind: Remind, *, hours: ActiveHours | None = None
    ) -> None:
        self._service, self._reminders, self._hours = service, reminders, hours
        self._remind_of = remind
        self._reminded: dict[tuple[str, int], datetime] = {}
        self.recall()

    def recall(self) -> None:
        """Read what was named so far, by this process or another; raises StoreError."""
        for record in self._reminders.records(last_bytes=LOG_TAIL_BYTES):
            self._note(record)

    def tick(self) -> None:
        """Remind of what waits too long and was not named yet; close what was named and still waits.

        Raises:
            StoreError: a state or the journal cannot be written.
        """
        now = self._service.clock.now()
        waiting = [state for state in self._service.store.open_threads() if state.status is ThreadStatus.PENDING_USER]
        for state in waiting:
            if self._is_over(state, now):
                self._expire(state, now)
        if self._hours is None or self._hours.contains(now):
            self._remind([state for state in waiting if self._is_due(state, now)], now)

    def _is_due(self, state: ThreadState, now: datetime) -> bool:
        after = self._service.settings.remind_after
        return after is not None and now - _last_activity_at(state) >= after and _draft(state) not in self._reminded

    def _is_over(self, state: ThreadState, now: datetime) -> bool:
        """Whether nobody touched it for long enough, nor after it was named; a post under way is no such case."""
        settings = self._service.settings
        if settings.expire_after is None or state.post_intent or now - _last_activity_at(state) < settings.expire_after:
            return False
        if settings.remind_after is None:
            return True
        reminded = self._reminded.get(_draft(state))
        return reminded is not None and now - reminded >= settings.remind_after

    def _expire(self, seen: ThreadState, now: datetime) -> None:
        """Close the thread as it was seen; whoever touched it since has it open still."""
        why = f"expired: nobody decided, and there was no activity for {duration(now - _last_activity_at(seen))}"

        def close(state: ThreadState) -> ThreadState | None:
            unchanged = state.version == seen.version
            ending = Resolution.SUPERSEDED if state.answered_by else Resolution.EXPIRED
            return state.close(ending, at=now, why=why) if unchanged else None

        if self._service.store.amend(seen.thread_id, close) is not None:
            log.info("a card expired", extra={"action": "expired", "thread_id": seen.thread_id})
            self._service.cards.try_to_finish(seen.thread_id)

    def _remind(self, due: Sequence[ThreadState], now: datetime) -> None:
        """Name all that is due in one message; where the chat refuses it, the next tick tries again."""
        if not due:
            return
        try:
            self._service.cards.guard.require()  # a reminder quotes questions
            self._remind_of([thread_line(state) for state in due], now)
        except Unconfirmed:
            log.info("a reminder may have been said", extra={"action": "reminder_unconfirmed"})
        except ProviderError:
            log.warning("no reminder could be said", extra={"action": "reminder_waits"}, exc_info=True)
            return
        for state in due:
            record = {"thread_id": state.thread_id, "draft_version": state.draft_version, "at": now.isoformat()}
            self._note(record)
            self._reminders.append(record)

    def _note(self, record: object) -> None:
        """Remember a line of the journal; one that is none of ours is passed over."""
        try:
            thread_id, version, at = (record[key] for key in ("thread_id", "draft_version", "at"))  # type: ignore[index]
            self._reminded[str(thread_id), int(version)] = datetime.fromisoformat(at)
        except (KeyError, TypeError, ValueError):
            log.warning("an unreadable line in reminders.ndjson", extra={"action": "reminder_unreadable"})


def _last_activity_at(state: ThreadState) -> datetime:
    """Return when anything last happened to a waiting thread: a step, an edit, a message."""
    return max([state.last_event_at, *(step.at for step in state.status_history[-1:])])


def _draft(state: ThreadState) -> tuple[str, int]:
    return state.thread_id, state.draft_version


def repeat_partial_answers(service: ThreadService) -> None:
    """Send back the drafts that were made before the index was finished; call it only once that is.

    Raises:
        StoreError: a state or the queue cannot be written.
    """

    def sent_back(now: ThreadState) -> ThreadState | None:
        return now.reopened(at=service.clock.now(), why=WHY) if _is_untouched_partial(now) else None

    for seen in service.store.open_threads():
        if _is_untouched_partial(seen) and service.store.amend(seen.thread_id, sent_back) is not None:
            log.info("a partial answer is repeated", extra={"action": "repeated", "thread_id": seen.thread_id})
            service.queue(seen.thread_id)
            service.cards.show_later(seen.thread_id)


def _is_untouched_partial(state: ThreadState) -> bool:
    """Whether a thread waits with a draft, or with questions, from part of the files, and nobody did anything to it."""
    ret = state.investigator_return
    return (
        state.status is ThreadStatus.PENDING_USER
        and state.pending_reason is not PendingReason.FAILED
        and ret is not None
        and ret.index_unfinished
        and not state.has_edited_draft
        and not (state.post_intent or state.doubts or state.answered_by or state.triage_file_path or state.is_escalated)
    )


class QuestionPages:
    """Rings again for questions that page, at each `tick`, and takes note of messages in their threads.

    `is_approver` takes a user and a team id; `say` says a line in the ops channel.
    """

    def __init__(
        self,
        service: ThreadService,
        chat: PageChat,
        *,
        is_approver: Callable[[str, str], bool],
        say: Callable[[str], None],
    ) -> None:
        self._service, self._chat, self._is_approver, self._say = service, chat, is_approver, say
        self._untold: set[str] = set()

    def tick(self) -> None:
        """Ring and escalate what is due; what fails is logged and due again at the next tick."""
        now = self._service.clock.now()
        waiting = [state for state in self._service.store.open_threads() if is_waiting(state)]
        self._ring([state for state in waiting if self._is_ring_due(state, now)], now)
        for state in waiting:  # an ops channel that takes no ring is a reason to escalate
            self._try_to_escalate(state.thread_id, now)

    def hear(self, event: Event, thread_id: str) -> None:
        """Take what an approver, the assignee or who was told next writes in a page's thread as their acknowledgement.

        The asker's own words are none, and neither is "me too" of anybody else.
        """
        state = self._service.store.get(thread_id)
        if state is None or not is_waiting(state):
            return
        by, asked = event.sender.id, {state.original_message_id, state.opened_by_message_id}
        if event.message_id in asked or event.sender.type != "user" or by == state.original_sender_id:
            return
        if by == state.assignee or self._is_approver(by, event.team_id) or was_told(self._service, state, by):
            acknowledge(self._service, thread_id, by=by)

    def _ring(self, due: Sequence[ThreadState], now: datetime) -> None:
        """Ring for all that are due, in one message."""
        rings = [PageRing(state, state.paging.rings + 1, _waited(state, now)) for state in due]
        if not rings:
            return
        try:
            self._service.cards.guard.require()  # it quotes the questions
            self._chat.ring(rings)
            for state, number, _ in rings:
                self._note(state, rung_at=now, rings=number)
                log.info("a question rang again", extra={"action": "question_rang", "thread_id": state.thread_id})
        except TriageError:
            log.warning("questions did not ring again", extra={"action": "question_ring_failed"}, exc_info=True)

    def _is_ring_due(self, state: ThreadState, now: datetime) -> bool:
        paging, again = state.paging, self._service.settings.pages.again_after
        said_at = paging.rung_at or (None if paging.since else state.started_at)  # a new card rings, an edited one not
        return is_ring_due(now, said_at=said_at, rings=paging.rings, again_after=again)

    def _try_to_escalate(self, thread_id: str, now: datetime) -> None:
        """Escalate a page as it stands by now: somebody may have clicked while the rings were on their way."""
        try:
            state = self._service.store.get(thread_id)
            if state is not None and is_waiting(state):
                self._escalate(state, now)
        except TriageError:
            extra = {"action": "question_ring_failed", "thread_id": thread_id}
            log.warning("a question was not escalated", extra=extra, exc_info=True)

    def _escalate(self, state: ThreadState, now: datetime) -> None:
        """Tell `then`, once; where it cannot be told the ops channel hears why, once in a run."""
        paging, pages = state.paging, self._service.settings.pages
        first_at = paging.since or state.started_at
        is_due = is_escalation_due(now, first_at=first_at, rings=paging.rings, again_after=pages.again_after)
        if pages.then is None or paging.escalated_at is not None or not is_due:
            return
        try:
            if pages.then[:1] in "CG" and not self._service.workspace.channel(pages.then).is_private:
                self._say(
                    f"A page nobody acknowledged was not told to <#{pages.then}> (`pages.then`): it is not private."
                )
                self._note(state, escalated_at=now)
                return
            self._chat.escalate(state, pages.then, waited=_waited(state, now))
        except Unavailable:
            raise
        except ProviderError as error:
            self._say_untold(state, pages.then, error)
            raise
        self._note(state, escalated_at=now, escalated_to=pages.then)
        log.info("a question was escalated", extra={"action": "question_escalated", "thread_id": state.thread_id})

    def _say_untold(self, state: ThreadState, to: str, error: ProviderError) -> None:
        """Tell the ops channel once that `then` cannot be told; it is tried again at each tick."""
        if state.thread_id not in self._untold:
            self._untold.add(state.thread_id)
            self._say(f"A page nobody acknowledged could not be told to `{to}` (`pages.then`): {error}")

    def _note(self, state: ThreadState, **changes: object) -> None:
        """Write down what was said, also where somebody acknowledged meanwhile."""
        self._service.store.amend(
            state.thread_id, lambda now: now.evolve(paging=now.paging.evolve(**changes)) if now.is_open else None
        )


def acknowledge(service: ThreadService, thread_id: str, *, by: str) -> None:
    """Note that somebody deals with a page, once, and have its card say so; any other thread is left alone.

    Raises:
        StoreError: the disk refuses.
    """
    at = service.clock.now()

    def note(now: ThreadState) -> ThreadState | None:
        if not is_waiting(now):
            return None
        return now.evolve(paging=now.paging.evolve(acknowledged_at=at, acknowledged_by=by))

    if service.store.amend(thread_id, note) is not None:
        service.cards.show_later(thread_id)


def is_waiting(state: ThreadState) -> bool:
    """Whether a page still wants somebody: an open question that nobody deals with.

    For a twin its first thread rings; an alert that fires anew rings itself, for it ends by itself.
    """
    rings_itself = state.twin_of is None or (state.alert is not None and state.paging.since is not None)
    is_page = state.severity is Severity.PAGE and state.is_open and rings_itself
    return is_page and state.paging.acknowledged_by is None and state.post_intent is None


def was_told(service: ThreadService, state: ThreadState, user_id: str) -> bool:
    """Whether a page was escalated to somebody: to them, or to their user group or private channel."""
    to = state.paging.escalated_to
    if to is None or to[:1] in "UW":
        return to == user_id
    try:
        return user_id in service.workspace.members(to)
    except ProviderError:
        log.warning("cannot tell whom a page was told to", extra={"action": "told_unknown"}, exc_info=True)
        return False


def _waited(state: ThreadState, now: datetime) -> timedelta:
    """Return since when nobody has acknowledged a page; nothing where the clock was set back."""
    return max(now - (state.paging.since or state.started_at), timedelta())
