"""`triage notes`: what `/triage notes` does, wherever the notes are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_engine import NoteFiles


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


def test_what_is_not_there_is_said(notes: NoteFiles, capsys: pytest.CaptureFixture[str]) -> None:
    """Without notes how one is saved; of an unknown name the near one."""
    assert main(["notes", "list"]) == 0
    assert "There are no notes" in capsys.readouterr().out
    notes.create("retries", "# Retries\n")
    assert main(["notes", "show", "retires"]) == 1
    assert "Did you mean retries?" in capsys.readouterr().err
