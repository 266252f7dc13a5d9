"""What casework is handed with a message: the event, and what the rules say of it beyond its class. Pure.

Queues anew what a job that could not be read may have held: the questions of the journal nobody knows of.

Reads events-classified.ndjson from the time in the name of the damaged file on. A question counts as known where a job
for its thread waits or its thread's record, open or closed, names it; queued twice it would be answered once all the
same, because casework knows each message.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic import ValidationError

from bot.domain.events import Classification, Event, MessageType
from bot.domain.jobs import JobKind
from bot.domain.threads import thread_key
from bot.intake.classifier.classification import classify, says_settled
from bot.intake.classifier.rules import Rules
from bot.ports import JobQueue, Journal, ThreadStore

_SHOWS: Final = frozenset({MessageType.IMAGE, MessageType.FILE})
"""Whoever sends a picture with an "ok" may answer with the picture."""


def build_job(event: Event, found: Classification, rules: Rules) -> dict[str, Any]:
    """Return the queue's job for a message: the event, and what the rules say that casework needs to know.

    `opens`: it deserves a thread of its own, should the one it was written in be closed by then. `is_ack`: it is
    nobody's answer, whoever it names. `is_alarm`: it pages. `says_settled`: from the asker, it ends the matter.
    """
    alone = classify(event, rules, inflight=False)
    return {
        "event": event.model_dump(mode="json"),
        "opens": alone.classification == "actionable",
        "is_ack": found.is_ack_or_emoji and event.msg_type not in _SHOWS,
        "is_alarm": found.is_alarm,
        "settles": not found.is_question and says_settled(event.content, rules),
    }


TAIL_BYTES: Final = 16 * 1024 * 1024
BEFORE: Final = timedelta(minutes=5)
"""How much earlier than its job an event may have been sorted; a clock that was set back makes them differ."""


def requeue_lost_jobs(classified: Journal, store: ThreadStore, jobs: JobQueue, rules: Rules, *, since_ms: int) -> int:
    """Queue every question sorted since then of which nothing is known; returns how many.

    Raises:
        StoreError: a job could not be written.
    """
    since = datetime.fromtimestamp(since_ms / 1000, UTC) - BEFORE
    count = 0
    for event, found in _questions(classified, since):
        if not _is_known(event, store, jobs):
            jobs.put(JobKind.USER, thread_key(event), build_job(event, found, rules))
            count += 1
    return count


def _questions(classified: Journal, since: datetime) -> Iterator[tuple[Event, Classification]]:
    for record in classified.records(last_bytes=TAIL_BYTES):
        try:
            event, found = Event.model_validate(record), Classification.model_validate(record)
        except ValidationError:
            continue
        if found.classification == "actionable" and found.classified_at is not None and found.classified_at >= since:
            yield event, found


def _is_known(event: Event, store: ThreadStore, jobs: JobQueue) -> bool:
    key = thread_key(event)
    if jobs.holds(key):
        return True
    state = store.get(key) or store.last_closed(key)
    if state is None:
        return False
    return event.message_id in {state.original_message_id, *(followup.message_id for followup in state.followups)}
