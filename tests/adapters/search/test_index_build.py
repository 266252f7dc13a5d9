"""An index that another process builds: waited for a while, searched as far as it is, ended with whoever started it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.adapters.search.index_build import BATCH_FILES, IndexProcess, index
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.adapters.search.passage_store import PassageStore
from bot.agent.git.git_repo import GitRepo
from tests.gitrepo import make_repo

FILES = BATCH_FILES + 50


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with more files than are indexed at once."""
    path = make_repo(tmp_path_factory.mktemp("large") / "code")
    lines = ["commit refs/heads/main", "committer Test <t@example.com> 0 +0000", "data 0"]
    for number in range(FILES):
        body = f"zeppelin_{number} = 'moored'\n"
        lines += [f"M 100644 inline src/m{number:04}.py", f"data {len(body)}", body]
    argv = ["git", "-C", str(path), "fast-import", "--quiet"]
    subprocess.run(argv, input="\n".join(lines).encode(), check=True, timeout=180)
    return path


class _Killed(BaseException):
    pass


def _die(_done: int, _total: int) -> None:
    raise _Killed


def half_built(code: Path, database: Path) -> None:
    """Leave an index whose building was cut off behind its first batch."""
    with pytest.raises(_Killed):
        SqlitePassageIndex(GitRepo(code), database).refresh(_die)


def wait_for_end(process: IndexProcess) -> None:
    while process.is_running:
        time.sleep(0.02)


def wait_until_it_waits(process: IndexProcess) -> None:
    """Return once it sleeps on the lock; the kernel lists who waits for one as `->`."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    while not any(
        f"-> FLOCK  ADVISORY  WRITE {pid} " in Path("/proc/locks").read_text() for pid in children.read_text().split()
    ):
        assert process.is_running
        time.sleep(0.02)


def test_while_another_process_builds_what_is_there_is_searched_and_the_rest_named(code: Path, tmp_path: Path) -> None:
    """Nobody waits longer than agreed, and not again for the same commit."""
    database = tmp_path / "passages.sqlite"
    half_built(code, database)
    passages = SqlitePassageIndex(GitRepo(code), database, wait_s=0.2)
    with PassageStore(database).building() as is_ours:
        assert is_ours
        gaps = passages.refresh().gaps
        assert (gaps.waiting, gaps.total) == (FILES - BATCH_FILES, FILES)
        assert passages.search("zeppelin_7")[0].path == "src/m0007.py"
        last = f"src/m{FILES - 1:04}.py"
        assert last not in {one.path for one in passages.search(f"zeppelin_{FILES - 1}")}
        passages._wait_s = 6_000.0
        passages.refresh()
    assert passages.refresh().gaps.waiting == 0
    assert passages.search(f"zeppelin_{FILES - 1}")[0].path == last


def test_many_files_are_left_to_the_process_beside(code: Path, tmp_path: Path) -> None:
    """Whoever asks waits for it; a second question finds it done."""
    database = tmp_path / "passages.sqlite"
    beside = IndexProcess(code, database, ["a-secret-of-ours"])
    passages = SqlitePassageIndex(GitRepo(code), database, beside=beside, at_once=FILES - 1)
    try:
        report = passages.refresh(waits=False)
        assert (report.read, report.gaps.waiting, report.gaps.total) == (0, FILES, FILES)
        assert beside.is_running
        assert passages.refresh().gaps.waiting == 0
        assert passages.refresh(waits=False).files == FILES
    finally:
        passages.close()
    assert not beside.is_running


def test_a_process_that_comes_while_the_index_is_looked_at_waits_its_turn(code: Path, tmp_path: Path) -> None:
    """It once ended at once, and each question that looked kept the next one from its work."""
    database = tmp_path / "passages.sqlite"
    beside = IndexProcess(code, database, [])
    passages = SqlitePassageIndex(GitRepo(code), database, beside=beside, at_once=0)
    try:
        with PassageStore(database).building() as is_ours:
            assert is_ours
            assert beside.start()
            wait_until_it_waits(beside)
            assert passages.refresh(waits=False).read == 0
            assert beside.is_running
        wait_for_end(beside)
        assert passages.refresh(waits=False).gaps.waiting == 0
    finally:
        passages.close()


def test_the_process_ends_well(code: Path, tmp_path: Path) -> None:
    """Python aborts, with a trace in the log, where a thread reads standard input at the end."""
    request = json.dumps({"root": str(code), "database": str(tmp_path / "passages.sqlite"), "secrets": []})
    argv = [sys.executable, "-m", IndexProcess.__module__]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(request.encode() + b"\n")
        process.stdin.flush()
        assert (process.wait(180), process.stderr.read()) == (0, b"")


def test_a_process_that_was_closed_starts_no_more(code: Path, tmp_path: Path) -> None:
    """What it has finished is whole, and the next one goes on from there."""
    database = tmp_path / "passages.sqlite"
    beside = IndexProcess(code, database, [])
    assert beside.start()
    beside.close()
    assert not beside.start()
    index(code, database, [])
    assert SqlitePassageIndex(GitRepo(code), database).refresh().read == 0


def test_the_process_has_no_secret_in_its_environment(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of ours nor of anybody's; it gets them through a pipe."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-of-ours")
    beside = IndexProcess(code, tmp_path / "passages.sqlite", ["xoxb-of-ours"])
    assert beside.start()
    environments = [path.read_bytes() for path in _children(os.getpid())]
    wait_for_end(beside)
    beside.close()
    assert environments
    assert not any(b"xoxb" in one for one in environments)


def _children(pid: int) -> list[Path]:
    """Return the environment files of the index processes that a process has started."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path(f"/proc/{child}/environ") for child in started]
