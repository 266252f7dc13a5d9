"""What a card says of drafts like the one it shows."""

from blocks.cards.draft_card import CardFacts, card_blocks
from bot.domain.returns import TrackRecord
from bot.domain.severity import Severity
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus
from tests.builders import a_return, in_status

RECORD = TrackRecord(band="question", right=116, drafts=130, expected=0.89)


def said(state: ThreadState) -> str:
    return repr([block.to_dict() for block in card_blocks(state, CardFacts(link_to=lambda _: None))])


def test_a_card_says_how_often_such_drafts_were_right() -> None:
    """In words, while a draft without a model waits; nothing of a draft that a model wrote."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL)
    measured = state.evolve(investigator_return=a_return(track_record=RECORD))
    assert "116 of 130 drafts like this one named a right file (9 of 10)" in said(measured)
    assert "drafts like this one" not in said(state.evolve(investigator_return=a_return()))
    assert "drafts like this one" not in said(measured.evolve(draft_pending=None))


def test_a_draft_for_an_alarm_has_no_such_count() -> None:
    """It was measured with questions."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL)
    measured = state.evolve(investigator_return=a_return(track_record=RECORD))
    assert "drafts like this one" not in said(measured.evolve(severity=Severity.PAGE))
    assert "drafts like this one" not in said(measured.evolve(original_sender_id="B0ALERTS"))


def test_a_card_says_whose_counts_they_are() -> None:
    """What people of the team did stands first, for drafts of models as well."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL)
    own = RECORD.model_copy(update={"is_own": True, "decided": 30, "approved": 22, "edited": 5})
    words = said(state.evolve(investigator_return=a_return(track_record=own)))
    assert "In your team 22 of 30 drafts like this one were approved as they were, 5 were edited. In your team" in words
    assert "tests 116 of 130 drafts like this one named a right file" in words
