"""A decision is found in whatever a cheap model wrote around it, and doubt always escalates."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.heartbeats.beats import Action, Receipt
from bot.domain.prescreen import Decision, parse_decision
from tests.tables import each_row

MANY = 10_000

NONE = '{"action": "none", "reason": "quiet"}'
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)
_PROSE = st.text(st.characters(exclude_characters='{}"', exclude_categories=["Cs"]), max_size=40)


@each_row(
    "text",
    [
        NONE,
        f"```json\n{NONE}\n```",
        f"I looked at {{foo}} and {{}}.\n{NONE}",
        f'{{"note": {{"action": "escalate"}}}} {NONE}',
        f'{{"text": "}}{{\\"action\\": \\"escalate\\""}}{NONE}',
        f"{NONE}\n{NONE}",
        '{"reason": "quiet", "extra": [1, {"action": "handle"}], "action": "none"}',
        '[{"action": "none", "reason": "quiet"}]',
    ],
)
def test_a_decision_is_found_among_anything(text: str) -> None:
    """Prose, fences, other objects, braces in strings, strays, line ends inside strings, the same said twice."""
    assert parse_decision(text) == Decision(Action.NONE, "quiet")


@each_row(
    "text",
    [
        "",
        "all quiet",
        "{}",
        '{"reason": "quiet"}',
        '{"result": {"action": "none"}}',
        '{"action": "none"',
        f"{NONE} {{",
        f"a stray {{ and {NONE}",
        f'{NONE} {{"action": "esc',
        '{"action": "ignore"}',
        '{"action": "none"} {"action": "handle"}',
        '{"action": "none", "action": "escalate"}',
        '{"action": "escalate",} ' + NONE,
        '"' + NONE.replace('"', '\\"') + '"',
    ],
)
def test_what_is_missing_cut_off_unknown_or_contradictory_escalates(text: str) -> None:
    """And says that it is doubt."""
    decision = parse_decision(text)
    assert decision.action is Action.ESCALATE
    assert decision.reason.startswith("doubt: ")


@each_row("reason", ["", ', "reason": ""', ', "reason": null', ', "reason": 5', ', "reason": " \\n"'])
def test_a_missing_reason_is_supplied(reason: str) -> None:
    """There is always one to log."""
    assert parse_decision(f'{{"action": "handle"{reason}}}') == Decision(
        Action.HANDLE, "handle, without a reason given"
    )


def test_receipts_are_read_and_unreadable_ones_left_out() -> None:
    """A due task without one is doubt, which the caller sees."""
    found: list[Any] = [{"task": "a1", "result": "ok", "evidence": "clean"}, {"task": "b2", "result": "great"}, 7, None]
    decision = parse_decision(json.dumps({"action": "none", "reason": "quiet", "receipts": found}))
    assert decision.receipts == (Receipt(task="a1", result="ok", evidence="clean"),)
    assert parse_decision('{"action": "none", "receipts": "all"}').receipts == ()


def test_the_same_action_with_other_receipts_is_a_contradiction() -> None:
    """One of the two is not what was done."""
    receipt = '{"task": "a1", "result": "%s"}'
    texts = [f'{{"action": "none", "receipts": [{receipt % status}]}}' for status in ("ok", "skipped")]
    assert parse_decision(" ".join(texts)).action is Action.ESCALATE
    assert parse_decision(" ".join(texts[:1] * 2)).action is Action.NONE


@given(st.text() | st.text('{}"\\[]:,action none', max_size=60) | _JSON.map(json.dumps))
def test_no_text_raises_and_every_decision_has_a_reason(text: str) -> None:
    """Property: for any text at all."""
    decision = parse_decision(text)
    assert decision.action in Action
    assert decision.reason.strip()


@given(_PROSE, _PROSE, st.sampled_from(Action), st.text('quiet 1{}[]\\" \n:,', max_size=30), _JSON)
def test_a_decision_survives_prose_and_any_other_field(
    before: str, after: str, action: Action, reason: str, extra: object
) -> None:
    """Property: whatever its strings hold and whatever stands around it."""
    decision = parse_decision(before + json.dumps({"extra": extra, "action": action, "reason": reason}) + after)
    assert decision.action is action


@given(_JSON)
def test_an_action_inside_another_object_is_none(inner: object) -> None:
    """Property: only the top level decides."""
    text = json.dumps({"quoted": inner, "deeper": {"action": "none"}})
    assert parse_decision(f"{text} {NONE}").action is Action.NONE
    assert parse_decision(text).action is Action.ESCALATE


@each_row(
    "text",
    [
        "{" * 3 * MANY,
        '{"a":' * MANY + "1" + "}" * MANY,
        '{"action": ' + "[" * MANY + "]" * MANY + "}",
        '{"action": "none", "reason": ' + "9" * MANY + "}",
        '{x "' + '\\"' * 2 * MANY,
        '"' * 3 * MANY + "{" + '"' * 3 * MANY,
    ],
)
def test_a_huge_or_deep_answer_is_doubt(text: str) -> None:
    """No recursion."""
    assert parse_decision(text).action is Action.ESCALATE
