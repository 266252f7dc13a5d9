"""The card: what a human is shown of a draft, its judges, its cost and its doubts."""

from __future__ import annotations

import json
from typing import Any

from blocks.cards.draft_card import CardFacts, card_blocks
from blocks.cards.draft_status import status_line
from blocks.text.outgoing_text import local_time
from bot.domain.returns import CODE_CHECKS, Check, Usage, Verdict
from bot.domain.threads import PendingReason, Round, ThreadState, ThreadStatus
from bot.domain.waits import Wait, WaitFor
from tests.builders import NOW, a_return, a_verdict, in_status
from tests.tables import each_row

MODEL = "claude-opus-5-5"
OFFLINE: tuple[dict[str, Any], ...] = ({"investigator": "offline", "usage": Usage()}, {"usage": Usage()}, {})
PAID = Usage(input_tokens=1_000, output_tokens=200, cost_usd=0.0123)


def text_of(state: ThreadState, *, progress: str | None = None, team_language: str = "en") -> str:
    """Return all that a card shows, as one text."""
    facts = CardFacts(link_to=lambda _: None, team_language=team_language)
    blocks = [block.to_dict() for block in card_blocks(state, facts, progress=progress)]
    return json.dumps(blocks, ensure_ascii=False)


def waiting(reason: PendingReason = PendingReason.APPROVAL, **changes: Any) -> ThreadState:
    return in_status(ThreadStatus.PENDING_USER, reason, **changes)


def disagreed() -> ThreadState:
    """Return a thread that bounced twice."""
    rounds = tuple(
        Round(
            round=number,
            investigator_return=a_return(f"Draft number {number}."),
            checks=(Check(name="ref[0].quote", ok=False, reason="not verbatim"),),
            validator_return=a_verdict(Verdict.BOUNCE, reasons=(f"objection {number}",), validator_model=MODEL),
        )
        for number in (1, 2)
    )
    return waiting(
        PendingReason.DISAGREEMENT, rounds=rounds, investigator_round=2, validator_return=rounds[-1].validator_return
    )


def test_a_pass_names_its_judge_what_it_read_and_its_cost() -> None:
    """A ✓ says whose it is, and whether whoever gave it opened a file."""
    read = tuple(f"app/{n}.py:1-9" for n in range(5))
    shown = text_of(waiting(validator_return=a_verdict(validator_model=MODEL, read=read), usage=PAID))
    assert (
        f"*✓ Checked by a second model* · {MODEL} read `app/0.py:1-9`, `app/1.py:1-9`, `app/2.py:1-9`, 2 more" in shown
    )
    assert "$0.01" in shown
    unread = text_of(waiting(validator_return=a_verdict(validator_model=MODEL), usage=PAID))
    assert f"*✓ Checked by a second model* · {MODEL}, which opened no file" in unread


def test_a_search_is_called_a_search_result() -> None:
    """No ✓, no "checked", and nothing of claims: it is no answer."""
    for offline in OFFLINE:
        badge = status_line(waiting(validator_return=a_verdict(validator_model=CODE_CHECKS), **offline))
        assert badge.startswith("*Search result, not an answer*")
        assert not any(word in badge for word in ("✓", "hecked", "claim"))


def test_a_model_s_draft_that_code_alone_checked_is_called_that() -> None:
    """It is an answer, and nobody read it against the code."""
    badge = status_line(waiting(investigator="claude", usage=PAID, validator_return=a_verdict()))
    assert badge.startswith("*Checked by code alone, by no second model* · ")


def test_a_disagreement_shows_both_rounds_and_no_check_mark() -> None:
    """The human sees what was drafted first, what it was told, and what came of that."""
    shown = text_of(disagreed())
    assert "⚠ disagreement" in shown
    assert "✓" not in shown
    for part in ("Draft number 1.", "objection 1", "objection 2", f"judged by {MODEL}", "*The draft before*"):
        assert part in shown
    assert shown.count("*The draft before*") == 1


