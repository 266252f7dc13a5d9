"""What a beat changed in its playbook, how long its commands took, and what is written down of it."""

from __future__ import annotations

import json
from pathlib import Path

from bot.adapters.storage.files.file_engine import FileRunFolders
from bot.domain.heartbeats.beats import BeatResult, BeatStep, Wake
from bot.domain.playbook_entries import task_id
from bot.domain.tiers import TaskHistory, Tier
from bot.errors import ProviderError
from bot.heartbeat.run.beat_record import Beat, BeatRecorder, BeatStart, PlaybookEdit, counted_edits, described_edits
from bot.heartbeat.run.probes import ProbeReport, ProbeResult
from bot.heartbeat.session_registry import BeatLog, SessionMemory
from tests.fakes import MemoryJournal, MemoryStore
from tests.heartbeat.builders import AT, a_session, a_view

STATUS = ("git", "status", "--porcelain")
TREE = "Working tree: `git status --porcelain`"
TREE_ID = task_id(" ".join(STATUS))
SLOW = TaskHistory(text=TREE, tier=Tier.QUICK, seconds=(12.0, 14.0, 13.0))


def test_boxes_are_no_news() -> None:
    """They are in the trace alone."""
    ticked = [PlaybookEdit("checked", "quick", "x")]
    assert (described_edits(ticked), counted_edits(ticked)) == ("", "")


def test_many_edits_are_told_in_few_words() -> None:
    """The rest is counted; the trace has them all."""
    edits = [PlaybookEdit("added", "notes", f"note {number} {'x' * 200}") for number in range(5)]
    said = described_edits(edits)
    assert said.startswith("Changed in HEARTBEAT.md: added to notes “note 0 xxx")
    assert said.endswith("…”; and 2 more")
    assert len(said) < 400
    assert counted_edits(edits) == "5 edits to HEARTBEAT.md"


def test_a_beat_remembers_how_long_the_commands_of_a_task_took(tmp_path: Path) -> None:
    """By task; one that left the playbook is forgotten."""
    store = SessionMemory(MemoryStore())
    store.evolve("shop", measured={"gone": SLOW})
    result = ProbeResult(argv=STATUS, output="", exit_code=0, seconds=11.5)
    view = a_view(tmp_path, tier=Tier.DAILY, probes=ProbeReport(results=(result,)))
    record = BeatRecorder(FileRunFolders(tmp_path), store, BeatLog(MemoryJournal()))
    after = record.close(Beat(begun=view, view=view, good=True), AT).measured
    assert after[TREE_ID].seconds == (11.5,)
    assert "gone" not in after


def test_what_a_beat_changed_is_on_record_however_it_ended(tmp_path: Path) -> None:
    """A run that was cancelled or failed may have edited its list before; a refusal leaves no folder."""
    store, journal = SessionMemory(MemoryStore()), MemoryJournal()
    record = BeatRecorder(FileRunFolders(tmp_path), store, BeatLog(journal))
    edit = PlaybookEdit("added", "notes", "n")
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
            edits=list(made),
        )
        error = ProviderError("no answer") if result is BeatResult.FAILED else None
        record.close(Beat(begun=begun, result=result, step=BeatStep.CANCELLED, error=error), AT)
    for name in ("cancelled", "failed"):
        trace = json.loads((tmp_path / "runs" / name / "trace.json").read_text())
        assert trace["edits"] == [{"what": "added", "place": "notes", "text": "n", "before": None}]
    assert not (tmp_path / "runs" / "refused").exists()
    assert [line["trace_id"] for line in journal.records()] == ["cancelled", "failed", None]
