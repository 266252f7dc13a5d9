"""`triage run` told to stop before it has begun."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from demo.slack_server import LocalSlack
from tests.gitrepo import git, make_repo
from tests.journeys.office import environment_of, write_config

FILES = 5_000
_BODY = "".join(f"def handler_{n}(payload):\n    return payload + {n}\n\n" for n in range(60))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout whose first index takes a while."""
    path = make_repo(tmp_path_factory.mktemp("large") / "code")
    lines = ["commit refs/heads/main", "committer Test <t@example.com> 0 +0000", "data 0"]
    for number in range(FILES):
        body = f"# file {number}\n{_BODY}"
        lines += [f"M 100644 inline part{number % 50}/file{number}.py", f"data {len(body)}", body]
    argv = ["git", "-C", str(path), "fast-import", "--quiet"]
    subprocess.run(argv, input="\n".join(lines).encode(), check=True, timeout=60)
    assert git(path, "rev-parse", "HEAD")
    return path


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_a_stop_during_the_first_index_is_obeyed_at_once(
    slack: LocalSlack, tmp_path: Path, large: Path, number: signal.Signals, code: int
) -> None:
    """The process ends with the signal's exit code, quietly; batches it finished stand, and a next start goes on."""
    home = tmp_path / "home"
    argv = [sys.executable, "-m", "bot", "run", "--config", str(write_config(home, large))]
    env = {**os.environ, **environment_of(slack, home)}
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert some_are_indexed(home / "index" / "passages.sqlite", process)
            process.send_signal(number)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, out) == (code, "")
    assert "Traceback" not in err
    database = home / "index" / "passages.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    done = count_files(database)
    assert 0 < done < FILES / 2  # not waited for; counted in files, for a busy machine takes longer over each
    report = SqlitePassageIndex(GitRepo(large), database).refresh()
    assert (report.files, report.read) == (FILES, FILES - done)


def some_are_indexed(database: Path, process: subprocess.Popen[str]) -> bool:
    """Wait until a batch stands in the index of a living process."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if database.is_file() and count_files(database):
            return True
        time.sleep(0.02)
    return False


def count_files(database: Path) -> int:
    """Return how many files are indexed; 0 before there is a table."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM file").fetchone()[0])
        except sqlite3.OperationalError:
            return 0
