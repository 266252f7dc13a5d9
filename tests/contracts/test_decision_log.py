"""The contract of the port DecisionLog, run over every engine; below it, what only files can do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from bot.adapters.storage.files.file_engine import HEAD, DecisionLogFile
from bot.ports import DecisionLog
from tests.fakes import MemoryDecisionLog
from tests.postgres import new_namespace, shared_database

Open = Callable[[], DecisionLog]


def _postgres(_: Path) -> Open:
    database, namespace = shared_database(), new_namespace()
    from bot.adapters.storage.postgres.postgres_engine import PostgresStore

    return lambda: PostgresStore(database, namespace, Path()).decisions


def _memory(_: Path) -> Open:
    lines: list[str] = []
    return lambda: MemoryDecisionLog(lines)


ENGINES: Final[Mapping[str, Callable[[Path], Open]]] = {
    "files": lambda home: lambda: DecisionLogFile(home),
    "postgres": _postgres,
    "memory": _memory,
}


@pytest.fixture(params=ENGINES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open the same log again and again, as every replica does."""
    return ENGINES[request.param](tmp_path)


@pytest.fixture(params=["files", "postgres"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """The same of what several processes write to."""
    return ENGINES[request.param](tmp_path)


def lines(log: DecisionLog) -> list[str]:
    """Return what was decided, as it is read."""
    return [line for line in log.text().splitlines() if line.startswith("- ")]


def test_the_whole_of_a_move_reads_the_same(shared: Open) -> None:
    """And goes on from there."""
    text = f"{HEAD}- one\n- two\n"
    shared().restore(text)
    assert shared().text() == text
    shared().note("three", "three")
    assert shared().text() == f"{text}- three\n"


def test_a_decision_stands_once_on_one_line(reopen: Open) -> None:
    """However often it is written down, and whatever is in it."""
    assert reopen().text() == ""
    reopen().note("accepted [a](x)", "accepted [a](x)\n- forged line\r\n# forged heading")
    reopen().note("accepted [a](x)", "accepted [a](x) again")
    reopen().note("rejected [b](y)", "rejected [b](y)")
    assert lines(reopen()) == ["- accepted [a](x) - forged line # forged heading", "- rejected [b](y)"]


def test_two_who_note_the_same_at_once_leave_one_line(shared: Open) -> None:
    """And one for each of the others."""
    marks = ["same"] * 4 + [f"other{number}" for number in range(4)]
    writers = [threading.Thread(target=lambda m=mark: shared().note(m, f"{m} [x]")) for mark in marks]  # type: ignore[misc]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(lines(shared())) == [*(f"- other{number} [x]" for number in range(4)), "- same [x]"]


def test_what_is_exported_reads_the_same_and_is_still_noted_once(shared: Open, tmp_path: Path) -> None:
    """Half of a surrogate pair is a question mark everywhere."""
    shared().note("a", 'a "quoted" \ud83d <é>')
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "decisions.md").write_text(shared().text())
    exported = DecisionLogFile(tmp_path / "out")
    exported.note("a", "a again")
    assert exported.text() == shared().text()
    assert lines(exported) == ['- a "quoted" ? <é>']


def test_a_torn_last_line_stays_alone(tmp_path: Path) -> None:
    """The next decision begins a line of its own; what stood there is kept."""
    path = tmp_path / "decisions.md"
    path.write_text("# Decisions\n\n- half a li")
    DecisionLogFile(tmp_path).note("m", "m one")
    assert path.read_text() == "# Decisions\n\n- half a li\n- m one\n"
