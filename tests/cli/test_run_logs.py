"""What a log line says: to whom or what it happened, and no secret."""

from __future__ import annotations

import logging
from collections.abc import Iterator

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
    (line,) = capsys.readouterr().err.splitlines()
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
