"""Which drafts would have been sent without a human, and which of them people thought wrong."""

from __future__ import annotations

from typing import Any

from bot.casework.reports.autonomy_metrics import week_records
from bot.casework.reports.measures import Window
from bot.casework.reports.thread_facts import facts_of
from bot.domain.questions.auto_reply import WeekRecord
from bot.domain.threads import Resolution
from tests.builders import NOW, a_verdict
from tests.casework.past import HOUR, a_round, decided

WEEK = Window.last(7, NOW)


def test_a_draft_that_would_have_gone_out_and_was_changed_is_a_false_positive() -> None:
    """Only drafts with everything §7 asks for count: mention, type, high, pass in round 1, risk gate."""
    sure = a_round(confidence="high")
    kind: dict[str, Any] = {"question_type": "technical_qa", "mentions_bot": True}
    gate = sure.model_copy(update={"validator_return": a_verdict(risk_gate_check="needs_high_confidence")})
    advice = a_round(confidence="high", risk="rollback")
    threads = [
        *(decided(n, Resolution.APPROVED, sure, **kind) for n in range(3)),
        decided(3, Resolution.EDITED, sure, **kind),
        decided(4, Resolution.EDITED, a_round(), **kind),
        decided(5, Resolution.DISMISSED, sure, **{**kind, "mentions_bot": False}),
        decided(6, Resolution.EDITED, gate, **kind),
        decided(7, Resolution.DISMISSED, advice, **kind, started_at=NOW - HOUR),
    ]
    drafts = [one for one in map(facts_of, threads) if one.qualifies]
    assert week_records(drafts, WEEK, {}) == [WeekRecord(5, 2, 1), *[WeekRecord(0, 0, 0)] * 3]
