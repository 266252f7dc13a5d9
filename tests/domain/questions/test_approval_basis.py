"""A team's own counts in place of the shipped ones, once there are enough."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.questions.approval_basis import ENOUGH, Calibration, Decided, Measured, band_of_draft
from bot.domain.returns import TrackRecord
from tests.builders import a_return

SHIPPED = TrackRecord(band="question", right=115, drafts=130, expected=0.88)
SEARCHED = a_return(track_record=SHIPPED)
MODELLED = a_return(confidence="high")


def test_few_drafts_prove_little() -> None:
    """The same share of right ones promises less where there were fewer."""
    shares = [Measured(right=count, drafts=count).share for count in (0, 1, 10, 1_000)]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1] < 1) == (0.5, True)


@given(drafts=st.integers(0, ENOUGH - 1), decided=st.integers(0, ENOUGH - 1))
def test_too_few_drafts_change_nothing(drafts: int, decided: int) -> None:
    """Neither what is shipped nor the silence about models."""
    bands = ("question", "model_high")
    known = Calibration(
        tests={band: Measured(right=drafts, drafts=drafts) for band in bands},
        people={band: Decided(approved=decided, drafts=decided) for band in bands},
    )
    assert known.record_for(SEARCHED, is_search=True) == SHIPPED
    assert known.record_for(MODELLED, is_search=False) is None


def test_own_tests_take_the_place_of_the_shipped_ones() -> None:
    """And say so; other kinds of drafts keep what they had."""
    known = Calibration(tests={"question": Measured(right=10, drafts=20)})
    record = known.record_for(SEARCHED, is_search=True)
    assert record == TrackRecord(band="question", right=10, drafts=20, expected=0.5, is_own=True)
    other = a_return(track_record=SHIPPED.model_copy(update={"band": "frame"}))
    assert known.record_for(other, is_search=True) == other.track_record


def test_what_people_did_stands_beside_the_tests() -> None:
    """Of a model's draft it stands alone until its kind was tested."""
    decided = {"decided": 24, "approved": 20, "edited": 3}
    counts = Decided(approved=20, edited=3, drafts=24)
    known = Calibration(people={"question": counts, "model_high": counts})
    assert known.record_for(SEARCHED, is_search=True) == SHIPPED.model_copy(update=decided)
    record = known.record_for(MODELLED, is_search=False)
    assert record == TrackRecord(band="model_high", right=0, drafts=0, expected=0.0, **decided)


def test_a_draft_that_was_never_measured_is_of_no_kind() -> None:
    """A search for an alarm has no counts, whatever the team has."""
    assert band_of_draft(a_return(), is_search=True) is None
    assert Calibration().record_for(a_return(), is_search=True) is None
