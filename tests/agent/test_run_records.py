"""The record of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import FileRunFolders
from bot.agent.ledger import Ledger
from bot.agent.model_run import RunTimedOut
from bot.agent.run_records import RunRecorder
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.domain.returns import ProposedPatch, TriageFile, Usage
from bot.domain.threads import QuestionType
from bot.errors import ProviderError, StoreError
from tests.builders import NOW, a_return
from tests.fakes import FakeClock
from tests.tables import each_row

ASSIGNMENT = Assignment(question="How often?", question_type=QuestionType.OTHER, rubric="short", round=1)
RUN_ID = "T1.C1.1.2-20261120T090000Z-r1"


def record(runs: RunRecorder, clock: FakeClock, asked: Assignment = ASSIGNMENT, draft: str = "five") -> Investigation:
    """Record an investigation that takes two and a half seconds."""
    with runs.recording(RUN_ID, "round 1") as run:
        clock.advance(2.5)
        ledger = Ledger().record_read("a.py", 1, 9, commit="f" * 40, text="x")
        usage = Usage(input_tokens=7)
        found = Investigation(ret=a_return(draft), ledger=ledger, usage=usage, investigator="scripted")
        run.trace, run.transcript = found.as_trace(), found.as_transcript(asked)
    return found


def fail(runs: RunRecorder, why: str, run_id: str = RUN_ID) -> None:
    """Record an investigation that ends in an error."""
    with runs.recording(run_id, "round 1"):
        raise ProviderError(why)


def test_a_run_leaves_trace_transcript_and_log(tmp_path: Path) -> None:
    """Everything other programs read is there, and the ledger can be read back."""
    clock = FakeClock()
    runs = RunRecorder(FileRunFolders(tmp_path), clock)
    found = record(runs, clock)
    folder = tmp_path / "runs" / RUN_ID
    trace = json.loads((folder / "trace.json").read_text())
    assert (trace["run_id"], trace["seconds"], trace["investigator"]) == (RUN_ID, 2.5, "scripted")
    assert trace["started_at"] == NOW.isoformat()
    assert trace["usage"]["input_tokens"] == 7
    assert "a.py:1-9 at ffffffffffff" in (folder / "transcript.md").read_text()
    assert (folder / "work_products").is_dir()
    assert (folder / "run.log").read_text().splitlines() == [
        "2026-11-20T09:00:00Z started round 1",
        "2026-11-20T09:00:02Z finished after 2.50 s",
    ]
    assert runs.ledger(RUN_ID) == found.ledger


def test_a_run_that_fails_leaves_its_reason(tmp_path: Path) -> None:
    """The error goes on to whoever asked, and the log holds it."""
    runs = RunRecorder(FileRunFolders(tmp_path), FakeClock())
    with pytest.raises(ProviderError):
        fail(runs, "the model is away")
    assert "failed: the model is away" in (tmp_path / "runs" / RUN_ID / "run.log").read_text()
    assert runs.ledger(RUN_ID) is None


@each_row("kind", ["stall", "total"])
def test_a_run_that_took_too_long_names_the_limit(tmp_path: Path, kind: str) -> None:
    """The trace says which limit expired, and both limits."""
    late = RunTimedOut("too late", usage=Usage(input_tokens=7), timeout_kind=kind, timeout_s=300.0, stall_s=None)
    with pytest.raises(RunTimedOut), RunRecorder(FileRunFolders(tmp_path), FakeClock()).recording(RUN_ID, "round 1"):
        raise late
    trace = json.loads((tmp_path / "runs" / RUN_ID / "trace.json").read_text())
    assert (trace["timeout_kind"], trace["timeout_s"], trace["stall_s"]) == (kind, 300.0, None)
    assert trace["usage"]["input_tokens"] == 7


def test_what_people_may_take_from_a_run_stands_in_files(tmp_path: Path) -> None:
    """The draft, the patch and the note, without credentials; what was not proposed has no file."""
    patch = ProposedPatch(title="Raise it", diff="--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n", rationale="")
    note = TriageFile(filename="../retries.md", content=f"Key: {'ghp' + '_' + 'aB3dE5gH7jK9' * 3}")
    ret = a_return("five").model_copy(update={"proposed_patch": patch, "proposed_triage_file": note})
    found = Investigation(ret=ret, ledger=None, usage=Usage(), investigator="scripted")
    with RunRecorder(FileRunFolders(tmp_path), FakeClock()).recording(RUN_ID, "round 1") as run:
        run.products = found.as_products()
    files = {path.name: path.read_text() for path in (tmp_path / "runs" / RUN_ID / "work_products").iterdir()}
    assert sorted(files) == ["draft.md", "proposed-note.md", "proposed.patch"]
    assert (files["draft.md"], files["proposed.patch"]) == ("five\n", patch.diff)
    assert "aB3dE5gH7jK9" not in files["proposed-note.md"]
    assert (
        "proposed.patch"
        not in Investigation(ret=a_return("five"), ledger=None, usage=Usage(), investigator="scripted").as_products()
    )


def test_a_run_that_cannot_be_recorded_does_not_begin(tmp_path: Path) -> None:
    """Without a ledger no citation of it could be trusted."""
    (tmp_path / "runs").write_text("in the way")
    with pytest.raises(StoreError):
        fail(RunRecorder(FileRunFolders(tmp_path), FakeClock()), "this was not to begin")


@each_row("name", ["run.log", "trace.json", "transcript.md"])
def test_a_disk_that_refuses_any_part_is_a_store_error(tmp_path: Path, name: str) -> None:
    """A folder in the way of any file of the record."""
    clock = FakeClock()
    (tmp_path / "runs" / RUN_ID / name).mkdir(parents=True)
    with pytest.raises(StoreError):
        record(RunRecorder(FileRunFolders(tmp_path), clock), clock)


@each_row("trace", ["", "{", "[]", "{}", '{"ledger": 5}', '{"ledger": {"reads": [1]}}'])
def test_a_damaged_trace_has_no_ledger(tmp_path: Path, trace: str) -> None:
    """Nothing is taken for read that cannot be proved."""
    (tmp_path / "runs" / RUN_ID).mkdir(parents=True)
    (tmp_path / "runs" / RUN_ID / "trace.json").write_text(trace)
    assert RunRecorder(FileRunFolders(tmp_path), FakeClock()).ledger(RUN_ID) is None
    assert RunRecorder(FileRunFolders(tmp_path), FakeClock()).ledger("unknown") is None


def test_no_file_of_a_run_holds_a_credential(tmp_path: Path) -> None:
    """A credential in the question, in the draft or in the reason of a failure is blacked out in every file."""
    clock, token = FakeClock(), "ghp" + "_" + "aB3dE5gH7jK9" * 3
    runs = RunRecorder(FileRunFolders(tmp_path), clock)
    asked = replace(ASSIGNMENT, question=f"Why is {token} refused?")
    record(runs, clock, asked, f"{token} is too old.")
    with pytest.raises(ProviderError):
        fail(runs, f"401 for {token}", f"{RUN_ID}2")
    written = [path.read_text() for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert len(written) >= 5
    assert not [text for text in written if token[4:] in text]
    assert runs.ledger(RUN_ID) is not None
