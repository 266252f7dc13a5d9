"""A human's text and the investigator's new draft beside it."""

from __future__ import annotations

import pytest

from bot.domain.drafts import (
    edit_draft,
    keep_human_text,
    name_request,
    propose_draft,
    use_candidate,
    use_new_draft,
)
from bot.domain.returns import EvidenceKind
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus, hash_draft
from bot.domain.waits import Doubt, DoubtCode
from tests.builders import NOW, REF, a_return, in_status

MINE, NEW = "Ask Ben.", "It is 7."
CONTEXT = Doubt(code=DoubtCode.CONTEXT, by="U3")


def waiting() -> ThreadState:
    """Return a thread that waits with the investigator's draft."""
    return in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL)


def sent_back(state: ThreadState, draft: str = NEW) -> ThreadState:
    """Return a thread that was investigated again, with that draft."""
    again = state.reopened(at=NOW, why="<@U2> asked for another investigation")
    drafted = again.transition(ThreadStatus.AWAITING_VALIDATION, at=NOW, why="draft of round 1")
    proposed = propose_draft(drafted.evolve(investigator_return=a_return(draft_reply=draft)), draft)
    return proposed.transition(ThreadStatus.PENDING_USER, at=NOW, why="passed", reason=PendingReason.APPROVAL)


def test_a_saved_edit_stands_and_the_new_draft_is_beside_it() -> None:
    """The human's words and their hash stay; an earlier click does not fit the new version."""
    edited = edit_draft(waiting(), MINE, by="U2")
    state = sent_back(edited)
    assert (state.draft_pending, state.draft_hash) == (MINE, hash_draft(MINE))
    assert state.draft_new is not None
    assert (state.draft_new.text, state.draft_new.hash) == (NEW, hash_draft(NEW))
    assert state.draft_version == edited.draft_version + 1


def test_an_edit_of_a_record_that_names_no_editor_stands_too() -> None:
    """The record of an earlier version has no `draft_edited_by`: its words differ from the investigator's."""
    old = waiting().evolve(draft_pending=MINE, draft_hash=hash_draft(MINE))
    assert old.draft_edited_by is None
    assert sent_back(old).draft_pending == MINE
    assert sent_back(sent_back(old)).draft_pending == MINE


def test_the_next_investigation_withdraws_only_the_draft_of_the_one_before() -> None:
    """While it runs, the human's text stands alone."""
    running = sent_back(edit_draft(waiting(), MINE, by="U2")).reopened(at=NOW, why="again")
    assert (running.draft_pending, running.draft_new) == (MINE, None)
    assert running.clicked_hash == ""


def test_use_new_proposes_the_new_draft() -> None:
    """It counts as the investigator's, and as nobody's edit."""
    state = use_new_draft(sent_back(edit_draft(waiting(), MINE, by="U2")), by="U3", at=NOW)
    assert (state.draft_pending, state.draft_hash, state.draft_new) == (NEW, hash_draft(NEW), None)
    assert not state.has_edited_draft
    assert state.draft_decided_by == "U3"
    [kept] = state.drafts_replaced
    assert (kept.by, kept.text) == ("U2", MINE), "a human's words are kept"


def test_use_mine_drops_the_new_draft() -> None:
    """The version changes, so a click on the card with both counts no more."""
    both = sent_back(edit_draft(waiting(), MINE, by="U2"))
    state = keep_human_text(both, by="U3", at=NOW)
    assert (state.draft_pending, state.draft_new, state.draft_edited_by) == (MINE, None, "U2")
    assert state.draft_version == both.draft_version + 1


def test_doubts_of_the_human_text_stay_and_are_settled_by_the_new_draft() -> None:
    """What changed before the new investigation is known to its draft, and to the human's text not."""
    doubted = edit_draft(waiting(), MINE, by="U2").with_doubts([CONTEXT])
    later = Doubt(code=DoubtCode.CODE_CHANGED, about="a.py:1")
    both = sent_back(doubted).with_doubts([later])
    assert both.doubts == (CONTEXT, later)
    assert use_new_draft(both, by="U3", at=NOW).doubts == (later,)
    assert len(use_new_draft(both, by="U3", at=NOW).stale_reasons) == 1


@pytest.mark.parametrize("is_beside", [False, True])
def test_a_pull_request_is_named_in_the_draft_whose_patch_it_has(is_beside: bool) -> None:
    """The human's text changes only where no draft of the investigator stands beside it."""
    edited = edit_draft(waiting(), MINE, by="U2")
    state = name_request(sent_back(edited) if is_beside else edited, "https://git.example/7")
    new = state.draft_new.text if state.draft_new else ""
    assert ("git.example" in new) is is_beside
    assert ("git.example" in (state.draft_pending or "")) is not is_beside
    assert state.draft_edited_by == "U2"


def test_a_candidate_and_the_draft_change_places() -> None:
    """Nothing is lost on the way there and back; no search offers more than two."""
    refs = [REF.evolve(ref=f"{name}.py:1", supports_claim=f"In {name}.") for name in "abcd"]
    found = a_return(evidence_refs=(refs[0],), candidates=tuple(refs[1:3]), confidence="medium")
    chosen = use_candidate(found, refs[2])
    assert (chosen.evidence_refs, chosen.candidates) == ((refs[2],), (refs[0], refs[1]))
    assert (chosen.draft_reply, chosen.confidence) == (f"In c.\n\n```\n{REF.quote}\n```", "low")
    back = use_candidate(chosen, refs[0])
    assert (back.evidence_refs, back.candidates) == ((refs[0],), (refs[2], refs[1]))
    assert len(use_candidate(found.evolve(candidates=tuple(refs[1:])), refs[3]).candidates) == 2
    note = REF.evolve(kind=EvidenceKind.MEMORY, ref="memory/retries.md:1")
    noted = use_candidate(found.evolve(evidence_refs=(refs[0], refs[3], note)), refs[1])
    assert noted.evidence_refs == (refs[1], note)
