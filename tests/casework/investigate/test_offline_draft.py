"""Bands of drafts: what each rests on, and what the counts promise."""

import pytest

from bot.casework.investigate.offline_draft import COUNTS, MEDIUM_SHARE, Band, DraftSigns, band_of


@pytest.mark.parametrize(
    ("signs", "band"),
    [
        (DraftSigns(has_frame=True, has_definition=True), Band.FRAME),
        (DraftSigns(has_definition=True, coverage=0.9), Band.DEFINITION),
        (DraftSigns(is_report=True, coverage=0.9, lead=0.3), Band.LEADING_REPORT),
        (DraftSigns(is_report=True, coverage=0.9, lead=0.1), Band.REPORT),
        (DraftSigns(coverage=0.6), Band.COVERED_QUESTION),
        (DraftSigns(coverage=0.3), Band.QUESTION),
        (DraftSigns(coverage=0.1, lead=1.0), Band.SPARSE_QUESTION),
    ],
)
def test_a_draft_belongs_to_the_strongest_sign(signs: DraftSigns, band: Band) -> None:
    """A frame before a definition, both before any share of words."""
    assert band_of(signs) is band


def test_every_band_has_been_counted() -> None:
    """And more signs never promise less than fewer of the same kind."""
    assert all(COUNTS[band].drafts >= COUNTS[band].right >= 0 for band in Band)
    assert COUNTS[Band.LEADING_REPORT].share > COUNTS[Band.REPORT].share
    assert COUNTS[Band.COVERED_QUESTION].share >= MEDIUM_SHARE > COUNTS[Band.SPARSE_QUESTION].share
