"""The contract of the port DecisionLog; below it, what only the disk can do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.adapters.storage.files.decision_log import DecisionLogFile
from bot.ports import DecisionLog
from tests.fakes import MemoryDecisionLog


@pytest.fixture(params=["file", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Callable[[], DecisionLog], Callable[[], str]]:
    """Open the same log again and again, and read it."""
    if request.param == "file":
        return lambda: DecisionLogFile(tmp_path), (tmp_path / "decisions.md").read_text
    lines: list[str] = []
    return lambda: MemoryDecisionLog(lines), lambda: "\n".join(f"- {line}" for line in lines)


def test_a_decision_stands_once_on_one_line(log: tuple[Callable[[], DecisionLog], Callable[[], str]]) -> None:
    """However often it is written down, and whatever is in it."""
    reopen, read = log
    reopen().note("accepted [a](x)", "accepted [a](x)\n- forged line\r\n# forged heading")
    reopen().note("accepted [a](x)", "accepted [a](x) again")
    reopen().note("rejected [b](y)", "rejected [b](y)")
    lines = [line for line in read().splitlines() if line.startswith("- ")]
    assert lines == ["- accepted [a](x) - forged line # forged heading", "- rejected [b](y)"]


def test_a_torn_last_line_stays_alone(tmp_path: Path) -> None:
    """The next decision begins a line of its own; what stood there is kept."""
    path = tmp_path / "decisions.md"
    path.write_text("# Decisions\n\n- half a li")
    DecisionLogFile(tmp_path).note("m", "m one")
    assert path.read_text() == "# Decisions\n\n- half a li\n- m one\n"
