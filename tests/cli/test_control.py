"""`triage heartbeat …` beside a running bot and without one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import NoteFiles
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.pause import PauseSwitch, read_pause
from bot.domain.heartbeats.beats import BeatResult, BeatStep, Envelope, Indicator, Wake
from bot.heartbeat.session_registry import BeatLog
from bot.ports.collections import HOME
from tests.fakes import FakeClock

CONFIG = """
codebase: shop
ops_channel: C0OPS
sessions:
  shop-api: {cwd: shop, owner: U0ANN, name: Shop API, heartbeat: {every: 30m}}
  tooling: {cwd: api, master: true, heartbeat: {active_hours: {timezone: Europe/Berlin}, enabled: false}}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory, and a folder with triage.yml in it to work in."""
    for name in ("shop", "api", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "triage.yml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIAGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    return tmp_path / "home"


def typed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that succeeds and return what it printed."""
    assert main(["heartbeat", *words]) == 0
    return capsys.readouterr().out


def test_programs_get_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The list and the log."""
    listed = json.loads(typed(capsys, "list", "--json"))
    assert [(row["id"], row["status"], row["master"]) for row in listed] == [
        ("shop-api", "new", False),
        ("tooling", "off", True),
    ]
    beat = Envelope(
        ts=datetime(2026, 11, 21, 12, tzinfo=UTC),
        session_id="shop-api",
        workspace_dir="/x",
        reason=Wake.INTERVAL,
        result=BeatResult.SKIPPED,
        indicator=Indicator.NONE,
        why="no route: nobody",
        step=BeatStep.ROUTE,
    )
    BeatLog(NdjsonJournal(home / "heartbeats.ndjson")).append(beat)
    assert json.loads(typed(capsys, "log", "shop-api", "--json")) == [beat.model_dump(mode="json")]
    assert "no route: nobody" in typed(capsys, "log", "shop-api")
    assert "■ End  no route: nobody" in typed(capsys, "why", "shop-api")
    assert "Next: triage heartbeat run tooling" in typed(capsys, "why", "tooling")
    assert json.loads(typed(capsys, "why", "tooling", "--json")) == []


def test_a_wake_is_left_and_it_is_said_whether_a_bot_finds_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a bot it waits."""
    assert "triage is not running on" in typed(capsys, "wake", "shop-api")
    lock = FileLeases(home).take(HOME)
    try:
        assert "starts it in a few seconds" in typed(capsys, "run", "shop-api")
        assert "starts it" in typed(capsys, "run", "Tooling")
    finally:
        lock.release()
    assert sorted(path.name for path in (home / "wakes").glob("[!.]*")) == [
        "shop-api.automation",
        "shop-api.on_demand",
        "tooling.on_demand",
    ]


def test_switches_are_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what to type to go back."""
    assert "triage heartbeat on shop-api" in typed(capsys, "off", "shop-api")
    assert "shop-api  off" in typed(capsys, "list")
    assert "is on" in typed(capsys, "on", "shop-api")
    assert "shop-api  new" in typed(capsys, "list")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["why", "shop"], "did you mean shop-api?"),
        (["every", "shop-api", "often"], "'often' is not an interval"),
        (["wake", "nobody"], "there is no session 'nobody'"),
        (["assign", "shop", "Look"], "did you mean shop-api?"),
    ],
)
def test_what_cannot_be_done_is_told(
    home: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    """On stderr, with exit code 1."""
    assert main(["heartbeat", *words]) == 1
    assert says in capsys.readouterr().err
    assert not (home / "wakes").exists()


def test_a_running_bot_follows_the_terminal(tmp_path: Path) -> None:
    """It notices both, each once."""
    running = PauseSwitch(FileDocuments(tmp_path), FakeClock())
    assert main(["pause", "--home", str(tmp_path)]) == 0
    assert (running.is_paused, running.follow(), running.is_paused, running.follow()) == (False, True, True, False)
    assert main(["resume", "--home", str(tmp_path)]) == 0
    assert (running.follow(), running.is_paused) == (True, False)


def test_the_first_pause_stands_and_a_second_resume_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both say so."""
    PauseSwitch(FileDocuments(tmp_path), FakeClock()).pause(by="U2", name="ana")
    assert main(["pause", "--home", str(tmp_path)]) == 0
    assert "already paused by @ana" in capsys.readouterr().out
    assert main(["resume", "--home", str(tmp_path)]) == 0
    assert read_pause(FileDocuments(tmp_path)) is None
    assert main(["resume", "--home", str(tmp_path)]) == 0
    assert "Nothing is paused" in capsys.readouterr().out


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NoteFiles:
    """The notes of the data directory that the commands find."""
    monkeypatch.setenv("TRIAGE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    return NoteFiles(tmp_path / "home" / "memory")


def test_notes_are_listed_shown_and_retired(notes: NoteFiles, capsys: pytest.CaptureFixture[str]) -> None:
    """With what they rest on; control characters never reach the terminal."""
    cites = '[{"path": "a.py", "lines": "3-4", "commit": "0123456", "quote": "x"}]'
    notes.create("retries", f'---\nsaved_by: "U1"\ncites: {cites}\n---\n\n# Retries\n\nFive\x1b[31m.\n')
    assert main(["notes"]) == 0
    assert capsys.readouterr().out == "1 note\n  retries · Retries\n\nNext: triage notes show <note>\n"
    assert main(["notes", "show", "memory/retries.md"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "Five" in shown
    assert "Rests on a.py:3-4" in shown
    assert main(["notes", "retire", "retries"]) == 0
    assert "no search finds it" in capsys.readouterr().out
    assert list(notes.all()) == []
