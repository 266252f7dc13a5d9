"""Which drafts would have been sent without a human, and which of them people thought wrong."""

from __future__ import annotations

from typing import Any

from bot.casework.reports.autonomy_metrics import week_records
from bot.casework.reports.measures import Window
from bot.casework.reports.thread_facts import facts_of
from bot.domain.questions.autonomy import WeekRecord
from bot.domain.returns import ProposedPatch
from bot.domain.severity import Severity
from bot.domain.threads import Resolution
from tests.builders import NOW, a_verdict
from tests.casework.past import BACKED, GOOD, a_round, decided

WEEK = Window.last(7, NOW)


def test_a_draft_that_would_have_gone_out_and_was_changed_is_a_false_positive() -> None:
    """Only drafts that meet every condition count, and all of these are fields of the thread."""
    sure = a_round(confidence="high")
    kind: dict[str, Any] = {"question_type": "technical_qa", "mentions_bot": True}
    gate = sure.model_copy(update={"validator_return": a_verdict(risk_gate_check="needs_high_confidence")})
    patch = ProposedPatch(title="Raise it", diff="--- a/x", rationale="too low")
    risky = [
        a_round(confidence="high", **one)
        for one in ({"touches": "production"}, {"risk": None}, {"proposed_patch": patch})
    ]
    unbacked = a_round(confidence="high", checks=(GOOD, BACKED.model_copy(update={"ok": None})))
    threads = [
        *(decided(n, Resolution.APPROVED, sure, **kind) for n in range(3)),
        decided(3, Resolution.EDITED, sure, **kind),
        decided(4, Resolution.EDITED, a_round(), **kind),
        decided(5, Resolution.DISMISSED, sure, **{**kind, "mentions_bot": False}),
        decided(6, Resolution.EDITED, gate, **kind),
        decided(7, Resolution.EDITED, unbacked, **kind),
        *(decided(8 + n, Resolution.DISMISSED, one, **kind) for n, one in enumerate(risky)),
        decided(12, Resolution.EDITED, sure, **kind, question="How many orders did customer 4711 place?"),
        decided(13, Resolution.EDITED, sure, **kind, severity=Severity.PAGE),
    ]
    drafts = [one for one in map(facts_of, threads) if one.qualifies]
    assert week_records(drafts, WEEK, set()) == [WeekRecord(4, 1, 0), *[WeekRecord(0, 0, 0)] * 3]
