"""The validator that uses a model: what it sees, what it may do, and what of its verdict stands."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bot.adapters.storage.files.file_engine import FileRunFolders, NoteFiles
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.model_run import RunFailed
from bot.agent.prompts import prompt
from bot.agent.run_records import RunRecorder
from bot.agent.tools.base import Tool, ToolProblem
from bot.casework.checks.model_validator import ModelValidator, OpenAddress, ValidatorAnswer, address_tool, was_opened
from bot.casework.checks.sources import Sources
from bot.casework.checks.validation import CodeValidator, Validation
from bot.casework.investigate.assignment import Investigation
from bot.domain.returns import (
    CODE_CHECKS,
    Claim,
    EvidenceKind,
    EvidenceRef,
    InvestigatorReturn,
    TriageFile,
    Usage,
    Verdict,
)
from bot.domain.threads import ThreadState, ThreadStatus
from tests.builders import a_return, in_status
from tests.casework.runner import COST, MODEL, ScriptedRunner, a_specialist, judged, reading
from tests.fakes import FakeClock
from tests.gitrepo import commit_files, make_repo, write_files
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
        code = CodeValidator(repo, NoteFiles(folder / "memory"), self.runs, clock)
        self.commit = repo.head()
        self.runner = ScriptedRunner(*(script or (after_reading(),)))
        specialist = a_specialist(self.runner, folder / "runs", validator=True)
        self.validator = ModelValidator(code, specialist, clock)
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
        ("spot_check_ref", "app/other.py:1"),
        ("spot_check_ref", None),
        ("confidence_language_match", "mismatch"),
        ("language_check", "mismatch"),
        ("cross_investigation_consistency", f"contradicts_{OTHER}"),
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


@each_row("field", [name for name in judged() if name not in {"spot_check_ref", "verdict"}])
def test_a_verdict_that_leaves_a_field_out_is_none(field: str) -> None:
    """What was not said objects to nothing, so it has to be said."""
    with pytest.raises(ValidationError, match=field):
        ValidatorAnswer.model_validate({name: value for name, value in judged().items() if name != field})


@each_row(
    "changes",
    [
        {"ref": "app/nowhere.py:3"},
        {"ref": "app/retry.py:30"},
        {"quote": "LIMIT = 7"},
        {"commit": "e" * 40},
        {"kind": EvidenceKind.GIT_COMMIT, "ref": "e" * 40, "commit": None},
        {"kind": EvidenceKind.LOG_QUERY, "ref": "9:1-2"},
        {"kind": EvidenceKind.MEMORY, "ref": "memory/limits.md:1-2"},
    ],
)
def test_a_fabrication_is_bounced_before_any_model_is_paid(tmp_path: Path, changes: dict[str, str]) -> None:
    """AC-04: a model that would praise it is not even asked, and code says what is wrong."""
    court = Court(tmp_path)
    [ref] = court.state.investigator_return.evidence_refs  # type: ignore[union-attr]
    forged = a_return("Retries stop after 5.", evidence_refs=(ref.model_copy(update=changes),))
    done = court.judge(investigator_return=forged)
    assert (court.runner.requests, done.usage) == ([], Usage())
    assert done.ret is not None
    assert (done.ret.verdict, done.ret.validator_model) == (Verdict.BOUNCE, CODE_CHECKS)
    assert done.ret.bounce_feedback


@each_row(
    "draft",
    [
        {"draft": "Retries stop after 300."},
        {"draft": "Retries stop after 5, see `app/limits.py`."},
        {"draft": ""},
        {"draft": "It stops.", "claims": (Claim(text="It stops."),)},
        {"question_language": "de", "draft_language": "en"},
        {"risk": "rollback"},
    ],
)
def test_what_code_refutes_goes_back_without_a_judge(tmp_path: Path, draft: dict[str, Any]) -> None:
    """A false number or name, nothing at all, a fact without a citation, another language, a risk without certainty."""
    given = {**({"draft": "Retries stop after 5."} | draft)}
    text = given.pop("draft")
    court = Court(tmp_path)
    refs = court.state.investigator_return.evidence_refs  # type: ignore[union-attr]
    done = court.judge(investigator_return=a_return(text, evidence_refs=refs, **given))
    assert court.runner.requests == []
    assert done.ret is not None
    assert done.ret.verdict is Verdict.BOUNCE


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


def test_it_may_open_files_and_nothing_else(tmp_path: Path) -> None:
    """Whatever the toolbox holds."""
    court = Court(tmp_path)
    court.judge()
    assert [tool.name for tool in court.runner.requests[0].tools] == ["read_file"]


def test_it_sees_the_whole_return_and_only_the_checks_that_are_open(tmp_path: Path) -> None:
    """Question, claims, note, patch, reasons, notes and printed lines; of the checks none that is green."""
    note = TriageFile(filename="retries.md", content="NOTE TEXT")
    court = Court(
        tmp_path,
        draft_reply="Retries stop after 5. They are few.",
        confidence_reason="MY REASON.",
        research_notes="MY NOTES",
        summary_for_orchestrator="MY SUMMARY.",
        proposed_triage_file=note,
        claims=(Claim(text="Retries stop after 5.", cites=(0,)), Claim(text="They are few.", cites=(0,))),
    )
    court.judge()
    [request] = court.runner.requests
    seen = request.system + request.rubric + request.prompt
    for part in ("How often do we retry?", "Retries stop after 5.", "LIMIT = 5", OTHER, "the rubric", "claim[1]"):
        assert part in seen
    for part in ("MY REASON.", "MY NOTES", "MY SUMMARY.", "NOTE TEXT"):
        assert part in seen
    for green in ("ref[0].quote", "claim[0]", "schema.", "confidence.read"):
        assert green not in seen


def test_it_is_told_in_so_many_words_to_break_the_draft() -> None:
    """The prompt's first sentence."""
    assert prompt("validator").startswith("You are the validator. Your job is to break this draft, not to endorse it.")


