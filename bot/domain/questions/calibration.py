"""What became of a team's drafts of each kind, in its own tests and at its people's hands. Pure values.

A kind (`band`) is what a draft without a model rests on, or the confidence of a model's draft. Below `ENOUGH` drafts a
count says nothing of the next one, so what the shipped tests say stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import AwareDatetime, Field

from bot.domain.frozen_value import FrozenValue
from bot.domain.returns import InvestigatorReturn, TrackRecord

ENOUGH: Final = 20
"""Drafts; fewer prove little, and the words say so."""
MODEL: Final = "model_"
"""How the kinds of models' drafts begin; their confidence follows."""


class Measured(FrozenValue):
    """How many drafts there were, and how many of them named a right file."""

    right: int = 0
    drafts: int = 0

    @property
    def share(self) -> float:
        """The share to expect of the next ones, by Laplace's rule of succession: few drafts prove little.

        >>> Measured(right=17, drafts=18).share
        0.9
        """
        return (self.right + 1) / (self.drafts + 2)


class Decided(FrozenValue):
    """How many drafts people decided on, what they did with them, and how they voted on the replies."""

    approved: int = 0
    edited: int = 0
    dismissed: int = 0
    drafts: int = 0
    helpful: int = 0
    not_helpful: int = 0


class Calibration(FrozenValue):
    """The counts of one team by kind of draft; `measured_at` is None where nothing was measured."""

    measured_at: AwareDatetime | None = None
    tests: Mapping[str, Measured] = Field(default_factory=dict)
    people: Mapping[str, Decided] = Field(default_factory=dict)

    def record_for(self, ret: InvestigatorReturn, *, is_search: bool) -> TrackRecord | None:
        """Return what a card should say of drafts like this one; None where there is nothing to say."""
        shipped, band = ret.track_record, band_of_draft(ret, is_search=is_search)
        if band is None:
            return shipped
        tested, decided = self.tests.get(band, Measured()), self.people.get(band, Decided())
        known = shipped or TrackRecord(band=band, right=0, drafts=0, expected=0.0)
        if tested.drafts >= ENOUGH:
            measured = {"right": tested.right, "drafts": tested.drafts, "expected": round(tested.share, 2)}
            known = known.model_copy(update={**measured, "is_own": True})
        if decided.drafts >= ENOUGH:
            counts = {"approved": decided.approved, "edited": decided.edited, "decided": decided.drafts}
            known = known.model_copy(update=counts)
        return known if known.drafts or known.decided else None


def band_of_draft(ret: InvestigatorReturn, *, is_search: bool) -> str | None:
    """Return the kind of a draft; None of one without a model for which nothing was measured."""
    if not is_search:
        return f"{MODEL}{ret.confidence}"
    return ret.track_record.band if ret.track_record else None
