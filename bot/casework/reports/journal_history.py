"""Reads from the data directory what happened in a window, for reports; needs no running bot.

Only what is of the window is read: journals from their end, closed threads by the day they are filed under, and the
open threads. A record that cannot be read is counted and left out; a missing journal is an empty one.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from bot.casework.reports.classifier_samples import Judgement
from bot.casework.reports.measures import Window, known_cost, read_feedback, recent_records, time_of, timed_records
from bot.casework.reports.thread_facts import LongRun, ThreadFacts, facts_of
from bot.domain.questions.feedback import Vote
from bot.domain.threads import ThreadState, hash_draft
from bot.intake.presence import read_presence
from bot.ports import Store
from bot.ports.collections import CLASSIFIED, JUDGEMENTS, REPLIES, SPEND, THREADS, Collection

_THREAD_RUN: Final = re.compile(r"(?!terminal\.)[\w-]+\.[\w-]+\.\d+\.\d+-(?!eval$)")
"""How the run of a thread is named; a beat's is not, nor one of `triage investigate` or of the former `triage eval`."""


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

    @classmethod
    def read(cls, at: datetime, record: Mapping[str, Any]) -> ReplyRecord:
        """Return a record of the journal."""
        task = record.get("investigator_task_id")
        return cls(
            at=at,
            thread_id=str(record.get("thread_id")),
            chat_id=str(record.get("chat_id")),
            reply_to=str(record.get("reply_to_message_id")),
            posted_as=str(record.get("posted_message_id")),
            text_hash=hash_draft(str(record.get("reply_text"))),
            task_id=str(task) if task else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalHistory:
    """What is measured of a window; `recorded_since` is when the oldest message on record was written down."""

    window: Window
    heard: Sequence[bool] = ()
    """Of each message that was heard, whether it is actionable."""
    threads: Sequence[ThreadFacts] = ()
    """All that were open in the window, whenever they were opened."""
    replies: Sequence[ReplyRecord] = ()
    costs_usd: Sequence[float | None] = ()
    """Of each run that worked on a question; None where its price is unknown."""
    judged: Sequence[Judgement] = ()
    votes: Sequence[Vote] = ()
    """What people said last of posted replies."""
    recorded_since: datetime | None = None
    bot_started_at: datetime | None = None
    unreadable: int = 0

    @property
    def opened(self) -> list[ThreadFacts]:
        """The threads that were opened in the window."""
        return [each for each in self.threads if self.window.holds(each.started_at)]


class PastThreads:
    """The threads of one data directory, open and closed; safe in several threads.

    A closed thread never changes: its facts are kept in memory until a later call asks for a later time only.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._threads = store, Collection(store.documents, THREADS)
        self._closed: Mapping[str, ThreadFacts | None] = {}
        self._lock = threading.Lock()

    def since(self, moment: datetime) -> tuple[list[ThreadFacts], int]:
        """Return the open threads and those closed since then, and how many cannot be read. Raises StoreError."""
        with self._lock:
            filed = self._store.documents.archived(THREADS.name, since=moment)
            known = self._closed
            self._closed = {
                one.name: known[one.name] if one.name in known else self._facts(self._threads.parse_archived(one))
                for one in filed
            }
            found = [*self._closed.values(), *map(self._facts, self._threads.parsed().values())]
        readable = [facts for facts in found if facts is not None]
        return readable, len(found) - len(readable)

    def _facts(self, state: ThreadState | None) -> ThreadFacts | None:
        """Return the facts of a thread with what is left of its long run."""
        if state is None or not state.is_escalated:
            return None if state is None else facts_of(state)
        from bot.casework.escalate.long_run import EscalationFolder  # here: few windows have a long run

        folder = EscalationFolder(self._store.runs.fetch(f"escalations/{state.thread_id}"))
        if folder.launched_at() is None:
            return facts_of(state)
        return facts_of(state, LongRun(folder.is_done(), folder.returned() is not None))


def read_history(store: Store, threads: PastThreads, window: Window) -> JournalHistory:
    """Return what happened in a window; raises StoreError where the data directory cannot be read."""
    seen, (known, unreadable) = read_presence(store.documents), threads.since(window.start)
    judged = map(Judgement.read, recent_records(store, JUDGEMENTS, "at", window.start))
    return JournalHistory(
        window=window,
        heard=_heard(store, window),
        threads=known,
        replies=[
            ReplyRecord.read(at, record)
            for at, record in timed_records(store, REPLIES, "posted_at", window.start)
            if window.holds(at)
        ],
        costs_usd=[
            known_cost(record)
            for at, record in timed_records(store, SPEND, "at", window.start)
            if window.holds(at) and _THREAD_RUN.match(str(record.get("run_id")))
        ],
        votes=[vote for one in read_feedback(store) for vote in one.votes.values() if window.holds(vote.at)],
        judged=[one for one in judged if one is not None and window.holds(one.at)],
        recorded_since=_recorded_since(store),
        bot_started_at=seen.started_at if seen else None,
        unreadable=unreadable,
    )


def _heard(store: Store, window: Window) -> list[bool]:
    """Return each message once, also one that a crash had journaled twice."""
    found: dict[tuple[object, object], bool] = {}
    for _, record in timed_records(store, CLASSIFIED, "classified_at", window.start):
        at = time_of(record.get("create_time"))
        if at is not None and window.holds(at) and record.get("msg_type") not in ("edit", "delete"):
            place = record.get("chat_id"), record.get("message_id")
            found.setdefault(place, record.get("classification") == "actionable")
    return list(found.values())


def _recorded_since(store: Store) -> datetime | None:
    times = (time_of(record.get("classified_at")) for record in store.journal(CLASSIFIED).records())
    return next(filter(None, times), None)
