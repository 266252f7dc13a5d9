"""The disk is tried before anybody needs it, its refusal said once, its return as well."""

from __future__ import annotations

from datetime import datetime

from bot.errors import DiskRefused
from bot.runtime.watches import ENOUGH_BYTES, LEAST_BYTES, DiskWatch
from tests.builders import NOW
from tests.fakes import FakeClock


class Disk:
    """A disk with so many bytes of room, and everything its watch says and does."""

    def __init__(self) -> None:
        self.room, self.tried = ENOUGH_BYTES, list[int]()
        self.said, self.back = list[str](), list[datetime]()
        self.refuses_work = False
        self.clock = FakeClock(NOW)
        self.watch = DiskWatch(self._probe, self.clock, say=self.said.append, on_back=self._on_back)

    def tick(self, room: int) -> None:
        """Let five seconds pass and try the disk, which has this much room now."""
        self.room = room
        self.clock.advance(5)
        self.watch.tick()

    def _probe(self, size: int) -> None:
        self.tried.append(size)
        if size > self.room:
            raise DiskRefused("cannot write to the data directory: No space left on device; free space")

    def _on_back(self, since: datetime) -> None:
        if self.refuses_work:
            raise DiskRefused("cannot write gaps.json: No space left on device; free space")
        self.back.append(since)


def test_a_disk_that_works_is_not_mentioned() -> None:
    """Silence means all is well; the attempt is a small one."""
    disk = Disk()
    disk.tick(LEAST_BYTES)
    assert (disk.said, disk.back, disk.tried) == ([], [], [LEAST_BYTES])


def test_a_refusal_is_said_once_and_its_end_once() -> None:
    """What waited is taken up from the last time the disk was well."""
    disk = Disk()
    disk.tick(ENOUGH_BYTES)
    well_at = disk.clock.now()
    for room in (0, 0, 0, ENOUGH_BYTES, ENOUGH_BYTES):
        disk.tick(room)
    assert ["does not accept" in disk.said[0], "accepts writes again" in disk.said[1], len(disk.said)] == [
        True,
        True,
        2,
    ]
    assert "No space left on device; free space" in disk.said[0]
    assert disk.back == [well_at]


def test_a_few_free_bytes_are_no_return() -> None:
    """They would be used up at once; there is room when some work fits."""
    disk = Disk()
    disk.tick(0)
    disk.tick(LEAST_BYTES)
    assert (len(disk.said), disk.back, disk.tried[-1]) == (1, [], ENOUGH_BYTES)


def test_a_disk_that_refuses_what_waited_is_not_back() -> None:
    """The attempt is made again at the next tick."""
    disk = Disk()
    disk.tick(0)
    disk.refuses_work = True
    disk.tick(ENOUGH_BYTES)
    assert len(disk.said) == 1
    disk.refuses_work = False
    disk.tick(ENOUGH_BYTES)
    assert (len(disk.said), len(disk.back)) == (2, 1)
