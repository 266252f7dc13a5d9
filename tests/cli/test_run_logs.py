"""What a log line says: to whom or what it happened, and no secret."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli.run import FIELD_CHARS, log_to_stderr
from tests.cli.typed import log_settings


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    """One of ours; the handlers and levels of before come back."""
    with log_settings():
        yield logging.getLogger("bot.test")


def test_a_line_names_what_it_is_about(log: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    """The fields of the call stand behind the message; a line without any ends with its message."""
    log_to_stderr(verbose=False, secrets=())
    log.info("playbook created", extra={"action": "playbook_created", "path": "/code/HEARTBEAT.md", "session": "shop"})
    log.info("connected", extra={"action": "connected"})
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("bot.test: playbook created (path=/code/HEARTBEAT.md, session=shop)")
    assert second.endswith("bot.test: connected")


def test_a_field_is_one_line_and_holds_no_secret(log: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever somebody wrote into it."""
    log_to_stderr(verbose=False, secrets=["xoxb-12345678"])
    log.warning("odd", extra={"word": "a\n\x1b[31mb xoxb-12345678 " + "x" * 999})
    log.warning("odd", extra={"word": "x" * (FIELD_CHARS - 8) + "xoxb-12345678"})
    line, cut = capsys.readouterr().err.splitlines()
    assert "xoxb" not in cut
    assert "word=a [31mb " in line
    assert "xoxb-12345678" not in line
    assert len(line) < FIELD_CHARS + 100


def test_a_traceback_follows_the_fields(log: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    """And is redacted with the rest."""
    log_to_stderr(verbose=False, secrets=["hunter2hunter2"])
    try:
        raise ValueError("hunter2hunter2")
    except ValueError:
        log.exception("it broke", extra={"job": "j1"})
    said = capsys.readouterr().err
    assert said.splitlines()[0].endswith("it broke (job=j1)")
    assert "Traceback" in said
    assert "hunter2" not in said


def test_a_crash_prints_no_secret(tmp_path: Path) -> None:
    """Of the program or of one of its threads, whatever the error that nobody expected repeats."""
    code = (
        "import sys, threading; from bot.__main__ import main; sys.argv = ['triage', '--version']; main()\n"
        "def fail(): raise ValueError('in a thread: q8vT2mN5xR7wL1pK')\n"
        "thread = threading.Thread(target=fail); thread.start(); thread.join()\n"
        "raise ValueError('at last: q8vT2mN5xR7wL1pK')"
    )
    variables = {"PATH": os.environ["PATH"], "TELEGRAM_BOT_TOKEN": "q8vT2mN5xR7wL1pK"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 2
    assert "at last: [redacted" in done.stderr
    assert "q8vT2" not in done.stderr
