"""The one runner of git: limits of time and size, input and output at once, a clean environment, an end at a stop."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.agent.git.git_process import KEPT_BYTES, GitFailed, GitProcess, Patience
from bot.errors import ConfigError
from tests.tables import each_row

Script = Callable[[str], GitProcess]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Puts a shell script first in PATH in the place of git."""
    ordinary = os.environ["PATH"]

    def make(body: str) -> GitProcess:
        (tmp_path / "git").write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{ordinary}")
        return GitProcess(tmp_path)

    return make


def test_git_reads_and_prints_more_than_a_pipe_holds(script: Script) -> None:
    """Neither side waits for the other; one that reads nothing is no failure."""
    given = os.urandom(3_000_000)
    assert script("cat").run("x", given=given) == given
    assert script("echo done").run("x", given=given) == b"done\n"


def test_what_git_prints_is_cut_at_the_limit(script: Script) -> None:
    """And git ends there, also where it would print for ever."""
    assert script("yes").run_capped("x", max_bytes=5) == (b"y\ny\ny", False)
    assert script("printf 12345").run_capped("x", max_bytes=5) == (b"12345", True)


def test_a_failure_has_gits_last_words_and_its_exit_code(script: Script) -> None:
    """Of a long lament the end is kept."""
    with pytest.raises(GitFailed, match=r"git log failed in /.*: fatal: no such thing") as caught:
        script("yes lament | head -n 9999 >&2; echo 'fatal: no such thing' >&2; exit 128").run("log")
    assert (caught.value.code, len(caught.value.said)) == ("128", KEPT_BYTES)
    with pytest.raises(GitFailed, match="exit code 3"):
        script("exit 3").run("log")
    assert script("exit 1").run_capped("grep", max_bytes=1, fine=(0, 1)) == (b"", True)


@each_row(
    "body, patience, why",
    [
        ("exec sleep 600", Patience(timeout_s=0.1), "it took over 0.1 s"),
        ("exec sleep 600", Patience(silence_s=0.1), "nothing came for 0.1 s"),
        ("yes", Patience(timeout_s=0.01), "it took over 0.01 s"),
        ("yes", Patience(stop=threading.Event()), "triage is stopping"),
    ],
)
def test_git_is_not_waited_for_any_longer(script: Script, body: str, patience: Patience, why: str) -> None:
    """It took too long, or fell silent, or triage stops."""
    parts = script(body).stream("fetch", patience=patience)
    if patience.stop is not None:
        next(parts)
        patience.stop.set()
    with pytest.raises(GitFailed) as caught:
        deque(parts, maxlen=0)
    assert (caught.value.reason, caught.value.code) == (why, None)


def test_what_git_started_ends_with_it(script: Script, tmp_path: Path) -> None:
    """Where it is not waited for, its helpers are killed as well."""
    git = script(f"sleep 600 & echo $! > {tmp_path / 'pid'}; echo begun; wait")
    assert git.run_capped("fetch", max_bytes=1) == (b"b", False)
    stat = Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
        threading.Event().wait(0.01)


def test_a_helper_that_git_leaves_behind_is_not_waited_for(script: Script) -> None:
    """Git has ended; the helper holds its pipes."""
    assert script("sleep 3 & echo done").run("x") == b"done\n"


def test_git_gets_no_secret_and_no_configuration(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the environment of triage only what any program needs."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    said = script('env; echo "$@"').run("status", timeout_s=60).decode()
    assert "xoxb-1" not in said
    assert "/elsewhere" not in said
    assert "HOME=/nonexistent" in said
    assert "core.hooksPath=/dev/null" in said


def test_a_machine_without_git_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator has to install it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="apt-get install git"):
        GitProcess(tmp_path).run("status")
