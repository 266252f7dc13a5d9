"""Every field of a verdict is enforced: code can make it stricter, never milder, and shows what it objects to."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any, get_args

from bot.domain.questions.verdict_rules import GROUNDED, OBJECTIONS, enforce, objections, verdict_of_checks
from bot.domain.returns import CODE_CHECKS, Check, ValidatorReturn, Verdict
from tests.tables import each_row

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
FILE, PAGE = "src/app.py:1", "https://x.io/docs"
GREEN = [
    Check(name="ref[0].resolves", ok=True, reason="it exists"),
    Check(name="ref[1].resolves", ok=None, reason="nobody can look"),
    Check(name=GROUNDED, ok=True, reason="1 of 2 citations proved"),
]
VALUES: dict[str, tuple[str | None, ...]] = {
    "spot_check_result": ("supports", "contradicts", "fabricated", "uncheckable"),
    "schema_check": ("ok", "fail"),
    "language_check": ("match", "mismatch"),
    "confidence_language_match": ("match", "mismatch"),
    "scope_drift": ("none", "minor", "major"),
    "cross_investigation_consistency": (
        "consistent",
        "no_overlap",
        "contradicts_T1.C1.1.2",
        "contradicts_unknown",
        "?",
    ),
    "risk_gate_check": ("passes", "needs_high_confidence", "fails"),
    "risk": ("none", "code_change", "rollback", "destructive", "customer_action", None),
    "touches": ("none", "production", "customer_account", None),
    "tone_assessment": ("matches", "off", "ai_smell"),
}
STANDS = {
    "supports", "ok", "match", "none", "minor", "consistent", "no_overlap", "passes", "production", "customer_account",
    "matches", "off",
}  # fmt: skip
"""Written by hand, not read from the table: with these a pass stands at any confidence."""

AT_HIGH = {"needs_high_confidence", "code_change", "rollback", "destructive", "customer_action"}


def judged(**changes: Any) -> ValidatorReturn:
    """Return a pass that breaks no rule, changed as told."""
    good: dict[str, Any] = {
        "verdict": Verdict.PASS,
        "spot_check_ref": FILE,
        "spot_check_result": "supports",
        "risk": "none",
        "touches": "none",
        "validator_model": "m",
        "validated_at": AT,
    }
    return ValidatorReturn(**{**good, **changes})


def ruled(said: ValidatorReturn, checks: list[Check] = GREEN, **changes: Any) -> ValidatorReturn:
    """Return a verdict on a draft that cites a file and a page, as the rules let it stand."""
    given: dict[str, Any] = {"confidence": "medium", "opened": {FILE: True, PAGE: None}}
    return enforce(said, checks, **{**given, **changes})


def may_stand(field: str, value: str | None, confidence: str) -> bool:
    """Return what the contract says of one value of a field, all others being clean."""
    if value is None:
        return field == "touches" or confidence == "high"
    if field == "cross_investigation_consistency":
        return value in ("consistent", "no_overlap")
    return value in STANDS or (value in AT_HIGH and confidence == "high")


@each_row("confidence", ["low", "medium", "high"])
def test_each_value_of_each_field_lets_a_pass_stand_or_not(confidence: str) -> None:
    """The table of the contract, value by value."""
    wrong = [
        (field, value)
        for field, values in VALUES.items()
        for value in values
        if (ruled(judged(**{field: value}), confidence=confidence).verdict is Verdict.PASS)
        is not may_stand(field, value, confidence)
    ]
    assert wrong == []


def test_no_verdict_with_an_objecting_field_passes() -> None:
    """Over every pair of fields and values: one forbidden value is enough, whatever the other says."""
    pairs = itertools.combinations([(field, value) for field, values in VALUES.items() for value in values], 2)
    for (one, first), (other, second) in pairs:
        if one == other:
            continue
        stands = may_stand(one, first, "medium") and may_stand(other, second, "medium")
        found = ruled(judged(**{one: first, other: second}))
        assert (found.verdict is Verdict.PASS) is stands, (one, first, other, second)
        assert bool(found.bounce_feedback) is not stands


def test_the_table_knows_every_value_that_a_field_can_have() -> None:
    """A field that may hold anything has a rule for all other values, and no rule is for a value that cannot be."""
    for field, table in OBJECTIONS.items():
        closed = _choices(ValidatorReturn.model_fields[field].annotation)
        assert "*" in table or (closed and set(table) <= closed), field


def _choices(annotation: Any) -> set[Any]:
    """Return the values of a closed field, of an optional one as well."""
    found = set()
    for arg in get_args(annotation):
        found |= _choices(arg) if get_args(arg) else {arg} - {type(None)}
    return found


@each_row("name", [None, "", "src/app.py:2", "src/app.py"])
@each_row("result", ["supports", "uncheckable"])
def test_a_spot_check_of_nothing_the_draft_cites_does_not_count(name: str | None, result: str) -> None:
    """A validator that looked elsewhere has checked nothing."""
    assert ruled(judged(spot_check_ref=name, spot_check_result=result)).verdict is Verdict.BOUNCE


def test_a_spot_check_has_to_be_in_the_validators_own_ledger() -> None:
    """Its word is not taken: the record of its own run has to show the reading."""
    found = ruled(judged(), opened={FILE: False})
    assert found.verdict is Verdict.BOUNCE
    assert found.reasons == ("the validator did not open src/app.py:1, which it says it has checked",)


def test_only_what_nobody_can_open_is_uncheckable() -> None:
    """An outside page is; lines that code proved are not."""
    assert ruled(judged(spot_check_ref=PAGE, spot_check_result="uncheckable")).verdict is Verdict.PASS
    assert ruled(judged(spot_check_ref=FILE, spot_check_result="uncheckable")).verdict is Verdict.BOUNCE


@each_row(
    "checks",
    [
        [],
        [Check(name="tone", ok=True, reason="plain")],
        [Check(name=GROUNDED, ok=None, reason="?")],
        [Check(name=GROUNDED, ok=False, reason="nothing proved")],
        [*GREEN, Check(name="ref[0].quote", ok=False, reason="it does not stand there")],
        [*GREEN, Check(name="claim[0]", ok=False, reason="`300` is missing")],
    ],
)
def test_anything_less_than_green_bounces_and_says_why(checks: list[Check]) -> None:
    """No checks, nothing proved, or one failure: the feedback names it, in both kinds of verdict."""
    for ret in (verdict_of_checks(checks, AT), ruled(judged(), checks)):
        assert ret.verdict is Verdict.BOUNCE
        assert ret.reasons
        assert ret.bounce_feedback
        assert all(check.reason in ret.bounce_feedback for check in checks if check.ok is False)


def test_of_very_many_failed_checks_the_first_are_named_and_the_others_counted() -> None:
    """Claims come last: 300 of them do not hide a secret."""
    claims = [Check(name=f"claim[{index}]", ok=False, reason=f"claim {index} is not backed") for index in range(300)]
    checks = [*GREEN, *claims, Check(name="secrets", ok=False, reason="looks like a secret")]
    for ret in (verdict_of_checks(checks, AT), ruled(judged(), checks)):
        assert len(ret.reasons) == 11
        assert ret.reasons[0] == "looks like a secret"
        assert ret.reasons[-1] == "and 291 more"
        assert ret.bounce_feedback is not None
        assert len(ret.bounce_feedback.split("\n")) == 11


def test_green_checks_pass() -> None:
    """Uncheckable is neutral where a citation is proved; the verdict says that no model was asked."""
    ret = verdict_of_checks(GREEN, AT)
    assert (ret.verdict, ret.bounce_feedback, ret.validator_model) == (Verdict.PASS, None, CODE_CHECKS)
    assert ret.validated_at == AT


@each_row(
    "name, field, value",
    [
        ("schema.summary", "schema_check", "fail"),
        ("language", "language_check", "mismatch"),
        ("risk_gate", "risk_gate_check", "needs_high_confidence"),
        ("tone", "tone_assessment", "ai_smell"),
    ],
)
def test_a_failed_check_shows_in_its_field(name: str, field: str, value: str) -> None:
    """The card and the journals read the verdict's fields, not the checks."""
    assert getattr(verdict_of_checks([*GREEN, Check(name=name, ok=False, reason="x")], AT), field) == value


