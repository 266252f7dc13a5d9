"""What a model or another harness answers, and the return it becomes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from pydantic import ValidationError

from bot.casework.investigate.model_investigator import InvestigatorAnswer
from bot.domain.returns import Claim, ClaimKind, InvestigatorReturn
from tests.casework.runner import answered, answered_as_of_old, claimed
from tests.tables import each_row

IN_ORDER = [
    "research_notes",
    "evidence_refs",
    "claims",
    "open_questions",
    "question_type",
    "risk",
    "touches",
    "proposed_triage_file",
    "proposed_patch",
    "summary_for_orchestrator",
    "question_language",
    "draft_language",
    "gloss",
    "confidence_reason",
    "confidence",
    "escalation_requested",
    "escalation_reason",
]


def returned(**answer: Any) -> InvestigatorReturn:
    """Return what an answer becomes in round 1."""
    return InvestigatorAnswer.model_validate(answer).as_return(1)


def objects_in(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object type of a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects_in(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects_in(part)


def test_the_wire_schema_asks_for_reasons_before_judgements_and_for_nothing_else() -> None:
    """Every field of every object is required, none other allowed, and no quote is asked for."""
    schema = anthropic.transform_schema(InvestigatorAnswer)
    assert list(schema["properties"]) == IN_ORDER
    found = list(objects_in(schema))
    assert len(found) == 5
    for one in found:
        assert (one["additionalProperties"], one["required"]) == (False, list(one["properties"]))
    assert "quote" not in str(schema)
    assert "draft_reply" not in str(schema)


def test_the_claims_are_the_draft() -> None:
    """Blank ones are left out."""
    ret = returned(**answered(claims=[claimed("It is 5.", 0), claimed(" \n"), claimed("- Try it.", kind="advice")]))
    assert ret.draft_reply == "It is 5.\n- Try it."
    assert ret.claims == (Claim(text="It is 5.", cites=(0,)), Claim(text="- Try it.", kind=ClaimKind.ADVICE))


def test_an_answer_in_the_old_shape_is_a_fact_a_paragraph() -> None:
    """Its draft stays as it was written, and its quotes are kept for the checks."""
    ret = returned(**answered_as_of_old())
    assert ret.draft_reply == "Retries stop after 5.\n\nSee `app/retry.py:3`."
    assert [(one.text.strip(), one.kind, one.cites) for one in ret.claims] == [
        ("Retries stop after 5.", "fact", (0,)),
        ("See `app/retry.py:3`.", "fact", (0,)),
    ]
    assert (ret.evidence_refs[0].quote, ret.risk, ret.touches) == ("LIMIT = 5", None, None)


def test_claims_count_more_than_a_draft_that_stands_beside_them() -> None:
    """Only what cites something can be checked."""
    assert returned(**answered(draft_reply="It is 6.")).draft_reply.startswith("Retries stop")


@each_row("field", ["question_type", "risk", "touches", "question_language"])
def test_what_is_not_said_is_not_none_of_the_risks(field: str) -> None:
    """A server without schemas may leave a field out."""
    answer = answered()
    del answer[field]
    assert getattr(returned(**answer), field) is None


@each_row("field, value", [("question_type", "riddle"), ("risk", ["none"]), ("touches", 7), ("risk", None)])
def test_an_unknown_word_counts_as_not_said(field: str, value: Any) -> None:
    """No run is lost over it."""
    assert getattr(returned(**answered(**{field: value})), field) is None


def test_an_unknown_kind_of_claim_is_a_fact() -> None:
    """The strictest one."""
    assert returned(**answered(claims=[claimed("It is 5.", 0, kind="guess")])).claims[0].kind is ClaimKind.FACT


@each_row("cites", [None, "0", [1.5], [True], {"0": 0}])
def test_citations_that_are_no_numbers_are_none(cites: Any) -> None:
    """The claim then rests on nothing, and is marked."""
    assert returned(**answered(claims=[{**claimed("It is 5."), "cites": cites}])).claims[0].cites == ()


def test_hostile_claims_are_read_and_left_to_the_checks() -> None:
    """Citations of nothing, a great many sentences, sizes nobody asked for."""
    claims = [claimed("x" * 10_000, -1, 10**9, 0, 0, *range(1_000)), *[claimed("It is 5.", 99)] * 300]
    ret = returned(**answered(claims=claims, research_notes="word " * 100_000))
    assert ret.claims[0].cites[:3] == (-1, 10**9, 0)
    assert len(ret.claims) == 301


def test_an_answer_with_neither_claims_nor_draft_is_none() -> None:
    """The model is asked again, and told which field is missing."""
    answer = answered()
    del answer["claims"]
    with pytest.raises(ValidationError, match="claims: Field required"):
        InvestigatorAnswer.model_validate(answer)
