"""What was answered from part of the codebase is investigated again; what people touched is theirs."""

from __future__ import annotations

from pathlib import Path

from bot.casework.waiting_drafts import repeat_partial_answers
from bot.domain.threads import PendingReason, ThreadStatus
from tests.builders import a_return
from tests.casework.office import Office

PARTIAL = a_return("It is 5.", not_searched="38 of 50 files", index_unfinished=True)


def test_a_partial_answer_that_still_waits_is_made_anew_once(tmp_path: Path) -> None:
    """The second look finds nothing left to do."""
    office = Office(tmp_path, PARTIAL, a_return("It is 7.")).asked()
    repeat_partial_answers(office.service)
    assert office.state.status is ThreadStatus.INVESTIGATING
    office.work()
    assert (office.state.pending_reason, office.state.draft_pending) == (PendingReason.APPROVAL, "It is 7.")
    repeat_partial_answers(office.service)
    assert office.state.status is ThreadStatus.PENDING_USER


def test_questions_that_came_from_part_of_the_files_are_asked_of_all(tmp_path: Path) -> None:
    """There is no draft yet, and there may be one now."""
    unsure = a_return("", open_questions=("Which region?",), evidence_refs=(), index_unfinished=True)
    office = Office(tmp_path, unsure, a_return("It is 7.")).asked()
    repeat_partial_answers(office.service)
    office.work()
    assert office.state.draft_pending == "It is 7."


def test_an_edited_draft_and_a_whole_answer_stay(tmp_path: Path) -> None:
    """Nobody's words are thrown away."""
    edited, whole = Office(tmp_path, PARTIAL).asked(), Office(tmp_path).asked()
    edited.decisions.edit(edited.click(), "It is 6.")
    for office in (edited, whole):
        repeat_partial_answers(office.service)
        assert office.state.status is ThreadStatus.PENDING_USER
    assert edited.state.draft_pending == "It is 6."
