"""`triage investigate --json` with models that cite rightly, wrongly and lazily, and one that answers as of old."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.casework.runner import claimed, judged
from tests.cli.test_investigate import Terminal
from tests.gitrepo import git
from tests.journeys.shop import RETRIES
from tests.model_server import ModelServer, Script
from tests.model_server.script import Call, Part, Role, Turn

RIGHT = "The gateway is tried 5 times: `MAX_ATTEMPTS` in `shop/retry.py:3`."
PLACE = "shop/retry.py:3"
LOOK = Turn(calls=(Call(name="read_file", input={"path": "shop/retry.py"}),))
OPEN = Turn(calls=(Call(name="read_file", input={"address": PLACE}),))

pytestmark = pytest.mark.journey


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """One terminal over the shop."""
    return Terminal(tmp_path)


def an_answer(*claims: dict[str, Any], ref: str = PLACE) -> dict[str, Any]:
    """Return what a model answers: these claims over one address."""
    return {
        "research_notes": "Read the file.",
        "evidence_refs": [{"kind": "file", "ref": ref, "supports_claim": "It sets the limit."}],
        "claims": list(claims),
        "open_questions": [],
        "question_type": "technical_qa",
        "risk": "none",
        "touches": "none",
        "proposed_triage_file": None,
        "proposed_patch": None,
        "summary_for_orchestrator": "Five attempts.",
        "question_language": "en",
        "draft_language": "en",
        "gloss": None,
        "confidence_reason": "The line says so.",
        "confidence": "high",
        "escalation_requested": False,
        "escalation_reason": None,
    }


def asked(terminal: Terminal, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a question to an investigator that answers this, with a validator that likes everything."""
    likes = Turn(answer=judged(spot_check_ref=PLACE))
    roles = {
        "investigator": Role(match="(?i)you investigate", parts=(Part(turns=(LOOK, Turn(answer=answer))),)),
        "validator": Role(match="(?i)break this draft", parts=(Part(turns=(OPEN, likes)),)),
    }
    with ModelServer(Script(roles=roles)) as server:
        terminal.with_models(server.url)
        facts: dict[str, Any] = json.loads(terminal.ask(RETRIES, "--json").stdout)
    return facts


def failed(facts: dict[str, Any]) -> list[str]:
    """Return the names of the checks that fail."""
    return [check["name"] for check in facts["checks"] if check["ok"] is False]


def test_a_model_that_cites_rightly_passes_and_code_prints_its_lines(terminal: Terminal) -> None:
    """The draft is its claims; the cited line stands in the return though the model never wrote it."""
    facts = asked(terminal, an_answer(claimed(RIGHT, 0), claimed("- Raise it there.", 0, kind="advice")))
    ret = facts["investigator_return"]
    assert (facts["passed"], failed(facts)) == (True, [])
    assert ret["draft_reply"] == f"{RIGHT}\n- Raise it there."
    assert [(one["kind"], one["cites"]) for one in ret["claims"]] == [("fact", [0]), ("advice", [0])]
    [ref] = ret["evidence_refs"]
    head = git(terminal.codebase, "rev-parse", "HEAD").strip()
    assert (ref["ref"], ref["quote"], ref["commit"]) == (PLACE, "MAX_ATTEMPTS = 5", head)
    assert (ret["question_type"], ret["risk"], ret["touches"]) == ("technical_qa", "none", "none")


@pytest.mark.parametrize("ref", ["shop/retry.py:300", "shop/imagined.py:3", "shop/retry.py:2-1", "../home/.env:1"])
def test_a_model_that_cites_what_is_not_there_does_not_pass(terminal: Terminal, ref: str) -> None:
    """Whatever the validator says; nothing is printed for such an address."""
    facts = asked(terminal, an_answer(claimed(RIGHT, 0), ref=ref))
    assert facts["passed"] is False
    assert "ref[0].resolves" in failed(facts)
    assert facts["investigator_return"]["evidence_refs"][0]["quote"] == ""


def test_a_model_that_cites_lazily_does_not_pass(terminal: Terminal) -> None:
    """A fact about the code without a citation is marked."""
    facts = asked(terminal, an_answer(claimed(RIGHT, 0), claimed("`FIRST_DELAY_S` is 9 seconds.")))
    assert (facts["passed"], failed(facts)) == (False, ["claim[1]"])
    assert facts["investigator_return"]["claims"][1]["cites"] == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("The gateway is tried 300 times.", "300"),
        ("The limit is `MAX_TRIES`.", "MAX_TRIES"),
        ("It waits 5 s.", "5 s"),
        ("It stands in `shop/export.py`.", "shop/export.py"),
    ],
)
def test_a_claim_that_its_lines_do_not_hold_is_marked_with_the_word(
    terminal: Terminal, text: str, missing: str
) -> None:
    """Also beside one that they hold; no validator is paid for it."""
    facts = asked(terminal, an_answer(claimed(RIGHT, 0), claimed(text, 0)))
    assert (facts["passed"], failed(facts)) == (False, ["claim[1]"])
    assert any(check["name"] == "claim[1]" and missing in check["reason"] for check in facts["checks"])


def test_a_model_that_answers_in_the_old_shape_works(terminal: Terminal) -> None:
    """Its paragraphs are facts that cite everything; a quote that stands at its address gives way to the lines."""
    answer = an_answer(ref="shop/retry.py:3-4")
    del answer["claims"], answer["risk"]
    answer["draft_reply"] = f"{RIGHT}\n\nIt begins with `FIRST_DELAY_S = 0.5`."
    answer["evidence_refs"][0]["quote"] = "MAX_ATTEMPTS = 5"
    facts = asked(terminal, answer)
    ret = facts["investigator_return"]
    assert ret["draft_reply"] == answer["draft_reply"]
    assert [(one["kind"], one["cites"]) for one in ret["claims"]] == [("fact", [0]), ("fact", [0])]
    assert ret["evidence_refs"][0]["quote"] == "MAX_ATTEMPTS = 5\nFIRST_DELAY_S = 0.5"
    assert [name for name in failed(facts) if name.startswith("ref")] == []


def test_a_quote_that_does_not_stand_at_its_address_is_kept_and_refused(terminal: Terminal) -> None:
    """Printing the true line over it would hide that the model made it up."""
    answer = an_answer(claimed(RIGHT, 0))
    answer["evidence_refs"][0]["quote"] = "MAX_ATTEMPTS = 6"
    facts = asked(terminal, answer)
    assert facts["passed"] is False
    assert "ref[0].quote" in failed(facts)
    assert facts["investigator_return"]["evidence_refs"][0]["quote"] == "MAX_ATTEMPTS = 6"
