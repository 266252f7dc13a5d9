"""Which sentences state a fact that no citation stands beside."""

from __future__ import annotations

from pathlib import Path

from bot.domain.citations.draft_statements import statements_without_source
from tests.tables import each_row, read_cases

SAID = read_cases(Path(__file__).with_name("statements.yml"))
QUOTES = ["WAIT_MS = 30_000", "RETRY_LIMIT = 5\ndef charge(order):", "DAY = 24 * 60 * 60"]
REFS = ["shop/payments.py:1-5"]


@each_row("sentence", SAID["marked"])
def test_a_fact_that_no_quotation_holds_is_marked(sentence: str) -> None:
    """Other numbers, unknown names and defaults, in the languages of drafts."""
    assert statements_without_source(f"The order is sent.\n\n{sentence}", QUOTES, REFS) == [sentence.replace("*", "")]


@each_row("sentence", SAID["fine"])
def test_what_has_its_source_or_states_nothing_is_not_marked(sentence: str) -> None:
    """The number in another unit, a name of the quotation, a place beside it, a question."""
    assert statements_without_source(sentence, QUOTES, REFS) == []


def test_facts_beside_nothing_are_all_marked() -> None:
    """Without a citation no statement has one."""
    assert statements_without_source("It waits 30 s. `charge` sends it! Good.", []) == [
        "It waits 30 s.",
        "`charge` sends it!",
    ]
