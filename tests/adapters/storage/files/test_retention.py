"""What years leave behind: old records of runs go, a little at a time; what anybody needs stays."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import FileRunFolders
from bot.adapters.storage.files.retention import LOOKS_PER_TICK, REST, RunRetention
from bot.domain.threads import ThreadState, ThreadStatus
from tests.builders import THREAD_ID, in_status
from tests.fakes import FakeClock

KEEP = timedelta(days=90)


class Attic:
    """A data directory and its clock."""

    def __init__(self, home: Path, keep: timedelta | None = KEEP) -> None:
        self.home, self.clock, self.threads = home, FakeClock(), list[ThreadState]()
        self.old_runs = RunRetention(home, keep, self.clock, lambda: self.threads, FileRunFolders(home))

    def run(self, name: str, *, days_old: float, under: str = "runs") -> Path:
        """Make the record of a run."""
        folder = self.home / under / name
        (folder / "work_products").mkdir(parents=True)
        (folder / "trace.json").write_text("{}")
        at = (self.clock.now() - timedelta(days=days_old)).timestamp()
        for path in (folder / "trace.json", folder / "work_products", folder):
            os.utime(path, (at, at))
        return folder

    def walk(self) -> None:
        """Tick until everything was looked at."""
        for _ in range(5):
            self.old_runs.tick()

    @property
    def left(self) -> list[str]:
        """The records that are left."""
        return sorted(path.name for under in ("runs", "escalations") for path in (self.home / under).glob("*"))


@pytest.fixture
def attic(tmp_path: Path) -> Attic:
    return Attic(tmp_path)


def test_old_records_go_and_young_ones_stay(attic: Attic) -> None:
    """To the day, those of beats and of long runs alike."""
    attic.run("beat-shop-1", days_old=91)
    attic.run("beat-shop-2", days_old=89)
    attic.run("T1.C1.9.9", days_old=91, under="escalations")
    attic.walk()
    assert attic.left == ["beat-shop-2"]


def test_a_folder_that_was_written_to_lately_is_young(attic: Attic) -> None:
    """A log grows without its folder changing."""
    attic.run("beat-shop-1", days_old=100)
    log = attic.home / "runs" / "beat-shop-1" / "run.log"
    log.write_text("x")
    now = attic.clock.now().timestamp()
    os.utime(log, (now, now))
    attic.walk()
    assert attic.left == ["beat-shop-1"]


def test_what_an_open_thread_needs_stays_however_old(attic: Attic) -> None:
    """Its rounds, its validation and its long runs; they go once it is closed."""
    attic.threads = [in_status(ThreadStatus.INVESTIGATING)]
    attic.run(f"{THREAD_ID}-20250101T000000Z-r1", days_old=400)
    attic.run(f"{THREAD_ID}.earlier-1", days_old=400, under="escalations")
    attic.walk()
    assert len(attic.left) == 2
    attic.threads = []
    attic.clock.advance(REST.total_seconds())
    attic.walk()
    assert attic.left == []


def test_nothing_else_is_touched(attic: Attic, tmp_path: Path) -> None:
    """Neither other folders of the home, nor files, nor links, nor what links lead to."""
    elsewhere = attic.run("precious", days_old=400, under="elsewhere")
    closed = attic.run("2024-01", days_old=400, under="closed")
    attic.run("old", days_old=400)
    (attic.home / "runs" / "link").symlink_to(elsewhere)
    (attic.home / "runs" / "old" / "inner").symlink_to(elsewhere)
    os.utime(attic.home / "runs" / "old", (0, 0))
    (attic.home / "runs" / "a file").write_text("x")
    os.utime(attic.home / "runs" / "old" / "inner", (0, 0), follow_symlinks=False)
    attic.walk()
    assert attic.left == ["a file", "link"]
    assert (elsewhere / "trace.json").exists()
    assert (closed / "trace.json").exists()


def test_a_folder_of_runs_that_is_a_link_is_left_alone(attic: Attic) -> None:
    """Whoever put it elsewhere looks after it there."""
    elsewhere = attic.run("old", days_old=400, under="elsewhere")
    (attic.home / "runs").symlink_to(elsewhere.parent)
    attic.walk()
    assert elsewhere.exists()


def test_one_tick_does_a_little(attic: Attic) -> None:
    """However many there are; then it rests."""
    for number in range(LOOKS_PER_TICK + 20):
        attic.run(f"beat-{number}", days_old=100)
    attic.old_runs.tick()
    assert len(attic.left) == 20
    attic.walk()
    assert attic.left == []
    attic.run("beat-late", days_old=100)
    attic.walk()
    assert attic.left == ["beat-late"]
    attic.clock.advance(REST.total_seconds())
    attic.walk()
    assert attic.left == []


def test_what_a_crash_left_half_removed_goes_first(attic: Attic) -> None:
    """Its folder looks young, for it was being emptied."""
    attic.run(".old-beat-shop-1", days_old=0)
    attic.walk()
    assert attic.left == []


def test_more_years_than_there_were_keep_everything(tmp_path: Path) -> None:
    """The settings take them."""
    attic = Attic(tmp_path, timedelta(days=999_999))
    attic.run("beat-shop-1", days_old=9_000)
    attic.walk()
    assert attic.left == ["beat-shop-1"]


def test_null_keeps_everything(tmp_path: Path) -> None:
    """For whom the law says so."""
    attic = Attic(tmp_path, keep=None)
    attic.run("beat-shop-1", days_old=4_000)
    attic.walk()
    assert attic.left == ["beat-shop-1"]
