"""`triage files`: the same paths and the same bytes, whether a disk or a database has them."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.cli.data_directory import store_at
from bot.ports import Store
from tests.postgres import new_database

NOTE = b"# Retries\n\nFive.\x1b[31m\n"


@pytest.fixture(params=["files", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """What a team keeps, and where commands look."""
    monkeypatch.setenv("TRIAGE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    if request.param == "postgres":
        url = new_database()
        from bot.adapters.storage.postgres.database import Database

        Database(url).close()  # as a start does, it makes the tables
        monkeypatch.setenv("TRIAGE_DATABASE_URL", url)
    (tmp_path / "home").mkdir()
    return store_at(tmp_path / "home", is_reader=False)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., bytes]:
    """Type a command and return what it printed."""

    def run(*words: str, stdin: bytes = b"", code: int = 0) -> bytes:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        assert main(["files", *words]) == code
        sys.stdout.flush()
        return capfdbinary.readouterr()[code > 0]

    return run


def test_a_note_is_put_shown_and_changed(store: Store, typed: Callable[..., bytes]) -> None:
    """Byte by byte, and found like any other."""
    assert typed("put", "memory/ops/retries.md", stdin=b"x") == (
        b"memory/ops/retries.md is kept; the next question finds it.\n"
    )
    typed("put", "memory/ops/retries.md", stdin=NOTE)
    assert typed("show", "memory/ops/retries.md") == NOTE
    assert typed("show", "memory") == typed("show", "memory/ops/") == b"memory/ops/retries.md\n"
    assert [note.title for note in store.notes.all()] == ["Retries"]
    store.notes.retire("memory/ops/retries.md")
    assert b"memory/ holds no notes" in typed("show", "memory", code=1)


@pytest.mark.parametrize("name", ["memory/../x.md", "notes.md", "memory/x.txt", "/etc/passwd", ""])
def test_only_a_note_is_put(store: Store, typed: Callable[..., bytes], name: str) -> None:
    """Nothing else in the data directory, and nothing outside."""
    typed("put", name, stdin=NOTE, code=1)
    assert list(store.notes.all()) == []


def test_what_is_no_text_or_too_long_is_not_kept(store: Store, typed: Callable[..., bytes]) -> None:
    """It says why."""
    assert b"no UTF-8" in typed("put", "memory/x.md", stdin=b"\xff", code=1)
    assert b"no text" in typed("put", "memory/x.md", stdin=b" \n", code=1)
    assert b"1,000,000" in typed("put", "memory/x.md", stdin=b"x" * 1_000_001, code=1)
    assert list(store.notes.all()) == []


def test_decisions_and_what_runs_left_are_shown(store: Store, typed: Callable[..., bytes], tmp_path: Path) -> None:
    """A folder is listed; a link in it is not followed out of it."""
    assert b"nothing was decided" in typed("show", "decisions.md", code=1)
    store.decisions.note("m", "m one")
    assert typed("show", "decisions.md").endswith(b"- m one\n")
    folder = store.runs.here("runs/r1")
    (folder / "work_products").mkdir(parents=True)
    (folder / "trace.json").write_bytes(b"{}")
    (tmp_path / "secret").write_text("s")
    (folder / "link").symlink_to(tmp_path / "secret")
    store.runs.publish("runs/r1")
    assert typed("show", "runs/r1/trace.json") == b"{}"
    assert b"runs/r1/trace.json\n" in typed("show", "runs/r1")
    for path in ("runs/r1/link", "runs/r2", "runs/../triage.yml", "runs", "events.ndjson", "runs/r1/../../x", ""):
        typed("show", path, code=1)


def test_without_a_verb_the_verbs_are_shown_once(typed: Callable[..., bytes]) -> None:
    """As of `triage` itself."""
    assert typed().count(b"Usage:") == 1
