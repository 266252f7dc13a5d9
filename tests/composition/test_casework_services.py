"""What a start says of journals that hold what cannot be read."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.storage.files.file_engine import FileStore
from bot.composition.casework_services import unreadable_lines


def test_a_record_of_beats_that_the_disk_does_not_give_back_is_told_of_and_stops_no_start(tmp_path: Path) -> None:
    """Bad lines are counted; a file that answers with an error is named."""
    (tmp_path / "replies.ndjson").write_bytes(b"\xff\n{}\n")
    (tmp_path / "heartbeats.ndjson").mkdir()
    lines, broken = unreadable_lines(FileStore(tmp_path))
    assert lines == "Skipped 1 unreadable line in replies.ndjson."
    assert broken.startswith("heartbeats.ndjson could not be looked through: cannot read ")
