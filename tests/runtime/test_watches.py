"""Disk and database are tried before anybody needs them; that one is away is said once, and that it is back."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

import pytest

from bot.errors import Away, CodebaseUnreadable, DatabaseAway, DiskRefused, StoreError
from bot.runtime.watches import ENOUGH_BYTES, LEAST_BYTES, Outage
from tests.builders import NOW
from tests.fakes import FakeClock

FULL = DiskRefused("cannot write to the data directory: No space left on device; free space")
GONE = DatabaseAway("the database cannot be used now (no answer); check that the server runs")


class Store:
    """A disk with so many bytes of room, or what refuses with an error, and everything its outage says and does."""

    def __init__(self, error: StoreError = FULL, *, is_ours: bool = True) -> None:
        self.room, self.tried, self.error = ENOUGH_BYTES, list[int](), error
        self.in_ops = list[tuple[datetime, str]]()
        self.said, self.back = list[str](), list[datetime]()
        self.refuses_work = False
        self.clock = FakeClock(NOW)
        self.outage = Outage(
            self._probe,
            self.clock,
            tell=self.said.append,
            on_back=self._on_back,
            is_ours=lambda: is_ours,
            stands=lambda text, since: any(text in said and since <= at for at, said in self.in_ops),
        )

    def tick(self, room: int) -> None:
        """Let five seconds pass and try the disk, which has this much room now."""
        self.room = room
        self.clock.advance(5)
        self.outage.tick()

    def logs(self, error: Exception, *, traceback: bool = False) -> bool:
        """Log something about an error; whether the log has it."""
        given = {"args": ("a",), "exc_info": (type(error), error, None)} if traceback else {"args": ("a", error)}
        return self.outage.filter(logging.makeLogRecord({"msg": "%s waits: %s", **given}))

    def _probe(self, size: int) -> None:
        self.tried.append(size)
        if size > self.room:
            raise self.error

    def _on_back(self, since: datetime) -> None:
        if self.refuses_work:
            raise self.error
        self.back.append(since)


def test_a_store_that_works_is_not_mentioned() -> None:
    """Silence means all is well; the attempt is a small one."""
    store = Store()
    store.tick(LEAST_BYTES)
    assert (store.said, store.back, store.tried) == ([], [], [LEAST_BYTES])


@pytest.mark.parametrize(
    ("error", "began", "ended"),
    [
        (FULL, "The disk does not accept writes: cannot write to", "The disk accepts writes again, after 25 s."),
        (GONE, "The database cannot be used now (no answer); check", "The database can be used again, after 25 s."),
    ],
)
def test_a_refusal_is_said_once_by_its_name_and_its_end_once(error: Away, began: str, ended: str) -> None:
    """What waited is taken up from the last time all was well."""
    store = Store(error)
    store.tick(ENOUGH_BYTES)
    well_at = store.clock.now()
    for room in (0, 0, 0, 0, ENOUGH_BYTES, ENOUGH_BYTES):
        store.tick(room)
    assert [store.said[0][: len(began)], store.said[1][: len(ended)], len(store.said)] == [began, ended, 2]
    assert store.back == [well_at]
    within, ended = well_at + timedelta(seconds=3), store.clock.now()
    assert [store.outage.is_told(at) for at in (None, well_at, within, ended)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("error", "other_tells", "ticks_away", "told"),
    [
        (GONE, True, 20, []),
        (GONE, True, 2, []),
        (GONE, False, 6, ["The database can be used again"]),  # 25 s: the other still has time
        (GONE, False, 7, ["The database cannot be used now", "The database can be used again"]),
        (FULL, False, 1, ["The disk does not accept writes", "The disk accepts writes again"]),
    ],
)
def test_of_a_shared_database_the_replica_with_the_duties_tells(
    error: Away, other_tells: bool, ticks_away: int, told: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Another one only logs, unless nobody told; its own disk is its own to tell of."""
    earlier, store = Store(error), Store(error, is_ours=False)
    earlier.tick(0)
    if other_tells:
        store.in_ops.append((store.clock.now() + timedelta(seconds=1), earlier.said[0]))
    caplog.clear()
    for room in (ENOUGH_BYTES, *[0] * ticks_away, ENOUGH_BYTES, ENOUGH_BYTES):
        store.tick(room)
    assert [line.startswith(each) for line, each in zip(store.said, told, strict=True)] == [True] * len(told)
    assert len(caplog.records) == len(("that it is away", "that it is back"))


def test_what_another_said_of_an_earlier_outage_counts_for_none() -> None:
    """It told of that one."""
    store = Store(GONE, is_ours=False)
    earlier = Store(GONE)
    earlier.tick(0)
    store.in_ops.append((store.clock.now(), earlier.said[0]))
    for room in (*[ENOUGH_BYTES] * 8, *[0] * 8):
        store.tick(room)
    assert len(store.said) == 1


def test_an_outage_that_lasts_is_told() -> None:
    """From the last time all was well on."""
    store = Store()
    well_at = store.clock.now()
    assert not store.outage.is_told(well_at + timedelta(seconds=1))
    store.tick(0)
    assert store.outage.is_told(store.clock.now())
    assert not store.outage.is_told(well_at - timedelta(seconds=1))


def test_a_few_free_bytes_are_no_return() -> None:
    """They would be used up at once; there is room when some work fits."""
    store = Store()
    store.tick(0)
    store.tick(LEAST_BYTES)
    assert (len(store.said), store.back, store.tried[-1]) == (1, [], ENOUGH_BYTES)


def test_a_store_that_refuses_what_waited_is_not_back() -> None:
    """The attempt is made again at the next tick."""
    store = Store()
    store.tick(0)
    store.refuses_work = True
    store.tick(ENOUGH_BYTES)
    assert len(store.said) == 1
    store.refuses_work = False
    store.tick(ENOUGH_BYTES)
    assert (len(store.said), len(store.back)) == (2, 1)


@pytest.mark.parametrize("traceback", [False, True])
def test_what_fails_of_an_outage_is_not_logged_besides(traceback: bool) -> None:
    """Before it is said, and as long as it lasts."""
    store = Store(GONE)
    for _ in range(3):
        assert not store.logs(GONE, traceback=traceback)
        store.tick(0)
    assert len(store.said) == 1


def test_every_other_failure_is_logged() -> None:
    """Also of a store, where only this one thing is refused."""
    store = Store()
    others = [StoreError("not ours"), CodebaseUnreadable("damaged"), ValueError("a bug")]
    assert [store.logs(each, traceback=is_bug) for each in others for is_bug in (False, True)] == [True] * 6
    assert store.outage.filter(logging.makeLogRecord({"msg": "%(a)s", "args": ({"a": 1},)}))
    assert store.tried == []


def test_a_refusal_that_no_later_write_meets_is_logged_and_not_said(caplog: pytest.LogCaptureFixture) -> None:
    """One connection was cut, or one file lies on a damaged block: once, until it is another."""
    store = Store(GONE)
    for _ in range(2):
        assert not store.logs(GONE)
        store.tick(ENOUGH_BYTES)
    assert (store.said, store.back) == ([], [])
    assert [each.getMessage() for each in caplog.records] == [f"{GONE}; the next try was taken"]
