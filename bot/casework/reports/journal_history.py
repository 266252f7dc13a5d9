"""Reads from the data directory what happened in a period, for reports; needs no running bot.

Closed threads and journals are read as rollups (bot/casework/reports/rollups.py), open threads from their records. A
record that cannot be read is counted and left out; a missing journal is an empty one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from bot.casework.posting.feedback import read_feedback
from bot.casework.reports.classifier_samples import Judgement
from bot.casework.reports.measures import Window, from_us, known_cost, recent_records, time_of, to_us
from bot.casework.reports.rollup_rows import MESSAGES, POSTED, SPENT, RollupKind, Row
from bot.casework.reports.rollups import Rollups
from bot.casework.reports.thread_facts import ThreadFacts
from bot.domain.questions.feedback import Vote
from bot.intake.presence import read_presence
from bot.ports import Store
from bot.ports.collections import HEARTBEATS, JUDGEMENTS, SPEND, THREADS, Collection


class ReplyRecord(NamedTuple):
    """One line of replies.ndjson."""

    at: datetime
    thread_id: str
    chat_id: str
    reply_to: str
    posted_as: str
    text_hash: str
    """Of what was posted, as `hash_draft` makes it."""
    task_id: str | None


class SpendRecord(NamedTuple):
    """What one model run cost; None where its price is unknown."""

    at: datetime
    is_of_thread: bool
    """Whether it worked on a question; else it was a beat's."""
    cost_usd: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalHistory:
    """Everything that is measured; `recorded_since` is when the oldest message on record was written down."""

    heard: Sequence[tuple[int, bool]] = ()
    """Of each message that was heard: when (microseconds since 1970), and whether it is actionable."""
    threads: Sequence[ThreadFacts] = ()
    replies: Sequence[ReplyRecord] = ()
    spent: Sequence[SpendRecord] = ()
    judged: Sequence[Judgement] = ()
    votes: Sequence[Vote] = ()
    """What people said last of posted replies."""
    recorded_since: datetime | None = None
    bot_started_at: datetime | None = None
    unreadable: int = 0
    uncounted: int = 0
    """Closed threads that are not in here, because only so many were to be read at once."""

    def count_heard(self, window: Window) -> tuple[int, int]:
        """Return how many messages a window holds, and how many of them are actionable."""
        start, end = window.bounds_us
        inside = [is_actionable for at, is_actionable in self.heard if start <= at < end]
        return len(inside), sum(inside)


def count_past(
    store: Store, rollups: Rollups, since: datetime, now: datetime, *, at_most: int | None = None
) -> JournalHistory:
    """Return what happened since then; `at_most` is how many closed threads may be taken in for it.

    Raises:
        StoreError: the data directory cannot be read.
    """
    uncounted = rollups.catch_up(since, at_most=at_most)
    threads, unreadable = rollups.thread_rows(since, now)
    open_threads, damaged = _open_threads(store, rollups)
    seen, judgements = read_presence(store.documents), store.journal(JUDGEMENTS).records()
    messages = {place: (at, is_actionable) for at, is_actionable, place in rollups.journal_rows(MESSAGES, since, now)}
    return JournalHistory(
        heard=list(messages.values()),  # what a crash had journaled twice is one message
        threads=[*threads, *open_threads],
        replies=[ReplyRecord(from_us(row[0]), *row[1:]) for row in _rows(rollups, POSTED, since, now)],
        spent=[SpendRecord(from_us(row[0]), *row[1:]) for row in _rows(rollups, SPENT, since, now)],
        votes=[vote for one in read_feedback(store) for vote in one.votes.values()],
        judged=[found for record in judgements if (found := Judgement.read(record))],
        recorded_since=rollups.journal_since(MESSAGES),
        bot_started_at=seen.started_at if seen else None,
        unreadable=unreadable + damaged,
        uncounted=uncounted,
    )


def _rows(rollups: Rollups, kind: RollupKind, since: datetime, now: datetime) -> list[Row]:
    start = to_us(since)
    return [row for row in rollups.journal_rows(kind, since, now) if row[0] >= start]


def _open_threads(store: Store, rollups: Rollups) -> tuple[list[ThreadFacts], int]:
    """Return the threads that are not archived, and how many cannot be read."""
    states = Collection(store.documents, THREADS).parsed().values()
    known = [rollups.facts(state) for state in states if state is not None]
    return known, len(states) - len(known)


def read_spent(store: Store, since: datetime) -> list[float | None]:
    """Return what each model run since then cost, oldest first, those of beats included. Raises StoreError."""
    return [known_cost(record) for record in recent_records(store, SPEND, "at", since)]


class BeatSummary(NamedTuple):
    """One beat that ran; `told` is the beginning of what its owner was told, `beside_ok` of what nobody was.

    `changes` are what its commands printed anew, as in `Envelope`.
    """

    at: datetime
    session_id: str
    told: str
    is_alert: bool
    is_failed: bool
    beside_ok: str = ""
    changes: tuple[str, ...] = ()


def recent_beats(store: Store, since: datetime) -> list[BeatSummary]:
    """Return the beats since then, refused slots aside, oldest first; raises StoreError."""
    records = recent_records(store, HEARTBEATS, "ts", since)
    ran = [one for one in records if one.get("result") != "skipped" or one.get("changes")]
    return [_beat(at, record) for record in ran if (at := time_of(record.get("ts"))) is not None]


def _beat(at: datetime, record: dict[str, Any]) -> BeatSummary:
    result = record.get("result")
    return BeatSummary(
        at=at,
        session_id=str(record.get("session_id") or ""),
        told=str(record.get("preview") or ""),
        is_alert=result == "sent" and record.get("indicator") == "alert",
        is_failed=result == "failed",
        beside_ok=str(record.get("beside_ok") or ""),
        changes=tuple(map(str, record.get("changes") or ())),
    )
