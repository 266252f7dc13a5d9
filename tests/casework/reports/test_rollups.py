"""Days counted once: every record and thread, whatever died, was deleted or was damaged in between."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.reports.journal_history import JournalHistory, count_past, read_beats, read_spent
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import MetricsReport, MetricsService, build_metrics
from bot.casework.reports.rollup_rows import MESSAGES
from bot.casework.reports.rollups import Rollups
from bot.casework.reports.week_report import read_week
from bot.domain.threads import QuestionType, Resolution
from bot.ports import Store
from bot.ports.collections import CLASSIFIED, HEARTBEATS, REPLIES, ROLLUPS, SPEND
from bot.ports.threads import Threads
from tests.builders import NOW
from tests.casework.past import a_round, decided
from tests.fakes import FakeClock
from tests.sampling import examples
from tests.tables import each_row

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
    """Two threads, three messages, a reply, a run and a beat on each day up to now."""
    for day in range(days):
        at = NOW - timedelta(days=days - 1 - day, minutes=5)
        for number in range(3):
            heard(store, day * 3 + number, at)
        for number in range(2):
            closed(store, day * 3 + number, at)
        store.journal(REPLIES).append({"posted_at": at.isoformat(), "thread_id": "T1.C1.1.1", "reply_text": "yes"})
        store.journal(SPEND).append({"at": at.isoformat(), "run_id": "T1.C1.1.1-r1", "cost_usd": 0.5})
        store.journal(HEARTBEATS).append({"ts": at.isoformat(), "session_id": "shop", "result": "failed"})


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
    assert len(read_beats(again, MONTH_AGO, NOW).ran) == 10
    (tmp_path / f"{CLASSIFIED}.ndjson").unlink()
    assert report(FileStore(tmp_path)).tally.messages == 27


def test_a_day_is_kept_an_hour_after_it_is_over(tmp_path: Path) -> None:
    """Another process, whose clock is behind, may still write into it; what a wrong clock dates later is of today."""
    store, midnight = FileStore(tmp_path), NOW.replace(hour=0, minute=0)
    heard(store, 1, midnight - timedelta(minutes=1))
    for minutes, names in ((59, []), (61, [f"messages.all.{midnight - timedelta(days=1):%Y-%m-%d}.json"])):
        Rollups(store).journal_rows(MESSAGES, midnight - timedelta(days=1), midnight + timedelta(minutes=minutes))
        assert [path.name for path in (tmp_path / "rollups").glob("messages.*")] == names
    heard(store, 2, midnight, classified_at=(midnight + timedelta(days=9)).isoformat())
    assert report(store).tally.messages == 2


def test_a_reader_counts_the_same_and_writes_nothing(tmp_path: Path) -> None:
    """Without rollups, beside old ones, and where a day is missing."""
    store = FileStore(tmp_path)
    fill(store)
    reader = Rollups(FileStore(tmp_path, is_reader=True), saves=False)
    alone = report(FileStore(tmp_path, is_reader=True), reader)
    assert not (tmp_path / "rollups").exists()
    assert report(store) == alone
    heard(store, 500, NOW)
    min((tmp_path / "rollups").glob("messages.*")).unlink()
    before = sorted(path.name for path in (tmp_path / "rollups").iterdir())
    other = Rollups(FileStore(tmp_path, is_reader=True), saves=False)
    assert report(FileStore(tmp_path, is_reader=True), other).tally.messages == 31
    assert sorted(path.name for path in (tmp_path / "rollups").iterdir()) == before


@each_row("harm", ["delete", "{", "[]", "{}", '{"rows": 5}', '"rows":"[', '"names":"', '"unreadable":'])
def test_a_deleted_or_damaged_day_is_counted_anew(tmp_path: Path, harm: str) -> None:
    """Any of them, and the counts are the same as before."""
    store = FileStore(tmp_path)
    fill(store, days=4)
    seen = report(store)
    for path in sorted((tmp_path / "rollups").glob("*.json")):
        damaged = path.read_text().replace(harm, f"{harm}7") if harm.endswith(('"', "[", ":")) else harm
        path.unlink() if harm == "delete" else path.write_text(damaged)
        assert report(FileStore(tmp_path)) == seen, path.name
        assert report(FileStore(tmp_path)) == seen, path.name


@settings(max_examples=examples(25), deadline=None)
@given(steps=st.lists(st.integers(0, 9), max_size=8))
def test_a_kill_between_two_writes_loses_and_doubles_nothing(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int]
) -> None:
    """Whatever was taken in by processes that died, the next one counts each thread once."""
    home = tmp_path_factory.mktemp("home")
    fill(FileStore(home), days=4)
    for step in steps:
        store = FileStore(home)
        Rollups(store).catch_up(MONTH_AGO, at_most=step)
    tally = report(FileStore(home)).tally
    assert (tally.messages, tally.approved, tally.replies, tally.cost_usd) == (12, 8, 4, 2.0)


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


def test_a_reply_costs_nothing_that_the_terminal_asked_for(tmp_path: Path) -> None:
    """What `triage investigate` and `triage eval` spend is in the day's cost only."""
    store = FileStore(tmp_path)
    for run_id in ("T1.C1.1.1-r1", "T1.C1.1.1-v1", "T1.C1.1.1-eval", "terminal.question.1.1-r1", "shop-20261120"):
        store.journal(SPEND).append({"at": NOW.isoformat(), "run_id": run_id, "cost_usd": 1.0})
    assert report(store).tally.cost_usd == 2.0
    assert len(read_spent(store, MONTH_AGO)) == 5


