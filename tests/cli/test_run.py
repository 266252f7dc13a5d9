"""`triage run` while the first index is built: it listens, and however it ends the index ends with it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bot.adapters.search.index_build import BATCH_FILES
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.adapters.search.passage_store import PassageStore
from bot.agent.git.git_repo import GitRepo
from bot.cli.run import SignalQueue
from demo.slack_server import LocalSlack
from tests import fork_server
from tests.fork_server import ForkedProcess
from tests.gitrepo import git, make_repo
from tests.journeys.office import environment_of, write_config

FILES = BATCH_FILES + 700
_BODY = "".join(f"def handler_{n}(payload):\n    return payload + {n}\n\n" for n in range(5))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout whose first index takes a while."""
    path = make_repo(tmp_path_factory.mktemp("large") / "code")
    lines = ["commit refs/heads/main", "committer Test <t@example.com> 0 +0000", "data 0"]
    for number in range(FILES):
        body = f"# file {number}\n{_BODY}"
        lines += [f"M 100644 inline part{number % 50}/file{number}.py", f"data {len(body)}", body]
    argv = ["git", "-C", str(path), "fast-import", "--quiet"]
    subprocess.run(argv, input="\n".join(lines).encode(), check=True, timeout=180)
    assert git(path, "rev-parse", "HEAD")
    return path


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 0), (signal.SIGKILL, -signal.SIGKILL), pytest.param(signal.SIGTERM, 0, marks=pytest.mark.full)],
)
def test_the_bot_listens_during_the_first_index_and_ends_with_it(
    slack: LocalSlack, tmp_path: Path, large: Path, number: signal.Signals, code: int
) -> None:
    """Nobody goes on writing then; batches that were finished stand, and a next start goes on."""
    home = tmp_path / "home"
    database = home / "index" / "passages.sqlite"
    words = ["run", "--config", str(write_config(home, large))]
    out = tmp_path / "out"
    with out.open("w") as said:
        env = {**os.environ, **environment_of(slack, home)}
        process = fork_server.start("bot", *words, env=env, stdout=said, stderr=said)
    try:
        assert some_are_indexed(database, process)
        assert "is watching" in out.read_text()
        process.send_signal(number)
        assert process.wait(LIMIT_S) == code
    finally:
        process.kill()
    assert "Traceback" not in out.read_text()
    wait_until_nobody_builds(database)
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert database.stat().st_mode & 0o777 == 0o600  # whatever the umask of whoever started it
    done = count_files(database)
    assert done > 0  # all of them, where this process got no turn meanwhile
    report = SqlitePassageIndex(GitRepo(large), database).refresh()
    assert (report.files, report.read) == (FILES, FILES - done)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_program_is_still_loaded_ends_it_without_a_word(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Raised in the middle of an import, KeyboardInterrupt would come out as an error of a library."""
    with (tmp_path / "log").open("w+") as out:
        process = subprocess.Popen([sys.executable, "-m", "bot", "run"], stdout=out, stderr=out)
        until(lambda: process.poll() is not None or ignores_or_takes(process.pid, signal.SIGTERM))
        process.send_signal(number)
        assert process.wait(120) == 128 + number
        out.seek(0)
        assert out.read() == ""


def test_a_request_to_read_the_file_again_waits_until_the_bot_is_built(slack: LocalSlack, tmp_path: Path) -> None:
    """SIGHUP comes as soon as the data directory is taken: the start goes on, then the file is read again."""
    home, log = tmp_path / "home", tmp_path / "log"
    config = write_config(home, make_repo(tmp_path / "code", {"a.py": "x = 1\n"}))
    argv = [sys.executable, "-m", "bot", "run", "--config", str(config)]
    with log.open("w") as out:
        process = subprocess.Popen(argv, env={**os.environ, **environment_of(slack, home)}, stdout=out, stderr=out)
    try:
        until(lambda: (home / "lock").exists())
        assert ignores_or_takes(process.pid, signal.SIGHUP)
        while process.poll() is None and "Ctrl-C stops" not in log.read_text():
            process.send_signal(signal.SIGHUP)
            time.sleep(0.02)
        until(lambda: process.poll() is not None or "was read again" in log.read_text())
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0, log.read_text()
    finally:
        process.kill()


def ignores_or_takes(pid: int, number: signal.Signals) -> bool:
    """Whether a process has decided what it does about a signal; Linux says so in /proc."""
    status = Path(f"/proc/{pid}/status").read_text()
    masks = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigIgn:", "SigCgt:"))]
    return any(mask >> (number - 1) & 1 for mask in masks)


def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition; pytest-timeout ends what never comes."""
    while not holds():
        time.sleep(0.005)


def wait_until_nobody_builds(database: Path) -> None:
    """Wait until the lock of the index is free."""
    while True:
        with PassageStore(database).building() as is_ours:
            if is_ours:
                return
        time.sleep(0.02)


def some_are_indexed(database: Path, process: ForkedProcess) -> bool:
    """Wait until a batch stands in the index of a living process."""
    while process.poll() is None:
        if database.is_file() and count_files(database):
            return True
        time.sleep(0.02)
    return False


def count_files(database: Path) -> int:
    """Return how many files are indexed; 0 before there is a table."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM file WHERE state = 'searched'").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


LIMIT_S = 120
STORM = 2_000


def test_a_storm_of_signals_leaves_the_process_alive() -> None:
    """With `threading.Event.set` in the handlers one that interrupts another waits for it for ever."""
    with fork_server.lines("tests.cli.child", "signals") as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        for _ in range(STORM):
            os.kill(child.pid, signal.SIGHUP)
        child.send_signal(signal.SIGTERM)
        assert child.stdout.readline() == f"{sorted([int(signal.SIGHUP), int(signal.SIGTERM)])}\n"


def test_each_number_comes_once() -> None:
    """Twenty requests to read a file again are one reading; nothing is left for the next wait."""
    signals = SignalQueue()
    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM, signal.SIGHUP):
        signals.put(number)
    assert signals.wait(LIMIT_S) == {signal.SIGHUP, signal.SIGTERM}
    assert signals.wait(0) == set()


def test_a_stop_that_never_ends_is_cut_short() -> None:
    """Whatever hangs: here the stop itself, as where a database takes a statement and never answers."""
    done = fork_server.run("tests.cli.child", "stop", env=os.environ)
    assert (done.returncode, "the next start takes up what is left" in done.stderr) == (1, True)
