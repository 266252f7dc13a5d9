"""What a start says of journals that hold what cannot be read."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.storage.files.file_engine import FileStore
from bot.composition.startup_report import forgotten_sessions, unreadable_lines
from bot.config.settings import Settings
from bot.ports.collections import HEARTBEATS


def test_a_record_of_beats_that_the_disk_does_not_give_back_is_told_of_and_stops_no_start(tmp_path: Path) -> None:
    """Bad lines are counted; a file that answers with an error is named."""
    (tmp_path / "replies.ndjson").write_bytes(b"\xff\n{}\n")
    (tmp_path / "heartbeats.ndjson").mkdir()
    lines, broken = unreadable_lines(FileStore(tmp_path))
    assert lines == "Skipped 1 unreadable line in replies.ndjson."
    assert broken.startswith("heartbeats.ndjson could not be looked through: cannot read ")


def test_a_session_that_had_beats_and_is_not_remembered_is_told_of(tmp_path: Path) -> None:
    """Not one that is new, or that is remembered."""
    store = FileStore(tmp_path)
    for session_id in ("lost", "kept", "removed"):
        store.journal(HEARTBEATS).append({"session_id": session_id})
    store.documents.put("sessions", "kept", {}, version=0)
    sessions = {name: {"cwd": str(tmp_path), "owner": "U0ANA"} for name in ("lost", "kept", "new")}
    settings = Settings.model_validate({"codebase": str(tmp_path), "ops_channel": "C0OPS", "sessions": sessions})
    [line] = forgotten_sessions(store, settings)
    assert line.startswith("What was remembered of session lost between beats is gone.")
