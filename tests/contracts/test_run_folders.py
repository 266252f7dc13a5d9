"""The contract of the port RunFolders, run over every engine; below it, what only a database has to do.

Each engine is one data directory for each machine: with files there is one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from bot.adapters.storage.files.file_engine import FileRunFolders
from bot.adapters.storage.files.retention import RunRetention, last_touched
from bot.agent.ledger import Ledger
from bot.agent.run_records import RunRecorder
from bot.domain.secrets import OWN_SECRET
from bot.domain.threads import ThreadState, ThreadStatus
from bot.errors import StoreError
from bot.ports import RunFolders
from tests.builders import THREAD_ID, in_status
from tests.fakes import FakeClock
from tests.postgres import new_namespace, shared_database

Open = Callable[[str], RunFolders]
RUN: Final = "runs/T1.C1.9.9-r1"
LONG: Final = f"escalations/{THREAD_ID}"


def _postgres(machines: Path) -> Open:
    database, namespace = shared_database(), new_namespace()
    from bot.adapters.storage.postgres.postgres_engine import PostgresRunFolders

    return lambda machine: PostgresRunFolders(database, namespace, machines / machine)


ENGINES: Final[Mapping[str, Callable[[Path], Open]]] = {
    "files": lambda machines: lambda _: FileRunFolders(machines / "one"),
    "postgres": _postgres,
}


@pytest.fixture(params=ENGINES)
def on(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open the folders on a machine; all machines work on the same state."""
    return ENGINES[request.param](tmp_path)


@pytest.fixture
def replica(tmp_path: Path) -> Open:
    """The same with a data directory for each machine."""
    return _postgres(tmp_path)


def write(folders: RunFolders, folder: str, files: Mapping[str, bytes]) -> Path:
    """Write files on one machine."""
    path = folders.here(folder)
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def files_of(folders: RunFolders, folder: str = RUN) -> dict[str, bytes]:
    """Return what can be read of a folder."""
    path = folders.fetch(folder)
    return {one.relative_to(path).as_posix(): one.read_bytes() for one in path.rglob("*") if one.is_file()}


def test_what_one_machine_published_all_others_read(on: Open) -> None:
    """Byte by byte, below folders, empty files too; more than once."""
    files = {"trace.json": b"{}", "work_products/p.diff": b"\0\xff" * 3, "run.log": b"", ".done": b""}
    write(on("a"), RUN, files)
    on("a").publish(RUN)
    for machine in ("b", "b", "a"):
        assert files_of(on(machine)) == files


def test_what_was_never_there_is_not_there(on: Open) -> None:
    """And is published in vain."""
    on("a").publish(RUN)
    assert files_of(on("b")) == {}
    assert not on("b").fetch(RUN).exists()


def test_a_run_recorded_on_one_machine_is_checked_on_another(on: Open) -> None:
    """Its ledger and its costs, also of one that failed; secrets are cut out of it."""
    ledger = Ledger().record_query("search_code", "limit")
    with RunRecorder(on("a"), FakeClock(), {"hunter22"}).recording("r1", "round 1") as run:
        run.trace, run.transcript = {"ledger": ledger.model_dump(mode="json")}, "it is hunter22"
    there = RunRecorder(on("b"), FakeClock())
    assert there.ledger("r1") == ledger
    assert there.ledger("r2") is None
    assert files_of(on("b"), "runs/r1")["transcript.md"] == f"it is [redacted: {OWN_SECRET}]".encode()


def test_long_runs_that_ended_are_counted(on: Open) -> None:
    """Since a moment; one that goes on is none."""
    write(on("a"), LONG, {".done": b"", "return.json": b"{}"})
    write(on("a"), "escalations/T.C.2.2", {"claimed": b""})
    for folder in (LONG, "escalations/T.C.2.2", RUN):
        on("a").publish(folder)
    now = datetime.now(UTC)
    assert on("b").long_runs_since(now - timedelta(hours=1)) == 1
    assert on("b").long_runs_since(now + timedelta(hours=1)) == 0


