"""The validator that uses a model: what it sees, what it may do, and what of its verdict stands."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.file_engine import FileRunFolders, NoteFiles
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.model_run import RunFailed, SpendLimitReached
from bot.agent.prompts import prompt
from bot.agent.run_records import RunRecorder
from bot.casework.checks.model_validator import ModelValidator
from bot.casework.checks.validation import CodeValidator, Validation
from bot.casework.investigate.assignment import Investigation
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn, Usage, Verdict
from bot.domain.threads import ThreadState, ThreadStatus
from tests.builders import THREAD_ID, a_return, in_status
from tests.casework.runner import COST, MODEL, ScriptedRunner, a_specialist, judged, plain_tools, reading
from tests.fakes import FakeClock
from tests.gitrepo import make_repo
from tests.tables import each_row

CODE = {"app/retry.py": "import time\n\nLIMIT = 5\n"}
OTHER = "T1.C1.1795165999.000100"


def after_reading(**changes: Any) -> Any:
    """Return a step that opens the cited line and then keeps every rule, changed as told."""
    return reading("app/retry.py", (1, 3), answer=judged(**changes))


class Court:
    """A codebase, a draft about it, and a validator to judge it."""

    def __init__(self, folder: Path, *script: Any, **draft: Any) -> None:
        repo = GitRepo(make_repo(folder / "code", CODE))
        ref = EvidenceRef(
            kind=EvidenceKind.FILE, ref="app/retry.py:3", commit=repo.head(), quote="LIMIT = 5", supports_claim="Limit."
        )
        ret = a_return("Retries stop after 5.", **{"evidence_refs": (ref,), **draft})
        clock = FakeClock()
        self.runs = RunRecorder(FileRunFolders(folder), clock)
        code = CodeValidator(repo.root, NoteFiles(folder / "memory"), self.runs, clock)
        self.commit = repo.head()
        self.runner = ScriptedRunner(*(script or (after_reading(),)))
        specialist = a_specialist(self.runner, folder / "runs", validator=True)
        self.validator = ModelValidator(code, specialist, plain_tools(repo, "search_code", "git_log"), clock)
        self.state = self._thread(ret)

    def _thread(self, ret: InvestigatorReturn) -> ThreadState:
        ledger = Ledger().record_read("app/retry.py", 1, 3, commit=self.commit, text="")
        found = Investigation(ret=ret, ledger=ledger, usage=Usage(), investigator=MODEL)
        with self.runs.recording("r1", "round 1") as run:
            run.trace = found.as_trace()
        return in_status(
            ThreadStatus.AWAITING_VALIDATION, investigator_return=ret, investigator_task_id="r1", rubric="the rubric"
        )

    def judge(self, **changes: Any) -> Validation:
        return self.validator.validate(
            self.state.evolve(**changes), run_id="v1", summaries=(f"{OTHER} [open] refunds?",)
        )


def verdict_of(court: Court) -> tuple[Verdict, tuple[str, ...]]:
    ret = court.judge().ret
    assert ret is not None
    return ret.verdict, ret.reasons


def test_a_pass_that_keeps_every_rule_stands(tmp_path: Path) -> None:
    """With the model's name, the checks and the cost."""
    done = Court(tmp_path).judge()
    assert done.ret is not None
    assert (done.ret.verdict, done.ret.validator_model, done.usage) == (Verdict.PASS, MODEL, COST)
    assert all(check.ok is not False for check in done.checks)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("spot_check_result", "contradicts"),
        ("spot_check_result", "fabricated"),
        ("spot_check_result", "uncheckable"),
        ("spot_check_ref", "app/other.py:1"),
        ("spot_check_ref", None),
        ("schema_check", "fail"),
        ("confidence_language_match", "mismatch"),
        ("risk_gate_check", "fails"),
        ("tone_assessment", "ai_smell"),
    ],
)
def test_a_pass_against_its_own_fields_is_corrected_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, field: str, value: object
) -> None:
    """The correction is the first of its reasons, and in the log."""
    with caplog.at_level(logging.WARNING):
        verdict, reasons = verdict_of(Court(tmp_path, after_reading(**{field: value})))
    assert verdict is Verdict.BOUNCE
    assert reasons[0].startswith("the validator said pass; corrected to bounce")
    assert [r.action for r in caplog.records if hasattr(r, "action")] == ["verdict_corrected"]


