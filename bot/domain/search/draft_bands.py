"""How often drafts made without a model named a right file, by what code knows of such a draft. Pure.

The counts stand in draft_bands.yml and come from a benchmark, so what a card says of a draft is what was measured, and
no more.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from bot.domain.tables import read_table

MEDIUM_SHARE: Final = 0.85
"""Of such drafts as named a right file, for a confidence of medium; high is for what somebody reasoned about."""
COVERED: Final = 0.6
SPARSE: Final = 0.2
LEADING: Final = 0.2


class Band(StrEnum):
    """What a draft rests on."""

    DEFINITION = "definition"
    FRAME = "frame"
    COVERED_QUESTION = "covered_question"
    QUESTION = "question"
    SPARSE_QUESTION = "sparse_question"
    LEADING_REPORT = "leading_report"
    REPORT = "report"


class DraftSigns(NamedTuple):
    """What code knows of a draft.

    `coverage` is the share of the question's telling words in the best excerpt, `lead` by how much of its score the
    best file is ahead of the second, both 0 to 1.
    """

    has_definition: bool = False
    has_frame: bool = False
    is_report: bool = False
    coverage: float = 0.0
    lead: float = 0.0


class Counted(NamedTuple):
    """How many drafts of a band there were, and how many of them named a right file."""

    right: int
    drafts: int

    @property
    def share(self) -> float:
        """The share to expect of the next ones, by Laplace's rule of succession: few drafts prove little."""
        return (self.right + 1) / (self.drafts + 2)


_COUNTS: Final = read_table(__file__, "draft_bands.yml", dict[Band, Counted])


def band_of(signs: DraftSigns) -> Band:
    """Return the band of a draft.

    >>> band_of(DraftSigns(coverage=0.75)), band_of(DraftSigns(is_report=True, has_frame=True))
    (<Band.COVERED_QUESTION: 'covered_question'>, <Band.FRAME: 'frame'>)
    """
    if signs.has_frame:
        return Band.FRAME
    if signs.has_definition:
        return Band.DEFINITION
    if signs.is_report:
        return Band.LEADING_REPORT if signs.lead >= LEADING else Band.REPORT
    if signs.coverage >= COVERED:
        return Band.COVERED_QUESTION
    return Band.QUESTION if signs.coverage >= SPARSE else Band.SPARSE_QUESTION


def counted(band: Band) -> Counted:
    """Return what became of the drafts of a band."""
    return _COUNTS[band]
