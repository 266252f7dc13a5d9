"""Which drafts would have been sent without a human, and which of them people thought wrong."""

from __future__ import annotations

from typing import Any

from bot.casework.reports.autonomy_metrics import TypeRecord, type_records, week_records
from bot.casework.reports.journal_history import facts_of
from bot.casework.reports.measures import Window
from bot.domain.alerts import Severity
from bot.domain.questions.autonomy import WeekRecord
from bot.domain.returns import ProposedPatch
from bot.domain.threads import QuestionType, Resolution
from tests.builders import NOW, a_verdict
from tests.casework.past import BACKED, GOOD, a_round, decided, thread

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


def test_each_type_of_question_has_its_record() -> None:
    """Of drafts that people were shown; votes against and replies taken back stand beside how they ended."""
    ends = [*[Resolution.APPROVED] * 2, Resolution.EDITED, Resolution.DISMISSED, Resolution.AUTO]
    threads = [decided(n, end, a_round(), question_type="data_lookup") for n, end in enumerate(ends)]
    other = decided(8, Resolution.APPROVED, a_round(confidence="high"), question_type="technical_qa", mentions_bot=True)
    facts = [facts_of(one) for one in (*threads, other, thread(9, a_round()))]
    found = type_records(facts, taken_back={threads[4].thread_id}, not_helpful={threads[0].thread_id, "T1.C1.1.1"})
    assert found == [
        TypeRecord(QuestionType.DATA_LOOKUP, 5, 2, 1, 1, not_helpful=1, sent=1, taken_back=1, would_send=0),
        TypeRecord(QuestionType.TECHNICAL_QA, 1, 1, 0, 0, not_helpful=0, sent=0, taken_back=0, would_send=1),
    ]