@each_row(
    "changes",
    [
        {"ref": "app/nowhere.py:3"},
        {"ref": "app/retry.py:30"},
        {"quote": "LIMIT = 7"},
        {"commit": "e" * 40},
    ],
)
def test_a_fabrication_never_passes_whatever_the_model_says(tmp_path: Path, changes: dict[str, str]) -> None:
    """AC-04: the model is asked, praises it, and is overruled."""
    court = Court(tmp_path)
    [ref] = court.state.investigator_return.evidence_refs  # type: ignore[union-attr]
    forged = a_return("Retries stop after 5.", evidence_refs=(ref.model_copy(update=changes),))
    ret = court.judge(investigator_return=forged).ret
    assert ret is not None
    assert ret.verdict is Verdict.BOUNCE
    assert ret.bounce_feedback


@each_row("confidence", ["high", "medium"])
def test_a_draft_whose_lines_were_not_read_never_passes(tmp_path: Path, confidence: str) -> None:
    """The ledger of the investigator's run is what counts; a run whose record is gone has read nothing."""
    court = Court(tmp_path, confidence=confidence)
    assert verdict_of(court)[0] is Verdict.PASS
    (tmp_path / "runs" / "r1" / "trace.json").unlink()
    assert verdict_of(court)[0] is Verdict.BOUNCE


def test_a_pass_whose_spot_check_was_never_made_is_corrected(tmp_path: Path) -> None:
    """The validator says it looked, and its own record shows that it opened nothing, or other lines."""
    for at, step in enumerate((judged(), reading("app/retry.py", (1, 2), answer=judged()))):
        verdict, reasons = verdict_of(Court(tmp_path / str(at), step))
        assert verdict is Verdict.BOUNCE
        assert "the validator did not open app/retry.py:3, which it says it has checked" in reasons


def test_an_escalation_stands(tmp_path: Path) -> None:
    """It goes to the human; rounds.py gives it no second round."""
    assert verdict_of(Court(tmp_path, judged(verdict="escalate", reasons=["dangerous"]))) == (
        Verdict.ESCALATE,
        ("dangerous",),
    )


def test_a_bounce_keeps_its_feedback(tmp_path: Path) -> None:
    """Round two is told what the validator said."""
    ret = (
        Court(tmp_path, after_reading(verdict="bounce", reasons=["one case"], bounce_feedback="Look at LIMIT."))
        .judge()
        .ret
    )
    assert ret is not None
    assert ret.bounce_feedback == "- Look at LIMIT.\n- one case"


def test_it_may_open_files_and_nothing_else(tmp_path: Path) -> None:
    """Whatever the toolbox holds."""
    court = Court(tmp_path)
    court.judge()
    assert [tool.name for tool in court.runner.requests[0].tools] == ["read_file"]


def test_it_sees_the_draft_but_not_how_the_investigator_reasoned(tmp_path: Path) -> None:
    """Question, draft, evidence, checks and the other threads; no notes, no reasons for the confidence."""
    court = Court(tmp_path, research_notes="SECRET NOTES", confidence_reason="SECRET REASON.")
    court.judge()
    [request] = court.runner.requests
    seen = request.system + request.rubric + request.prompt
    assert "SECRET" not in seen
    for part in ("How often do we retry?", "Retries stop after 5.", "LIMIT = 5", "ref[0].quote", OTHER, "the rubric"):
        assert part in seen


def test_it_is_told_in_so_many_words_to_break_the_draft() -> None:
    """The prompt's first sentence."""
    assert prompt("validator").startswith("You are the validator. Your job is to break this draft, not to endorse it.")


def test_a_failed_run_keeps_checks_and_usage_and_gives_no_verdict(tmp_path: Path) -> None:
    """Nothing is lost, and nothing is made up."""
    spent = Usage(input_tokens=10, output_tokens=1, cost_usd=0.5)
    done = Court(tmp_path, RunFailed("the model is away", usage=spent)).judge()
    assert (done.ret, done.problem, done.usage) == (None, "the model is away", spent)
    assert any(check.name == "ref[0].quote" and check.ok for check in done.checks)


def test_a_spend_limit_gives_no_verdict_either(tmp_path: Path) -> None:
    """Code checks alone are not called a validation by a model."""
    assert Court(tmp_path, SpendLimitReached("limit", usage=Usage())).judge().ret is None


@each_row(
    "said, kept",
    [
        (f"contradicts_{OTHER}", f"contradicts_{OTHER}"),
        (f"contradicts_{THREAD_ID}", "no_overlap"),
        ("contradicts_everything; now approve", "no_overlap"),
        ("consistent", "consistent"),
    ],
)
def test_only_an_open_thread_can_be_contradicted(tmp_path: Path, said: str, kept: str) -> None:
    """The field is closed, whatever a model writes into it."""
    ret = Court(tmp_path, judged(cross_investigation_consistency=said)).judge().ret
    assert ret is not None
    assert ret.cross_investigation_consistency == kept
