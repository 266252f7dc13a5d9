"""Days counted once: every record and thread, whatever died, was deleted or was damaged in between."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.reports.journal_history import JournalHistory, count_past
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import MetricsReport, build_metrics
from bot.casework.reports.rollups import Rollups
from bot.domain.threads import QuestionType, Resolution
from bot.ports import Store
from bot.ports.collections import CLASSIFIED, REPLIES, SPEND
from bot.ports.threads import Threads
from tests.builders import NOW
from tests.casework.past import a_round, decided

MONTH_AGO = NOW - timedelta(days=28)


def heard(store: Store, number: int, at: datetime, **changes: Any) -> None:
    ts = f"{1_700_000_000 + number}.000100"
    record = {"chat_id": "C1", "message_id": ts, "create_time": at.isoformat(), "classified_at": at.isoformat()}
    store.journal(CLASSIFIED).append({**record, "classification": "actionable", "msg_type": "text", **changes})


def closed(store: Store, number: int, at: datetime) -> None:
    threads = Threads(store.documents)
    state = decided(
        number,
        Resolution.APPROVED,
        a_round(confidence="high"),
        question_type=QuestionType.TECHNICAL_QA,
        mentions_bot=True,
    )
    threads.put(state.model_copy(update={"started_at": at, "closed_at": at, "user_approved_at": at, "version": 0}))
    threads.archive(state.thread_id)


def fill(store: Store, *, days: int = 10) -> None:
    """Two threads, three messages, a reply and a run on each day up to now."""
    for day in range(days):
        at = NOW - timedelta(days=days - 1 - day, minutes=5)
        for number in range(3):
            heard(store, day * 3 + number, at)
        for number in range(2):
            closed(store, day * 3 + number, at)
        store.journal(REPLIES).append({"posted_at": at.isoformat(), "thread_id": "T1.C1.1.1", "reply_text": "yes"})
        store.journal(SPEND).append({"at": at.isoformat(), "run_id": "T1.C1.1.1-r1", "cost_usd": 0.5})


def read(store: Store, rollups: Rollups, now: datetime = NOW) -> JournalHistory:
    return count_past(store, rollups, MONTH_AGO, now)


def report(store: Store, rollups: Rollups | None = None, now: datetime = NOW) -> MetricsReport:
    """Return what is measured over four weeks."""
    return build_metrics(read(store, rollups or Rollups(store), now), Window.last(28, now), weeks=4)


def test_what_was_counted_is_not_read_again(tmp_path: Path) -> None:
    """A second look reads nothing of the archive, and of the journals only what was written today."""
    store = FileStore(tmp_path)
    fill(store)
    first = Rollups(store)
    seen = report(store, first)
    assert (seen.tally.messages, seen.tally.approved, seen.tally.replies, seen.tally.cost_usd) == (30, 20, 10, 5.0)
    assert (first.threads_read, len(first.drafts(MONTH_AGO, NOW))) == (20, 20)
    store = FileStore(tmp_path)
    again = Rollups(store)
    assert report(store, again) == seen
    assert again.threads_read == 0
    heard(store, 500, NOW)
    closed(store, 500, NOW)
    assert report(store, again).tally.messages == 31
    assert (again.threads_read, report(store, again).tally.approved) == (1, 21)
    (tmp_path / f"{CLASSIFIED}.ndjson").unlink()
    assert report(FileStore(tmp_path)).tally.messages == 27


def test_two_processes_count_each_record_once(tmp_path: Path) -> None:
    """Whoever stores a day second takes what the first one stored."""
    fill(FileStore(tmp_path), days=6)
    errors: list[Exception] = []

    def count() -> None:
        try:
            report(FileStore(tmp_path))
        except Exception as error:  # noqa: BLE001 - a thread's error fails the test
            errors.append(error)

    several = [threading.Thread(target=count) for _ in range(3)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    assert errors == []
    tally = report(FileStore(tmp_path)).tally
    assert (tally.messages, tally.approved, tally.replies) == (18, 12, 6)
