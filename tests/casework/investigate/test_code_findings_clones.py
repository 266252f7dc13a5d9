"""What an investigation reads is fetched before, and its draft says what could not be."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from bot.agent.codebases import Codebases
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.code_findings import CodeFindings
from bot.domain.questions.rubrics import question_type_of
from bot.domain.returns import AgedClone, Usage
from tests.builders import a_return

QUESTION = "How often is a request sent again?"
AT = datetime(2026, 11, 20, 9, tzinfo=UTC)
OLD = AgedClone(codebase="infra", fetched_at=AT - timedelta(hours=2), read_at=AT, failed=True)


class Order:
    """Clones and an investigator that write down who was asked, in order."""

    def __init__(self, *aged: AgedClone) -> None:
        self.aged, self.asked = aged, list[object]()

    def before_investigation(self, codebases: Collection[str] | None = None) -> tuple[AgedClone, ...]:
        self.asked.append(codebases)
        return self.aged

    def investigate(self, assignment: Assignment, **_: object) -> Investigation:
        self.asked.append("investigate")
        return Investigation(ret=a_return(assignment.question), ledger=None, usage=Usage(), investigator="m")

    def find(self) -> Investigation:
        asked = Assignment(question=QUESTION, question_type=question_type_of(QUESTION), rubric="", round=1)
        return CodeFindings(Codebases(()), self, clones=self, cloned=["infra", "shop"]).investigate(asked, run_id="r1")


def test_the_team_s_clones_are_fetched_before_the_investigation() -> None:
    """Nothing is said where all are fresh."""
    order = Order()
    assert order.find().ret.aged_clones == ()
    assert order.asked == [["infra", "shop"], "investigate"]


def test_a_clone_that_is_too_old_is_named_in_the_return() -> None:
    """With the words that the card shows."""
    (aged,) = Order(OLD).find().ret.aged_clones
    assert aged.words() == "infra as of 2 h before: the fetch failed"
