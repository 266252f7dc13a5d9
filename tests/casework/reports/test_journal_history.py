"""A report reads the journals of its window: every message, thread, reply and cost once, and nothing that is older."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.file_engine import FileStore
from bot.domain.returns import Verdict
from bot.domain.threads import Resolution, ThreadState
from bot.ports import Store
from bot.ports.collections import CLASSIFIED, REPLIES, SPEND
from bot.ports.threads import Threads
from tests.builders import NOW
from tests.casework.past import TONE, a_round, decided, metrics_of, thread

DAY = timedelta(days=1)


def heard(store: Store, number: int, at: datetime, **changes: Any) -> None:
    ts = f"{1_700_000_000 + number}.000100"
    record = {"chat_id": "C1", "message_id": ts, "create_time": at.isoformat(), "classified_at": at.isoformat()}
    store.journal(CLASSIFIED).append({**record, "classification": "actionable", "msg_type": "text", **changes})


def closed(store: Store, number: int, at: datetime) -> ThreadState:
    state = decided(number, Resolution.APPROVED, a_round())
    threads = Threads(store.documents)
    threads.put(state.model_copy(update={"started_at": at, "closed_at": at, "user_approved_at": at, "version": 0}))
    threads.archive(state.thread_id)
    return state


def fill(store: Store, *, days: int = 10) -> None:
    """Two threads, three messages, a reply and a run on each day up to now."""
    for day in range(days):
        at = NOW - timedelta(days=days - 1 - day, minutes=5)
        for number in range(3):
            heard(store, day * 3 + number, at)
        for number in range(2):
            closed(store, day * 3 + number, at)
        store.journal(REPLIES).append({"posted_at": at.isoformat(), "thread_id": "T1.C1.1.1", "reply_text": "yes"})
        for run, cost_usd in (("T1.C1.1.1-r1", 0.5), ("shop-20261118", 9.0)):
            store.journal(SPEND).append({"at": at.isoformat(), "run_id": run, "cost_usd": cost_usd})


def test_a_window_holds_what_happened_in_it(tmp_path: Path) -> None:
    """Of ten days, the last seven, and the last one alone; what a beat cost is not casework's."""
    fill(FileStore(tmp_path))
    week = metrics_of(tmp_path).tally
    assert (week.messages, week.threads, week.approved, week.replies, week.cost_usd) == (21, 14, 14, 7, 3.5)
    day = metrics_of(tmp_path, days=1).tally
    assert (day.messages, day.threads, day.approved, day.replies, day.cost_usd) == (3, 2, 2, 1, 0.5)


def test_open_threads_bounces_and_escalations_count_as_what_they_are(tmp_path: Path) -> None:
    """Also before anybody decided, and where the second round is still under way."""
    store = FileStore(tmp_path)
    bounce = a_round(1, Verdict.BOUNCE, (TONE,))
    for one in (
        thread(1, bounce),
        thread(2, bounce, a_round(2, Verdict.BOUNCE, (TONE,))),
        thread(3, a_round(1, Verdict.ESCALATE)),
        thread(4, is_escalated=True),
    ):
        Threads(store.documents).put(one)
    closed(store, 5, NOW - DAY)
    seen = metrics_of(tmp_path).tally
    assert (seen.threads, seen.approved, seen.long_runs) == (5, 1, 1)
    assert seen.verdicts == {"pass": 1, "bounce": 3, "escalate": 1}


def test_nothing_that_is_older_is_read(tmp_path: Path) -> None:
    """A thread of an earlier day that cannot be read is not missed; one of the window is said."""
    store = FileStore(tmp_path)
    for number, at in enumerate((NOW - 40 * DAY, NOW - DAY)):
        closed(store, number, at)
    old, new = sorted((tmp_path / "closed").rglob("*.json"))
    old.write_text("{")
    assert metrics_of(tmp_path).unreadable == 0
    new.write_text("{")
    assert metrics_of(tmp_path).unreadable == 1


def test_a_message_that_a_crash_journaled_twice_is_one(tmp_path: Path) -> None:
    """And an edit is none."""
    store = FileStore(tmp_path)
    for changes in ({}, {}, {"msg_type": "edit", "message_id": "1.2"}):
        heard(store, 1, NOW - DAY, **changes)
    assert metrics_of(tmp_path).tally.messages == 1
