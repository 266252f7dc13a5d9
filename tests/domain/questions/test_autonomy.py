"""What is asked of a draft that nobody approves, of the record, and of the switch: tables, and any history at all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.questions.autonomy import (
    ENOUGH,
    LIMIT,
    TeamFacts,
    WeekRecord,
    has_what_it_takes,
    id_in,
    judge_draft,
    judge_team,
    looked_at,
    missing,
    turned,
)
from bot.domain.questions.autonomy_record import Arming, AutonomyMode, Condition, ConditionCode
from bot.domain.returns import Check, ProposedPatch, Verdict
from bot.domain.threads import Round, ThreadState
from bot.errors import InputError
from tests.builders import a_return, a_thread, a_verdict
from tests.tables import each_row

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
GOOD = [WeekRecord(12, 0, 0)] * 4
BACKED = Check(name="claim[0]", ok=True, reason="backed")
PATCH = ProposedPatch(title="Raise it", diff="--- a/x", rationale="too low")


def seen(**changes: Any) -> TeamFacts:
    return TeamFacts(**{"mode": AutonomyMode.ON, "weeks": GOOD, **changes})


def failed(facts: TeamFacts) -> tuple[Condition, ...]:
    return missing(judge_team(facts))


def arm(facts: TeamFacts) -> Arming:
    return turned(Arming(), AutonomyMode.ON, failed(facts), NOW, by="U1")


def look(before: Arming, facts: TeamFacts) -> Arming:
    return looked_at(before, failed(facts), NOW)


def drafted(
    draft: dict[str, Any] | None = None,
    verdict: dict[str, Any] | None = None,
    check: dict[str, Any] | None = None,
    **thread: Any,
) -> ThreadState:
    """Return a thread whose draft qualifies but for these changes."""
    first = Round(
        round=1,
        investigator_return=a_return(**{"confidence": "high", **(draft or {})}),
        checks=(BACKED.model_copy(update=check or {}),),
        validator_return=a_verdict(**(verdict or {})),
    )
    ret = first.investigator_return
    known: dict[str, Any] = {"question": "Where is it set?", "question_type": "technical_qa", "mentions_bot": True}
    done = {"rounds": (first,), "investigator_return": ret, "draft_pending": ret.draft_reply}
    return a_thread(**{**known, **done, **thread})


ROWS: list[tuple[dict[str, Any], ConditionCode]] = [
    ({"mentions_bot": False}, ConditionCode.MENTIONED),
    ({"question_type": "status_check"}, ConditionCode.QUESTION_TYPE),
    ({"question": "Is the payments API down?"}, ConditionCode.QUESTION_TYPE),
    ({"draft": {"confidence": "medium"}}, ConditionCode.CONFIDENCE),
    ({"check": {"ok": None}}, ConditionCode.CLAIMS),
    ({"check": {"ok": False}}, ConditionCode.CLAIMS),
    ({"draft": {"draft_reply": "One.\n\nTwo."}}, ConditionCode.CLAIMS),
    ({"verdict": {"verdict": Verdict.BOUNCE}}, ConditionCode.FIRST_ROUND),
    ({"is_escalated": True}, ConditionCode.FIRST_ROUND),
    ({"verdict": {"risk_gate_check": "needs_high_confidence"}}, ConditionCode.RISK_GATE),
    *(
        ({of: {field: value}}, ConditionCode.FIELDS)
        for of in ("draft", "verdict")
        for field, value in (
            ("risk", None),
            ("risk", "code_change"),
            ("risk", "customer_action"),
            ("touches", None),
            ("touches", "production"),
        )
    ),
    ({"draft": {"proposed_patch": PATCH}}, ConditionCode.FIELDS),
    ({"severity": "page"}, ConditionCode.NO_PAGE),
    ({"from_bot": True}, ConditionCode.NO_PAGE),
    ({"question": "What did order 7 cost?"}, ConditionCode.NO_IDS),
]


@each_row("changes, code", ROWS)
def test_each_field_alone_keeps_a_draft_from_being_sent(changes: dict[str, Any], code: ConditionCode) -> None:
    """And its condition says so."""
    state = drafted(**changes)
    assert [one.code for one in judge_draft(state, is_working=True) if not one.holds] == [code]
    assert has_what_it_takes(state) is (code is ConditionCode.MENTIONED)


def test_a_draft_that_meets_everything_qualifies() -> None:
    """The table above starts from it."""
    assert all(one.holds for one in judge_draft(drafted(), is_working=True))


@each_row(
    "question, found",
    [
        ("How many orders did customer 4711 place?", True),
        ("顧客4711の注文は?", True),
        ("What is in #8123?", True),
        ("Why was ana@example.com charged?", True),
        ("Which plan has cus_99ab12cd34?", True),
        ("<@U1> what did <@U2> deploy?", True),
        ("word " * 8_000 + "for customer 4711?", True),
        ("<@U1> where are session cookies signed?", False),
        ("<@U1> which sha256 does `auth_v2.py` use on Python 3.11?", False),
    ],
)
def test_a_question_that_may_name_somebody_is_found(question: str, found: bool) -> None:
    """A number of its own may be anybody's; names of algorithms and versions are not numbers of their own."""
    assert (id_in(question) is not None) is found


