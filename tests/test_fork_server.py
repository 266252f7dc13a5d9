"""A process that was forked from a loaded bot is one of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from bot.release import program_version
from tests import fork_server
from tests.tables import each_row

ENV = {"PATH": os.environ["PATH"], "GIVEN": "to it alone"}


def test_it_says_what_a_process_of_its_own_says(tmp_path: Path) -> None:
    """Output and exit code."""
    done = fork_server.run("bot", "--version", env=ENV)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"triage {program_version()}\n", "")
    done = fork_server.run("bot", "heartbeat", "fly", env=ENV, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no command 'fly'" in done.stderr


def test_it_has_its_own_folder_environment_and_signals(tmp_path: Path) -> None:
    """Nothing of the server's; it ends as an interpreter does."""
    done = fork_server.run("tests.fork_witness", "word", env=ENV, cwd=tmp_path)
    assert done.stdout.splitlines() == ["['word']", str(tmp_path), str(ENV), "True", "at exit"]
    assert done.returncode == 3


@each_row("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_by_the_signal_that_it_is_sent(how: signal.Signals) -> None:
    """It is waited for with a limit, and a second signal to what has ended is no error."""
    process = fork_server.start("tests.fork_witness", "--wait", env=ENV)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    assert process.poll() is None
    process.send_signal(how)
    assert process.wait(300) == process.poll() == -how
    process.kill()


def test_it_is_spoken_with_by_lines() -> None:
    """A program that stands in a test reads and answers; its input ends with the test's."""
    program = "import sys; print(*sys.argv[1:], flush=True); print(sys.stdin.read().upper())"
    with fork_server.lines("tests.program", program, "one", "two") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "one two\n"
        process.stdin.write("three\n")
        process.stdin.close()
        assert process.stdout.read() == "THREE\n\n"
        assert process.wait(300) == 0