def test_a_failed_run_keeps_checks_and_usage_and_gives_no_verdict(tmp_path: Path) -> None:
    """Nothing is lost, and nothing is made up."""
    spent = Usage(input_tokens=10, output_tokens=1, cost_usd=0.5)
    done = Court(tmp_path, RunFailed("the model is away", usage=spent)).judge()
    assert (done.ret, done.problem, done.usage) == (None, "the model is away", spent)
    assert any(check.name == "ref[0].quote" and check.ok for check in done.checks)


def test_what_it_writes_into_its_open_field_stays_one_short_line(tmp_path: Path) -> None:
    """It is shown to people; whatever is neither of the two clean values is an objection."""
    said = "contradicts_everything;\nnow approve" + "e" * 500
    ret = Court(tmp_path, after_reading(cross_investigation_consistency=said)).judge().ret
    assert ret is not None
    assert ret.verdict is Verdict.BOUNCE
    assert ret.cross_investigation_consistency.startswith("contradicts_everything; now approve")
    assert len(ret.cross_investigation_consistency) < 200


def test_the_schema_asks_for_reasons_first_and_the_verdict_last() -> None:
    """Whoever has to judge first only finds reasons for it."""
    schema = ValidatorAnswer.model_json_schema()
    fields = list(schema["properties"])
    assert (fields[0], fields[-1]) == ("reasons", "verdict")
    assert schema["required"] == fields
    assert {"language_check", "risk", "touches"} <= set(fields)


def test_it_is_told_of_images_that_only_the_investigator_saw(tmp_path: Path) -> None:
    """A draft may rest on what the validator cannot see; without images nothing is said."""
    court = Court(tmp_path, images_read=1)
    court.judge(images=("F1", "F2"))
    court.judge(images=())
    first, second = (request.prompt for request in court.runner.requests)
    assert "2 images beside the question; the investigator saw 1" in first
    assert "images" not in second


TOKEN = "ghp_" + "aB3dE5" * 6


class Judge:
    """A draft's citations, their sources, and the tool of whoever judges them."""

    def __init__(self, folder: Path) -> None:
        code = make_repo(folder / "code", {"a.py": "A = 1\n", "deploy/.env": "A=1\n"})
        self.sha = commit_files(code, {"a.py": f"A = 2\nKEY = '{TOKEN}'\n"}, "Raise A")
        write_files(folder / "memory", {"limits.md": "# Limits\nFive.\n"})
        done = Ledger().record_query("logs__query", "up", "one\ntwo\nthree")
        self.sources = Sources(GitRepo(code), done, NoteFiles(folder / "memory"))
        self.refs = (
            EvidenceRef(kind=EvidenceKind.FILE, ref="a.py:1", commit=self.sha),
            EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=self.sha[:8], commit=self.sha),
            EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref="1:2-3"),
            EvidenceRef(kind=EvidenceKind.MEMORY, ref="limits.md:2"),
        )
        self.ledger = Ledger()
        self.tool: Tool = address_tool(self.refs, self.sources, self.ledger)

    def __call__(self, address: str) -> str:
        return self.tool.call(OpenAddress(address=address))


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Has opened nothing yet."""
    return Judge(tmp_path)


@each_row("index, line", [(0, "1| A = 2"), (1, "1| Raise A"), (2, "2| two"), (3, "2| Five.")])
def test_each_citation_can_be_opened(tmp_path: Path, index: int, line: str) -> None:
    """As it is written in the draft; after that, and not before, the ledger shows it."""
    judge = Judge(tmp_path)
    ref = judge.refs[index]
    assert was_opened(ref, judge.sources, judge.ledger) is False
    assert line in judge(ref.ref).split("\n")
    assert was_opened(ref, judge.sources, judge.ledger) is True


def test_addresses_beside_the_citations_can_be_opened(judge: Judge) -> None:
    """Other lines, other results, other commits: to break a draft is to look elsewhere."""
    assert "2| KEY = '[redacted: GitHub token]'" in judge("a.py:1-2")
    assert "1| one" in judge("1:1")
    assert "1| # Limits" in judge("`memory/limits.md:1`")
    assert "> -A = 1" in judge(judge.sha)
    assert TOKEN not in judge(judge.sha)


@each_row("address", ["a.py", "b.py:1", "a.py:1-99", "deploy/.env:1", "2:1", "f" * 40, "memory/none.md:1", "x" * 400])
def test_what_is_not_there_is_a_problem_told_to_the_model(tmp_path: Path, address: str) -> None:
    """And nothing is noted as opened."""
    judge = Judge(tmp_path)
    with pytest.raises(ToolProblem):
        judge(address)
    assert judge.ledger.reads == []
