"""What happened, read back from the data directory for whoever measures it; needs no running bot.

Closed threads and journals are read as rollups (bot/casework/reports/rollups.py), open threads as they stand. A record
that cannot be read is counted and left out; a missing journal is an empty one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from bot.casework.posting.feedback import read_feedback
from bot.casework.reports.classifier_samples import Judgement
from bot.casework.reports.measures import Window, from_us, known_cost, recent_records, time_of, to_us
from bot.casework.reports.rollup_rows import BEATS, MENTIONS, MESSAGES, POSTED, SPENT, RollupKind, utc_day
from bot.casework.reports.rollups import COMPLETE, Allowance, Backlog, Rollups
from bot.casework.reports.thread_facts import ThreadFacts
from bot.domain.questions.feedback import Vote
from bot.intake.presence import read_presence
from bot.ports import Store
from bot.ports.collections import HEARTBEATS, JUDGEMENTS, SPEND, THREADS, Collection


class MessagesOfDay(NamedTuple):
    """When messages were written (microseconds since 1970), and a mark for each, as rollup_rows.py sets it."""

    at_us: Sequence[int]
    marks: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HeardMessages:
    """What was heard, to be counted; `mentions` has channel and ts of those that named the bot."""

    days: Sequence[MessagesOfDay] = ()
    mentions: frozenset[tuple[str, str]] = frozenset()

    def count(self, window: Window) -> tuple[int, int]:
        """Return how many messages a window holds, and how many of them are actionable."""
        start, end = window.bounds_us
        messages = actionable = 0
        for at_us, marks in self.days:
            if not at_us or max(at_us) < start or min(at_us) >= end:
                continue
            inside = marks
            if min(at_us) < start or max(at_us) >= end:
                inside = "".join(mark for at, mark in zip(at_us, marks, strict=True) if start <= at < end)
            messages += len(inside)
            actionable += inside.count("a")
        return messages, actionable


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
    """Everything that is measured; `recorded_since` is the time of the oldest message on record."""

    heard: HeardMessages = HeardMessages()
    threads: Sequence[ThreadFacts] = ()
    drafts: Sequence[ThreadFacts] = ()
    """Those whose first draft qualifies."""
    replies: Sequence[ReplyRecord] = ()
    spent: Sequence[SpendRecord] = ()
    judged: Sequence[Judgement] = ()
    votes: Sequence[Vote] = ()
    """What people said last of posted replies."""
    recorded_since: datetime | None = None
    bot_started_at: datetime | None = None
    unreadable: int = 0
    backlog: Backlog = COMPLETE
    """What is not in here, because only so much was to be read at once."""


def count_past(
    store: Store,
    rollups: Rollups,
    since: datetime,
    now: datetime,
    *,
    drafts_since: datetime | None = None,
    allow: Allowance | None = None,
) -> JournalHistory:
    """Return what happened since then, with all counted first that is new, or as much of it as `allow` says.

    Drafts and mentions, which tell how well the bot would do without a human, are read from `drafts_since` on.

    Raises:
        StoreError: the data directory cannot be read.
    """
    backlog = rollups.catch_up(now, drafts_since or since, allow=allow)
    days, longer = rollups.journal_days(MESSAGES, since, now), min(since, drafts_since or since)
    threads, unreadable = rollups.thread_rows(since, now)
    open_threads, damaged = _open_threads(store, rollups)
    seen, judgements = read_presence(store.documents), store.journal(JUDGEMENTS).records()
    return JournalHistory(
        heard=HeardMessages(
            days=[MessagesOfDay(day["at"], day["marks"]) for day in days],
            mentions=frozenset((row[1], row[2]) for row in _rows(rollups, MENTIONS, longer, now)),
        ),
        threads=[*threads, *open_threads],
        drafts=[*rollups.drafts(longer, now), *(one for one in open_threads if one.qualifies)],
        replies=[ReplyRecord(from_us(row[0]), *row[1:]) for row in _rows(rollups, POSTED, since, now)],
        spent=[SpendRecord(from_us(row[0]), *row[1:]) for row in _rows(rollups, SPENT, since, now)],
        votes=[vote for one in read_feedback(store) for vote in one.votes.values()],
        judged=[found for record in judgements if (found := Judgement.read(record))],
        recorded_since=_oldest(rollups, MESSAGES, days, now),
        bot_started_at=seen.started_at if seen else None,
        unreadable=unreadable + damaged,
        backlog=backlog._replace(has_records=rollups.has_uncounted_records),  # last: reading may find a day to mend
    )


def _rows(rollups: Rollups, kind: RollupKind, since: datetime, now: datetime) -> list[list[Any]]:
    start = to_us(since)
    return [row for day in rollups.journal_days(kind, since, now) for row in day["rows"] if row[0] >= start]


def _oldest(rollups: Rollups, kind: RollupKind, days: Sequence[Mapping[str, Any]], now: datetime) -> datetime | None:
    oldest = days[-1]["oldest"] if days else rollups.latest(kind, utc_day(now)).oldest
    return None if oldest is None else from_us(oldest)


def _open_threads(store: Store, rollups: Rollups) -> tuple[list[ThreadFacts], int]:
    """Return the threads that are not archived, and how many cannot be read."""
    states = Collection(store.documents, THREADS).parsed().values()
    known = [rollups.facts(state) for state in states if state is not None]
    return known, len(states) - len(known)


def read_spent(store: Store, since: datetime) -> list[float | None]:
    """Return what each model run since then cost, oldest first, those of beats included. Raises StoreError."""
    return [known_cost(record) for record in recent_records(store, SPEND, "at", since)]


class BeatSummary(NamedTuple):
    """One beat that ran; `told` is the beginning of what its owner was told, `beside_ok` of what nobody was."""

    at: datetime
    session_id: str
    told: str
    is_alert: bool
    is_failed: bool
    beside_ok: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatHistory:
    """The beats since a time, oldest first; `recorded_since` is the time of the oldest line, whatever it is about."""

    ran: Sequence[BeatSummary] = ()
    recorded_since: datetime | None = None
    has_uncounted_records: bool = False


def read_beats(rollups: Rollups, since: datetime, now: datetime) -> BeatHistory:
    """Return the beats since then, refused slots aside, without what they said. Raises StoreError."""
    days, start = rollups.journal_days(BEATS, since, now), to_us(since)
    rows = [row for day in days for row in day["rows"] if row[0] >= start]
    ran = [BeatSummary(from_us(at), "", "", is_alert, is_failed) for at, is_alert, is_failed in rows]
    oldest, is_behind = _oldest(rollups, BEATS, days, now), rollups.has_uncounted_records
    return BeatHistory(ran=ran, recorded_since=oldest, has_uncounted_records=is_behind)


def recent_beats(store: Store, since: datetime) -> list[BeatSummary]:
    """Return the beats since then, refused slots aside, oldest first; raises StoreError."""
    records = [one for one in recent_records(store, HEARTBEATS, "ts", since) if one.get("result") != "skipped"]
    return [_beat(at, record) for record in records if (at := time_of(record.get("ts"))) is not None]


def _beat(at: datetime, record: dict[str, Any]) -> BeatSummary:
    result = record.get("result")
    return BeatSummary(
        at=at,
        session_id=str(record.get("session_id") or ""),
        told=str(record.get("preview") or ""),
        is_alert=result == "sent" and record.get("indicator") == "alert",
        is_failed=result == "failed",
        beside_ok=str(record.get("beside_ok") or ""),
    )