def test_an_escalation_stands_whatever_the_checks_say() -> None:
    """It goes to the human either way."""
    ret = judged(verdict=Verdict.ESCALATE)
    assert ruled(ret, []) == ret


def test_a_bounce_keeps_its_own_reasons_and_gains_the_rest() -> None:
    """The second round is told everything at once, each thing once."""
    failed = Check(name="tone", ok=False, reason="reads like a machine")
    ret = judged(verdict=Verdict.BOUNCE, reasons=("scope",), bounce_feedback="Stay in scope.", scope_drift="major")
    found = ruled(ret, [*GREEN, failed])
    assert found.reasons == ("scope", "reads like a machine", "it answers something that nobody asked")
    assert found.bounce_feedback is not None
    assert found.bounce_feedback.startswith("- Stay in scope.\n- scope\n- reads like a machine")


def test_what_is_noted_beside_a_pass_can_be_shown() -> None:
    """A small drift, a tone that is off, what it touches, and words for the human; a clean verdict has none."""
    assert objections(judged()) == []
    noted = judged(scope_drift="minor", tone_assessment="off", touches="production", bounce_feedback="Mind the unit.")
    assert ruled(noted).verdict is Verdict.PASS
    assert objections(noted) == [
        "it says a little that nobody asked",
        "acting on it touches production",
        "its tone is off",
        "Mind the unit.",
    ]


def test_verdicts_of_earlier_releases_object_to_nothing_they_were_not_asked() -> None:
    """They have no risk and touch nothing; neither does a verdict of code."""
    assert objections(judged(risk=None, touches=None)) == []
    assert objections(judged(validator_model=CODE_CHECKS, tone_assessment="ai_smell")) == []


def test_enforcing_twice_changes_no_verdict() -> None:
    """What was made a bounce stays one."""
    once = ruled(judged(tone_assessment="ai_smell"))
    assert ruled(once).verdict is once.verdict is Verdict.BOUNCE
