"""What is written down of a beat, however it ended."""

from __future__ import annotations

import json
from pathlib import Path

from bot.adapters.storage.files.file_engine import FileRunFolders
from bot.domain.heartbeats.beats import BeatResult, BeatStep, Wake
from bot.heartbeat.run.beat_record import Beat, BeatRecorder
from bot.heartbeat.run.beat_view import BeatStart, EditKind, PlaybookEdit, PlaybookEditLog
from bot.heartbeat.sessions.session_registry import BeatLog, SessionMemory
from tests.fakes import MemoryJournal, MemoryStore
from tests.heartbeat.builders import AT, a_session


def test_what_a_beat_changed_is_on_record_however_it_ended(tmp_path: Path) -> None:
    """A run that was cancelled or failed may have edited its list before; a refusal leaves no folder."""
    store, journal = SessionMemory(MemoryStore()), MemoryJournal()
    record = BeatRecorder(FileRunFolders(tmp_path), store, BeatLog(journal))
    edit = PlaybookEdit(what=EditKind.NOTE, text="n")
    for name, made, result in [
        ("cancelled", [edit], BeatResult.SKIPPED),
        ("failed", [edit], BeatResult.FAILED),
        ("refused", [], BeatResult.SKIPPED),
    ]:
        begun = BeatStart(
            session=a_session(tmp_path),
            run_id=name,
            wake=Wake.INTERVAL,
            stamp_at=AT,
            started_at=AT,
            edits=PlaybookEditLog(made),
        )
        error = "no answer" if result is BeatResult.FAILED else None
        record.close(Beat(begun=begun, result=result, step=BeatStep.CANCELLED, error=error), AT)
    for name in ("cancelled", "failed"):
        trace = json.loads((tmp_path / "runs" / name / "trace.json").read_text())
        assert trace["edits"] == [{"what": "note", "tier": None, "text": "n"}]
    assert not (tmp_path / "runs" / "refused").exists()
    assert [line["trace_id"] for line in journal.records()] == ["cancelled", "failed", None]