def test_a_foreign_question_has_its_gloss_under_it() -> None:
    """Or a word that there is none."""
    german = "Wie oft wird die Anfrage wiederholt, wenn der Server nicht antwortet und das Zeitlimit erreicht ist?"
    assert "How often?" in text_of(waiting(question=german, investigator_return=a_return(gloss="How\noften?")))
    foreign = waiting(question=german, investigator_return=a_return(question_language="de"))
    assert "Nothing was translated, and the question is not in the team's language" in text_of(foreign)
    assert "Nothing was translated" not in text_of(waiting(question=german))
    assert "Nothing was translated" not in text_of(foreign, team_language="de")


@each_row("status", [ThreadStatus.INVESTIGATING, ThreadStatus.AWAITING_VALIDATION])
def test_a_question_that_waits_says_for_what(status: ThreadStatus) -> None:
    """Only while it waits, and not while it is being tried again."""
    wait = Wait(what=WaitFor.CODEBASE, since=NOW, until=NOW)
    assert "git cannot read the codebase" in status_line(in_status(status, wait=wait))
    assert "git cannot read the codebase" not in status_line(in_status(status))
    away = in_status(status, wait=wait.model_copy(update={"what": WaitFor.MODEL, "why": "rate_limited"}))
    assert status_line(away) == f":hourglass: *Waiting for the model:* rate limited; next try {local_time(NOW)}"
    assert "Waiting" not in status_line(away, progress="2 tool calls")


@each_row("made", OFFLINE)
def test_without_a_model_no_round_no_confidence_and_no_disagreement(made: dict[str, Any]) -> None:
    """Also of a draft that did not pass; a model's draft says both."""
    for reason in (PendingReason.APPROVAL, PendingReason.DISAGREEMENT):
        state = waiting(reason, investigator_return=a_return(), investigator_round=2, **made)
        assert not any(word in text_of(state) for word in ("confidence", "round", "⚠", ":warning:", "disagreement"))
        assert "confidence medium · corrected once" in status_line(state.evolve(investigator=MODEL, usage=PAID))


def test_a_draft_with_a_refuted_claim_is_never_simply_high() -> None:
    """What it says of itself is not what the card says."""
    ret = a_return(confidence="high")
    refuted = Check(name="claim[0]", ok=False, reason="300 is missing")
    found = Round(
        round=1,
        investigator_return=ret,
        checks=(refuted,),
        validator_return=a_verdict(Verdict.BOUNCE, validator_model=MODEL),
    )
    state = waiting(
        PendingReason.DISAGREEMENT,
        investigator="claude",
        investigator_return=ret,
        rounds=(found,),
        validator_return=found.validator_return,
    )
    assert "confidence high, which the checks do not bear out" in status_line(state)
    whole = found.model_copy(update={"checks": (refuted.evolve(ok=True),)})
    assert "bear out" not in status_line(state.evolve(rounds=(whole,)))


def test_what_the_second_model_noted_stands_beside_a_pass() -> None:
    """A small drift, and its words for the human; a verdict without either adds nothing, and notifies nobody."""
    noted = a_verdict(validator_model="claude", scope_drift="minor", bounce_feedback="Mind <!channel> & the unit.")
    text = text_of(waiting(validator_return=noted))
    assert "Second model noted" in text
    assert "it says a little that nobody asked" in text
    assert "Mind &lt;!channel&gt; &amp; the unit." in text
    assert "Second model noted" not in text_of(waiting(validator_return=a_verdict(validator_model="claude")))


def test_a_draft_nobody_could_judge_is_shown_but_not_offered() -> None:
    """More attention, not less; and no Approve."""
    state = waiting(PendingReason.FAILED, validator_return=None)
    shown = text_of(state)
    assert "Nobody could check this draft, so it is not offered" in shown
    assert "The limit is 5" in shown
    assert "triage_approve" not in shown