@each_row(
    "changes, code",
    [
        ({"weeks": [WeekRecord(9, 0, 0)] * 4}, ConditionCode.ENOUGH_DRAFTS),
        ({"weeks": [WeekRecord(20, 0, 0)] * 3 + [WeekRecord(0, 0, 0)]}, ConditionCode.EVERY_WEEK),
        ({"weeks": [WeekRecord(20, 0, 0)] * 3}, ConditionCode.EVERY_WEEK),
        ({"weeks": [WeekRecord(12, 1, 0), *GOOD[1:]]}, ConditionCode.FALSE_POSITIVES),
        ({"weeks": [WeekRecord(12, 1, 0), *[WeekRecord(90, 0, 0)] * 3]}, ConditionCode.FALSE_POSITIVES),
        ({"weeks": [WeekRecord(100, 1, 1), *GOOD[1:]]}, ConditionCode.PRODUCTION),
        ({"uncounted": "not counted yet: 3 closed threads"}, ConditionCode.COUNTED),
        ({"others": 1}, ConditionCode.ALONE),
        ({"has_hours": False}, ConditionCode.WORKING_HOURS),
        ({"mode": AutonomyMode.SHADOW}, ConditionCode.ARMED),
    ],
)
def test_each_condition_keeps_it_from_being_armed_and_disarms_it(changes: dict[str, Any], code: ConditionCode) -> None:
    """And is what is said of it; nothing arms by itself afterwards."""
    with pytest.raises(InputError):
        arm(seen(**changes))
    after = look(arm(seen()), seen(**changes))
    assert not after.is_armed
    assert [one.code for one in after.disarmed_for] == [code]
    assert after.disarmed_at == NOW
    assert look(after, seen()) == after


def test_a_person_disarms_it_without_a_condition() -> None:
    """And who did that is on file."""
    for to, is_off in ((AutonomyMode.SHADOW, False), (AutonomyMode.OFF, True)):
        off = turned(arm(seen()), to, (), NOW, by="U2")
        assert (off.is_armed, off.disarmed_by, off.disarmed_for, off.is_off) == (False, "U2", (), is_off)


def test_a_switch_of_an_earlier_release_is_read() -> None:
    """It had the watch of clocks and journals, whose conditions are only read."""
    old = {"code": "journals", "holds": False, "said": "replies.ndjson was rotated"}
    assert Arming.model_validate({"disarmed_for": [old]}).disarmed_for[0].code is ConditionCode.JOURNALS


WEEK = st.builds(
    lambda drafts, false, risky: WeekRecord(drafts, min(false, drafts), min(risky, false, drafts)),
    st.integers(0, 120),
    st.sampled_from([0, 0, 0, 0, 1, 2, 5]),
    st.sampled_from([0, 0, 0, 1]),
)
LOOK = st.builds(
    seen,
    weeks=st.one_of(st.just(GOOD), st.lists(WEEK, max_size=5)),
    uncounted=st.sampled_from(["", "", "3 threads"]),
    others=st.sampled_from([0, 0, 1]),
    has_hours=st.sampled_from([True, True, False]),
    mode=st.sampled_from([AutonomyMode.ON, AutonomyMode.ON, AutonomyMode.SHADOW]),
)


def is_good(one: TeamFacts) -> bool:
    """The rule written down once more, the plain way."""
    return (
        one.mode is AutonomyMode.ON
        and len(one.weeks) >= 4
        and sum(week.drafts for week in one.weeks) >= ENOUGH
        and all(week.drafts and week.false <= LIMIT * week.drafts for week in one.weeks)
        and not any(week.risky_false for week in one.weeks)
        and not one.uncounted
        and not one.others
        and one.has_hours
    )


@given(steps=st.lists(st.tuples(LOOK, st.sampled_from(["look", "look", "arm", "disarm"])), max_size=12))
def test_in_any_history_it_is_armed_only_while_everything_holds(steps: list[tuple[TeamFacts, str]]) -> None:
    """By a person, and as the plain rule says."""
    standing = Arming()
    for one, step in steps:
        before = standing
        if step == "arm":
            try:
                standing = arm(one)
            except InputError:
                assert not is_good(one)
        else:
            off = turned(standing, AutonomyMode.SHADOW, (), NOW, by="U2")
            standing = look(standing, one) if step == "look" else off
        assert not standing.is_armed or (step == "arm" and standing is not before) or before.is_armed
        assert not (standing.is_armed and step == "look") or is_good(one)


@settings(max_examples=200)
@given(row=st.sampled_from(ROWS), step=LOOK, is_working=st.sampled_from([True, False, None]))
def test_no_history_sends_what_a_field_forbids(
    row: tuple[dict[str, Any], ConditionCode], step: TeamFacts, is_working: bool | None
) -> None:
    """Armed or not, the draft's own conditions stand for themselves."""
    look(Arming(armed_by="U1", armed_at=NOW), step)
    assert not all(one.holds for one in judge_draft(drafted(**row[0]), is_working=is_working))
