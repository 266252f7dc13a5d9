"""Notes by their names: listed, read, put away."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import NoteFiles
from bot.casework.note_commands import answer_notes, find_note, retire_note
from bot.domain.notes import note_text
from bot.errors import InputError


def test_notes_are_listed_found_and_retired_by_name(tmp_path: Path) -> None:
    """With or without folder and ending; near names are offered; another team's note is theirs to retire."""
    notes = NoteFiles(tmp_path / "memory")
    notes.create("retries", note_text("# How often we retry\n\nFive.", {"kind": "correction"}))
    notes.put("memory/shared/pay/limits.md", "# Limits\n")
    listed = answer_notes(notes, "list", "")
    assert [line.text for line in listed.parts[0].lines] == [
        "retries · How often we retry",
        "shared/pay/limits · Limits",
    ]
    for typed in ("retries", "retries.md", "memory/retries.md"):
        assert find_note(notes, typed).text.endswith("Five.\n")
    with pytest.raises(InputError, match=r"no note 'retires'. Did you mean retries\?"):
        find_note(notes, "retires")
    with pytest.raises(InputError, match="note of another team"):
        retire_note(notes, "shared/pay/limits")
    assert retire_note(notes, "retries").startswith("memory/retries.md is memory/retired/")
    with pytest.raises(InputError, match="There is no note"):
        find_note(notes, "retries")
