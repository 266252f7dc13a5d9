"""What became of planted errors, counted."""

from __future__ import annotations

from bot.casework.evaluation.planted_errors import PlantedKind
from bot.casework.evaluation.planted_scores import Outcome, Planted, PlantedScores
from bot.casework.evaluation.question_scores import Hits


def test_what_came_to_no_verdict_is_neither_caught_nor_refused() -> None:
    """A provider that fails says nothing of the draft."""
    judged = [
        Planted("Why?", kind, outcome, "")
        for kind, outcomes in (
            (None, (Outcome.PASSED, Outcome.UNKNOWN, Outcome.VALIDATOR)),
            (PlantedKind.WORD, (Outcome.CHECKS, Outcome.PASSED, Outcome.UNKNOWN)),
        )
        for outcome in outcomes
    ]
    found = PlantedScores(judged=judged, drafts=2, has_model=True)
    assert (found.unharmed, found.caught) == (Hits(1, 2), Hits(1, 2))
    assert found.stating == 1
    assert found.of_kind(PlantedKind.WORD) == (3, 1, 0, 1)
