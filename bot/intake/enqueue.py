"""Decides which job a message becomes, if any: by its alert, or by its words, a question, follow-up or instruction.

Also queues anew what a job file that could not be read may have held: the questions of the journal since the time in
the file's name that no waiting job and no thread's record names. A question that is queued twice is answered once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import ValidationError

from bot.domain.alerts import AlertState
from bot.domain.events import Classification, Event, MessageType, thread_key
from bot.domain.jobs import (
    AlertArrived,
    FollowUpArrived,
    MentionInstruction,
    MessageDeleted,
    MessageEdited,
    MessageWork,
    QuestionAsked,
)
from bot.domain.mention_instructions import Instruction, InstructionKind, read_instruction
from bot.intake.classifier.classification import Rules, classify
from bot.ports import JobQueue, Journal
from bot.ports.threads import Threads

_SHOWS: Final = frozenset({MessageType.IMAGE, MessageType.FILE})
"""Whoever sends a picture with an "ok" may answer with the picture."""

_SPOKEN: Final = frozenset({MessageType.TEXT, MessageType.THREAD_REPLY})
_NO_ORDER: Final = frozenset({InstructionKind.BARE, InstructionKind.QUESTION})

ABOUT_SESSION: Final = "heartbeat why"
"""The command that answers how a session is."""

MAX_WORDS_OF_SESSION: Final = 3
_WORD: Final = re.compile(r"[\w.-]{1,100}")

TAIL_BYTES: Final = 16 * 1024 * 1024
BEFORE: Final = timedelta(minutes=5)
"""How much earlier than its job an event may have been sorted; a clock that was set back makes them differ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageSorter:
    """Makes jobs of messages; `session_names` returns the names of the sessions by id, as they are now."""

    rules: Rules
    bot_user_id: str
    ops_channel: str
    session_names: Callable[[], Mapping[str, str]]
    is_under_alert: Callable[[Event], bool] = lambda _: False
    """Whether a new message stands in the thread under a heartbeat's alert: without a mention it is no question."""

    def sort(self, event: Event, found: Classification) -> MessageWork | None:
        """Return the job for a message of which the rules said `found`; None where it deserves none.

        Whatever people write in an open thread is handed over: the thread has to know of an answer, whatever its class.
        What an alert tool writes is about its alert, wherever it stands; a new message that nobody has to act on is
        about none, but one that fired may be edited to say so. Under a heartbeat's alert it may be its end.
        """
        is_ack = found.is_ack_or_emoji and event.msg_type not in _SHOWS
        if event.alert is not None:
            is_news = event.alert.state is not AlertState.INFO or event.msg_type is MessageType.EDIT
            return AlertArrived(event=event) if is_news else None
        if self.bot_user_id not in event.mentions and self.is_under_alert(event):
            return FollowUpArrived(event=event, is_ack=is_ack)
        if found.classification != "actionable" and not found.mentions_thread_with_inflight:
            return None
        if event.msg_type is MessageType.EDIT:
            return MessageEdited(event=event)
        if event.msg_type is MessageType.DELETE:
            return MessageDeleted(event=event)
        if classify(event, self.rules, inflight=False).classification != "actionable":
            return FollowUpArrived(event=event, is_ack=is_ack)
        return self.sort_question(QuestionAsked(event=event, is_ack=is_ack, is_alarm=found.is_alarm))

    def sort_question(self, asked: QuestionAsked) -> FollowUpArrived:
        """Return the job for a message that deserves a thread: the same, or what a mention asks for instead."""
        event = asked.event
        is_said = event.msg_type in _SPOKEN and event.sender.type == "user" and not event.images
        if not is_said or self.bot_user_id not in event.mentions:
            return asked
        if event.is_direct and (session := self._session_in(event.content)) is not None:
            about = Instruction(kind=InstructionKind.COMMAND, command=f"{ABOUT_SESSION} {session}")
            return MentionInstruction(**dict(asked), instruction=about)
        instruction = read_instruction(event.content, self.bot_user_id)
        if asked.is_ack and instruction.kind in _NO_ORDER:  # "thanks, @triage" under an answer asks for nothing
            return FollowUpArrived(event=event, is_ack=True)
        may_hold_cards = event.is_direct or event.chat_id == self.ops_channel
        may_be_under_card = may_hold_cards and event.thread_id is not None
        if instruction.kind is InstructionKind.QUESTION and not may_be_under_card:
            return asked
        return MentionInstruction(**dict(asked), instruction=instruction)

    def _session_in(self, text: str) -> str | None:
        """Return the session that a few words are about, such as "how is web?"; None for anything else."""
        words = _WORD.findall(text.casefold())
        named = [key for key, name in self.session_names().items() if {key.casefold(), name.casefold()} & set(words)]
        return named[0] if len(named) == 1 and len(words) <= MAX_WORDS_OF_SESSION else None


def requeue_lost_jobs(
    classified: Journal, store: Threads, jobs: JobQueue, sorter: MessageSorter, *, since_ms: int
) -> int:
    """Queue every question and alert sorted since then of which nothing is known; returns how many.

    Raises:
        StoreError: a job could not be written.
    """
    since = datetime.fromtimestamp(since_ms / 1000, UTC) - BEFORE
    count = 0
    for event, found in _sorted_since(classified, since):
        if event.alert is None and (found.classification != "actionable" or _is_known(event, store, jobs)):
            continue
        if (work := sorter.sort(event, found)) is not None:  # an alert's changes nothing twice
            jobs.put(work)
            count += 1
    return count


def _sorted_since(classified: Journal, since: datetime) -> Iterator[tuple[Event, Classification]]:
    for record in classified.records(last_bytes=TAIL_BYTES):
        try:
            event, found = Event.model_validate(record), Classification.model_validate(record)
        except ValidationError:
            continue
        if found.classified_at is not None and found.classified_at >= since:
            yield event, found


def _is_known(event: Event, store: Threads, jobs: JobQueue) -> bool:
    state = store.latest(thread_key(event))
    return jobs.holds(thread_key(event)) or (state is not None and event.message_id in state.message_ids)
