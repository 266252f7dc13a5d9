"""Code can make a verdict stricter and never milder; the team's language and secrets reach its checks."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from bot.adapters.storage.files.file_engine import FileRunFolders, NoteFiles
from bot.agent.ledger import Ledger
from bot.agent.run_records import RunRecorder
from bot.casework.checks.draft_checks import GROUNDED
from bot.casework.checks.validation import CodeValidator, enforce_checks, verdict_of_checks
from bot.domain.returns import CODE_CHECKS, Check, EvidenceKind, EvidenceRef, ValidatorReturn, Verdict
from bot.domain.threads import ThreadStatus
from tests.builders import a_return, in_status
from tests.fakes import FakeClock
from tests.gitrepo import make_repo
from tests.tables import each_row

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
FILE = EvidenceRef(kind=EvidenceKind.FILE, ref="src/app.py:1", quote="RETRY_LIMIT = 5")
PAGE = EvidenceRef(kind=EvidenceKind.EXTERNAL_DOC, ref="https://x.io/docs")
READ = Ledger().record_read("src/app.py", 1, 5, commit="a" * 40, text="")
GREEN = [
    Check(name=GROUNDED, ok=True, reason="1 of 1 citations proved"),
    Check(name="language", ok=None, reason="short"),
]


def choices(field: str) -> tuple[str, ...]:
    """Return every value a closed field of a verdict can have."""
    return get_args(ValidatorReturn.model_fields[field].annotation)


def judged(**changes: Any) -> ValidatorReturn:
    """Return a pass that breaks no rule, changed as told."""
    good: dict[str, Any] = {
        "verdict": Verdict.PASS,
        "spot_check_ref": FILE.ref,
        "spot_check_result": "supports",
        "validator_model": "m",
        "validated_at": AT,
    }
    return ValidatorReturn(**{**good, **changes})


def test_green_checks_pass() -> None:
    """Uncheckable is neutral where a citation is proved; the verdict says that no model was asked."""
    ret = verdict_of_checks(GREEN, AT)
    assert (ret.verdict, ret.bounce_feedback, ret.validator_model, ret.validated_at) == (
        Verdict.PASS,
        None,
        CODE_CHECKS,
        AT,
    )


@each_row(
    "checks",
    [
        [],
        [Check(name="tone", ok=True, reason="plain")],
        [Check(name=GROUNDED, ok=None, reason="?")],
        [Check(name=GROUNDED, ok=False, reason="nothing proved")],
        [*GREEN, Check(name="ref[0].quote", ok=False, reason="not verbatim")],
    ],
)
def test_anything_less_bounces_and_says_why(checks: list[Check]) -> None:
    """No checks, nothing proved, or one failure: the feedback names it, in both kinds of verdict."""
    for ret in (verdict_of_checks(checks, AT), enforce_checks(judged(), checks, [FILE])):
        assert ret.verdict is Verdict.BOUNCE
        assert ret.reasons
        assert ret.bounce_feedback
        assert all(check.reason in ret.bounce_feedback for check in checks if check.ok is False)


@each_row(
    "name, field, value",
    [
        ("schema.summary", "schema_check", "fail"),
        ("confidence.words", "confidence_language_match", "mismatch"),
        ("risk_gate", "risk_gate_check", "needs_high_confidence"),
        ("tone", "tone_assessment", "ai_smell"),
    ],
)
def test_a_failed_check_shows_in_its_field(name: str, field: str, value: str) -> None:
    """The card and the journals read the verdict's fields, not the checks."""
    assert getattr(verdict_of_checks([*GREEN, Check(name=name, ok=False, reason="x")], AT), field) == value


def test_of_all_findings_only_those_that_keep_every_rule_leave_a_pass_standing() -> None:
    """The rules of verdicts, over every combination of what a validator can report."""
    fields = ["spot_check_result", "schema_check", "confidence_language_match", "risk_gate_check", "tone_assessment"]
    for values in itertools.product(*map(choices, fields)):
        spot, schema, match, risk, tone = values
        for ref in (FILE, PAGE):
            ret = judged(spot_check_ref=ref.ref, **dict(zip(fields, values, strict=True)))
            spot_ok = (spot, ref) in (("supports", FILE), ("uncheckable", PAGE))
            stands = spot_ok and schema == "ok" and match == "match" and risk != "fails" and tone != "ai_smell"
            ruled = enforce_checks(ret, GREEN, [FILE, PAGE], READ)
            assert (ruled == ret) is stands
            assert ruled.verdict is (Verdict.PASS if stands else Verdict.BOUNCE)


