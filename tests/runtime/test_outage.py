"""Disk and database are tried before anybody needs them; that one is away is said once, and that it is back."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

import pytest

from bot.errors import Away, CodebaseUnreadable, DatabaseAway, DiskRefused, StoreError
from bot.runtime.outage import ENOUGH_BYTES, LEAST_BYTES, Outage
from tests.builders import NOW
from tests.fakes import FakeClock

FULL = DiskRefused("cannot write to the data directory: No space left on device; free space")
GONE = DatabaseAway("the database cannot be used now (no answer); check that the server runs")


class Store:
    """A disk with so many bytes of room, or what refuses with an error, and everything its outage says and does."""

    def __init__(self, error: StoreError = FULL) -> None:
        self.room, self.tried, self.error = ENOUGH_BYTES, list[int](), error
        self.said, self.back = list[str](), list[datetime]()
        self.refuses_work = False
        self.clock = FakeClock(NOW)
        self.outage = Outage(self._probe, self.clock, say=self.said.append, on_back=self._on_back)

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