def test_a_message_that_stands_twice_is_one_message(tmp_path: Path) -> None:
    """A crash may journal it again, on the next day too; edits are none."""
    store = FileStore(tmp_path)
    midnight = NOW.replace(hour=0, minute=0)
    for at in (midnight - timedelta(minutes=1), midnight - timedelta(minutes=1), midnight + timedelta(minutes=1)):
        heard(store, 1, midnight - timedelta(minutes=1), classified_at=at.isoformat())
    heard(store, 2, midnight, msg_type="edit")
    assert report(store).tally.messages == 1


def test_a_closed_thread_that_cannot_be_read_is_counted_as_such(tmp_path: Path) -> None:
    """Once, however often it is looked for."""
    store = FileStore(tmp_path)
    fill(store, days=2)
    next((tmp_path / "closed").glob("*/*.json")).write_text("{")
    assert report(store).unreadable == 1
    assert (report(store).unreadable, report(store).tally.approved) == (1, 3)


def test_a_long_backlog_is_told_of_and_worked_off(tmp_path: Path) -> None:
    """A little at each tick; until then the report and the picture say what is missing."""
    store = FileStore(tmp_path)
    fill(store, days=3)
    rollups = Rollups(store)
    past = count_past(store, rollups, MONTH_AGO, NOW, at_most=2)
    said = build_metrics(past, Window.last(7, NOW)).uncounted
    assert said == "not counted yet: 4 closed threads; triage is counting them, ask again in a minute"
    some = read_week(store, rollups, NOW, UTC, at_most=1)
    assert some.uncounted == "not counted yet: 3 closed threads"
    assert "3 closed threads" in some.in_words()
    assert rollups.catch_up(MONTH_AGO) == 0
    assert read_week(store, rollups, NOW, UTC, at_most=1).uncounted == ""


def test_who_asks_at_the_same_time_gets_the_same_report(tmp_path: Path) -> None:
    """One is made at a time, and after it the next."""

    class SlowClock(FakeClock):
        def now(self) -> datetime:
            entered.set()
            assert go_on.wait(120)
            return super().now()

    entered, go_on = threading.Event(), threading.Event()
    store = FileStore(tmp_path)
    service = MetricsService(store, Rollups(store), SlowClock(), baseline_reply_s=None)
    found: list[MetricsReport] = []
    askers = [threading.Thread(target=lambda: found.append(service.report())) for _ in range(4)]
    askers[0].start()
    assert entered.wait(120)
    for asker in askers[1:]:
        asker.start()
    while service.waiting < 3:
        threading.Event().wait(0.001)
    go_on.set()
    for asker in askers:
        asker.join(120)
    assert len(found) == 4
    assert len({id(one) for one in found}) == 1
    assert service.report() is not found[0]


def test_ticks_count_the_whole_archive_once_and_then_what_is_new(tmp_path: Path) -> None:
    """Also what closed before anybody's window."""
    store, clock = FileStore(tmp_path), FakeClock()
    closed(store, 1, clock.now() - timedelta(days=300))
    rollups = Rollups(store)
    service = MetricsService(store, rollups, clock, baseline_reply_s=None)
    service.tick()
    assert rollups.threads_read == 1
    assert [one.id for one in store.documents.list(ROLLUPS)] != []
    closed(store, 2, clock.now())
    service.tick()
    assert rollups.threads_read == 1
    clock.advance(120)
    service.tick()
    assert rollups.threads_read == 2


def test_a_tick_keeps_the_finished_days_of_journals_once_a_day(tmp_path: Path) -> None:
    """So that a command of the terminal, which keeps nothing, reads the records of today only."""
    store, clock = FileStore(tmp_path), FakeClock()
    fill(store, days=6)
    service = MetricsService(store, Rollups(store), clock, baseline_reply_s=None)
    service.tick()
    for name in (CLASSIFIED, REPLIES, SPEND, HEARTBEATS):
        (tmp_path / f"{name}.ndjson").rename(tmp_path / f"{name}.gone")
    reader = Rollups(FileStore(tmp_path, is_reader=True), saves=False)
    assert report(store, reader).tally.messages == 15
    assert len(read_beats(reader, MONTH_AGO, NOW).ran) == 5
    heard(store, 500, NOW)
    clock.advance(24 * 3600)
    service.tick()
    (tmp_path / f"{CLASSIFIED}.ndjson").unlink()
    assert report(store, reader, clock.now()).tally.messages == 16
