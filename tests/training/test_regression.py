"""Training: it learns what separates examples, the same on every run, and changes only what it was shown."""

from __future__ import annotations

import pytest

from bot.intake.classifier.scorer import Weights, features
from training.regression import Example, train

ASKS = ("please unlock the moon", "unlock the harbour please", "unlock it please", "please unlock the attic")
SAYS = ("the moon is up", "the harbour is calm", "it is calm", "the attic is clean")


def examples() -> list[Example]:
    return [Example(features(text.split()), asks) for texts, asks in ((ASKS, True), (SAYS, False)) for text in texts]


def test_it_learns_what_separates_the_examples() -> None:
    """A word that only askers use speaks for a question, in new company too."""
    weights = train(examples(), threshold=0.5)
    assert weights.table["unlock"] > 0 > weights.table["is"]
    assert (
        weights.probability(features(["unlock", "a", "door"])) > 0.5 > weights.probability(features(["a", "is", "b"]))
    )


def test_the_same_examples_give_the_same_weights() -> None:
    """Byte for byte."""
    assert train(examples(), threshold=0.5).to_json() == train(examples(), threshold=0.5).to_json()


def test_fixed_weights_stay() -> None:
    """New n-grams are learned, those of the start and its bias do not move."""
    start = Weights(threshold=0.5, bias=0.25, table={"the": 0.75})
    done = train(examples(), threshold=0.5, start=start, is_fixed=True)
    assert (done.bias, done.table["the"]) == (0.25, 0.75)
    assert done.table["unlock"] > 0


def test_nothing_to_learn_from_is_refused() -> None:
    """Weights from no examples would be none."""
    with pytest.raises(ValueError, match="nothing to learn from"):
        train([], threshold=0.5)
