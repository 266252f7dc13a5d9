"""What a card says of drafts like the one it shows: how often they named a right file in the tests. Pure."""

from __future__ import annotations

from typing import Final

from bot.domain.returns import TrackRecord

FEW: Final = 20
"""Drafts; fewer prove little, and the words say so."""


def track_record_words(record: TrackRecord) -> str:
    """Return the counts as one sentence.

    >>> track_record_words(TrackRecord(band="question", right=117, drafts=132, expected=0.88))
    'In our tests 117 of 132 drafts like this one named a right file (9 of 10).'
    >>> track_record_words(TrackRecord(band="frame", right=6, drafts=6, expected=0.88))
    'In our tests 6 of 6 drafts like this one named a right file; so few tests prove little.'
    """
    counts = f"In our tests {record.right} of {record.drafts} drafts like this one named a right file"
    if record.drafts < FEW:
        return f"{counts}; so few tests prove little."
    return f"{counts} ({round(10 * record.expected)} of 10)."