@each_row(
    "ledger",
    [
        None,
        Ledger(),
        Ledger().record_read("src/app.py", 2, 5, commit="a" * 40, text=""),
        Ledger().record_read("src/other.py", 1, 5, commit="a" * 40, text=""),
        Ledger().record_query("read_file", "src/app.py:1"),
    ],
)
def test_a_spot_check_of_lines_the_validator_did_not_read_does_not_count(ledger: Ledger | None) -> None:
    """Its word is not taken: the record of its own run has to show the reading."""
    ruled = enforce_checks(judged(), GREEN, [FILE], ledger)
    assert ruled.verdict is Verdict.BOUNCE
    assert ruled.reasons == ("the validator did not open src/app.py:1, which it says it has checked",)
    assert enforce_checks(judged(), GREEN, [FILE], READ).verdict is Verdict.PASS


def test_a_commit_counts_as_checked_where_code_has_proved_its_quote() -> None:
    """The validator can open no commit: it is shown the quote, and code has compared it."""
    commit = EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref="abc1234", quote="Raise the limit")
    proved = [*GREEN, Check(name="ref[0].resolves", ok=True, reason="x")]
    ret = judged(spot_check_ref="abc1234")
    assert enforce_checks(ret, proved, [commit]).verdict is Verdict.PASS
    assert enforce_checks(ret, GREEN, [commit]).verdict is Verdict.BOUNCE


@each_row("named", [None, "", "src/app.py:2", "src/app.py"])
@each_row("result", ["supports", "uncheckable"])
def test_a_spot_check_of_nothing_the_draft_cites_does_not_count(named: str | None, result: str) -> None:
    """A validator that looked elsewhere has checked nothing."""
    assert (
        enforce_checks(judged(spot_check_ref=named, spot_check_result=result), GREEN, [FILE], READ).verdict
        is Verdict.BOUNCE
    )


def test_an_escalation_stands_whatever_the_checks_say() -> None:
    """It goes to the human either way."""
    ret = judged(verdict=Verdict.ESCALATE)
    assert enforce_checks(ret, [], []) == ret


def test_a_bounce_keeps_its_own_reasons_and_gains_the_checks() -> None:
    """The second round is told everything at once, each thing once."""
    failed = Check(name="tone", ok=False, reason="reads like a machine")
    ret = judged(verdict=Verdict.BOUNCE, reasons=("scope",), bounce_feedback="Stay in scope.")
    ret = enforce_checks(ret, [*GREEN, failed], [FILE], READ)
    assert ret.reasons == ("scope", "reads like a machine")
    assert ret.bounce_feedback == "- Stay in scope.\n- scope\n- reads like a machine"


def test_a_bounce_without_a_reason_still_says_something() -> None:
    """The investigator is never sent back with nothing."""
    assert enforce_checks(judged(verdict=Verdict.BOUNCE), GREEN, [FILE]).bounce_feedback


def test_enforcing_twice_changes_no_verdict() -> None:
    """What was made a bounce stays one."""
    once = enforce_checks(judged(tone_assessment="ai_smell"), GREEN, [FILE])
    assert enforce_checks(once, GREEN, [FILE]).verdict is once.verdict is Verdict.BOUNCE


GERMAN = "Die Warteschlange wird von dem Worker gelesen und ist sicher, auch bei Fehlern und wenn es dunkel ist."
ENGLISH = "The queue is read by the worker, and it is safe when there is a failure or if it is dark."


def failures(folder: Path, question: str, *, secrets: frozenset[str] = frozenset(), **draft: Any) -> dict[str, str]:
    """Return the reasons of the checks of speech that fail."""
    repo, clock = make_repo(folder / "code", {"a.py": "LIMIT = 5\n"}), FakeClock()
    runs = RunRecorder(FileRunFolders(folder), clock)
    validator = CodeValidator(repo, NoteFiles(folder / "memory"), runs, clock, secrets=secrets, team_language="en")
    state = in_status(ThreadStatus.AWAITING_VALIDATION, question=question, investigator_return=a_return(**draft))
    checks = validator.validate(state, run_id="v1").checks
    return {check.name: check.reason for check in checks if check.ok is False and check.name in ("language", "secrets")}


@each_row(
    "question, draft, language, good",
    [
        (ENGLISH, ENGLISH, "en", True),
        (ENGLISH, GERMAN, "de", False),
        (GERMAN, GERMAN, "de", True),
        (GERMAN, ENGLISH, "en", True),
        ("retries?", GERMAN, "de", True),
    ],
)
def test_a_question_in_the_teams_language_wants_an_answer_in_it(
    tmp_path: Path, question: str, draft: str, language: str, good: bool
) -> None:
    """A foreign question, or one too short to tell, may be answered as the investigator chose."""
    found = failures(tmp_path, question, draft=draft, draft_language=language)
    assert ("language" not in found) is good


def test_a_secret_of_the_process_is_found_in_a_draft(tmp_path: Path) -> None:
    """Its shape says nothing; the environment does."""
    draft = "The word is correct-horse-battery."
    assert "secrets" in failures(tmp_path, "?", draft=draft, secrets=frozenset({"correct-horse-battery"}))
