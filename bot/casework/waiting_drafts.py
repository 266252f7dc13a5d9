"""Reminds once of drafts that nobody touches, then closes them; investigates again those made from part of the index.

Reads and writes reminders.ndjson, so that a restart reminds of no draft twice. A card that was due to close while the
bot was away is named first and closed `remind_after` later. Only a draft from part of the codebase is made again: one
that a human edited, that is being posted, or whose question changed stays with the human.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from bot.casework.reports.status_overview import ThreadLine, thread_line
from bot.casework.thread_service import ThreadService
from bot.domain.hours import ActiveHours
from bot.domain.text.humanize import duration
from bot.domain.threads import PendingReason, Resolution, ThreadState, ThreadStatus
from bot.errors import ProviderError, Unconfirmed
from bot.ports import Journal

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