def test_what_was_published_before_its_end_is_read_anew(replica: Open) -> None:
    """By those who have read it, too; what is as new is neither stored nor read again."""
    path = write(replica("a"), RUN, {"run.log": b"begun", "old": b"x"})
    set_age(path, days=2)
    replica("a").publish(RUN)
    assert files_of(replica("b")) == {"run.log": b"begun", "old": b"x"}
    read_at = last_touched(replica("b").here(RUN))
    (path / "old").unlink()
    (path / "run.log").write_bytes(b"ended")
    replica("b").publish(RUN)
    replica("a").publish(RUN)
    assert files_of(replica("b")) == {"run.log": b"ended"}
    assert read_at < last_touched(replica("b").here(RUN)) <= last_touched(path)


def test_a_long_file_is_stored_in_chunks(replica: Open) -> None:
    """What does not compress as well; beyond the limit it is cut off."""
    from bot.adapters.storage.postgres.postgres_engine import CHUNK_BYTES, MAX_FILE_BYTES

    noise = os.urandom(CHUNK_BYTES + 7)
    path = write(replica("a"), RUN, {"transcript.log": noise})
    with (path / "endless.log").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    replica("a").publish(RUN)
    read = files_of(replica("b"))
    assert read["transcript.log"] == noise
    assert len(read["endless.log"]) == MAX_FILE_BYTES


def test_links_are_not_stored(replica: Open, tmp_path: Path) -> None:
    """A run may leave one to what is not its own."""
    path = write(replica("a"), RUN, {"run.log": b"x"})
    (tmp_path / "secret").write_text("s")
    (path / "link").symlink_to(tmp_path / "secret")
    (path / "all").symlink_to(tmp_path)
    os.mkfifo(path / "pipe")
    replica("a").publish(RUN)
    assert files_of(replica("b")) == {"run.log": b"x"}


def test_a_folder_that_is_damaged_in_the_database_leaves_the_old_one(replica: Open) -> None:
    """Half of one is never seen."""
    folder = "runs/damaged"
    write(replica("a"), folder, {"run.log": b"new"})
    replica("a").publish(folder)
    path = write(replica("b"), folder, {"run.log": b"old"})
    set_age(path, days=1)
    with shared_database().writing() as connection:
        connection.execute("UPDATE triage_run_files SET content = %s WHERE folder = %s", [b"no zlib", folder])
    with pytest.raises(StoreError, match=folder):
        replica("b").fetch(folder)
    assert (path / "run.log").read_bytes() == b"old"
    assert [one.name for one in path.parent.iterdir()] == [path.name]


class TestRetention:
    """A walk over the folders of one machine."""

    def retention(self, folders: RunFolders, keep: timedelta | None, threads: list[ThreadState]) -> RunRetention:
        clock = FakeClock()
        clock.advance((datetime.now(UTC) - clock.now()).total_seconds())
        return RunRetention(folders.here(""), keep, clock, lambda: threads, folders)

    def test_what_a_killed_run_left_is_published_by_the_next_start(self, replica: Open) -> None:
        """By whoever has its files, however long things are kept."""
        write(replica("a"), RUN, {"run.log": b"begun"})
        write(replica("a"), "runs/.new-x", {"run.log": b"half"})
        self.retention(replica("a"), None, []).tick()
        assert files_of(replica("b")) == {"run.log": b"begun"}
        assert not replica("b").fetch("runs/.new-x").exists()

    def test_old_ones_go_here_and_there_but_for_those_of_open_threads(self, replica: Open) -> None:
        """Also where the machine that had them is gone."""
        kept = f"runs/{THREAD_ID}-r1"
        for folder in (RUN, kept):
            set_age(write(replica("a"), folder, {"run.log": b"x"}), days=91)
            replica("a").publish(folder)
        retention = self.retention(replica("b"), timedelta(days=90), [in_status(ThreadStatus.INVESTIGATING)])
        replica("b").fetch(RUN)
        for _ in range(2):  # what is here, then what only the database has
            retention.tick()
        assert files_of(replica("c"), kept) == {"run.log": b"x"}
        assert not replica("c").fetch(RUN).exists()
        assert not replica("b").here(RUN).exists()
        assert list(replica("c").folders()) == [kept]


def set_age(folder: Path, *, days: float) -> None:
    """Have a folder look as if it had been written so long ago."""
    at = (datetime.now(UTC) - timedelta(days=days)).timestamp()
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (at, at))
