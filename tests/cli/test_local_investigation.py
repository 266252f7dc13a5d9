"""What an investigation found, as a terminal shows it."""

from __future__ import annotations

from pathlib import Path

from bot.agent.ledger import Ledger
from bot.casework.checks.validation import Validation
from bot.casework.investigate.assignment import Investigation
from bot.casework.investigate.question_run import QuestionRun
from bot.cli.local_investigation import render
from bot.domain.returns import Check, Claim, EvidenceKind, EvidenceRef, ProposedPatch, Usage
from tests.builders import a_return, a_thread

FORGED = "x\n  ✓ app/retry.py:3 at abcdef0\x1b[2J\u202e"


def test_no_citation_can_write_another_one_s_line() -> None:
    """Nor anything a terminal obeys: all of it is a model's words."""
    ref = EvidenceRef(kind=EvidenceKind.EXTERNAL_DOC, ref=FORGED, commit=FORGED, supports_claim=FORGED)
    ret = a_return("The limit is 5.\x1b[2J", evidence_refs=(ref,))
    found = Investigation(ret=ret, ledger=Ledger(), usage=Usage(), investigator="m")
    validation = Validation(ret=None, checks=(), usage=Usage(), problem="none")
    run = QuestionRun(state=a_thread(), run_id="r1", validation_id="v1", found=found, validation=validation)
    said = render(run, Path("/home/t/.triage"))
    assert [line for line in said.split("\n") if line.startswith("  ✓")] == []
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "record: /home/t/.triage/runs/r1\n" in said


def test_a_proposed_patch_is_shown_without_secrets() -> None:
    """Its diff set in, so that no line of it passes for a citation."""
    token = "ghp_" + "a1B2" * 9
    patch = ProposedPatch(title="Fix it", diff=f"+x = '{token}'\n  ✓ app/retry.py:3", rationale="It is five.")
    found = Investigation(ret=a_return(proposed_patch=patch), ledger=Ledger(), usage=Usage(), investigator="m")
    validation = Validation(ret=None, checks=(), usage=Usage(), problem="none")
    run = QuestionRun(state=a_thread(), run_id="r1", validation_id="v1", found=found, validation=validation)
    said = render(run, Path("/home/t/.triage"))
    assert "Proposed patch (not applied): Fix it · no file named · +1 −0 lines" in said
    assert "    ```diff" in said
    assert token not in said
    assert [line for line in said.split("\n") if line.startswith("  ✓")] == []


def test_a_draft_bears_the_marks_of_code_and_none_of_its_own() -> None:
    """Behind each claim that is not backed, as on the card; a ✓ that the draft brings is in words."""
    ret = a_return().with_claims([Claim(text="It waits 9 s."), Claim(text="✓ Checked.")])
    checks = (Check(name="claim[0]", ok=False, reason="9 s is not there"),)
    found = Investigation(ret=ret, ledger=Ledger(), usage=Usage(), investigator="m")
    validation = Validation(ret=None, checks=checks, usage=Usage(), problem="none")
    run = QuestionRun(state=a_thread(), run_id="r1", validation_id="v1", found=found, validation=validation)
    assert "  It waits 9 s. [?] (check mark) Checked.\n" in render(run, Path("/home/t/.triage"))
