"""Training: it learns what separates examples, the same on every run, and changes only what it was shown."""

from __future__ import annotations

import pytest

from bot.intake.classifier.scorer import Weights, features, shipped_weights
from bot.intake.classifier.training import Example, count_right, held_out_right, refit, train
from tests.tables import each_row

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


def test_refitting_moves_only_what_the_examples_hold() -> None:
    """A team's few judgements change their own n-grams; everything else keeps the shipped weight."""
    start = shipped_weights()
    shown = [Example(each.ngrams, each.asks, 3.0) for each in examples()]
    done = refit(shown, start)
    seen = {ngram for each in shown for ngram in each.ngrams}
    assert {ngram for ngram, weight in start.table.items() if done.table.get(ngram) != weight} <= seen
    assert count_right(shown, done) == len(shown)
    assert 0 <= held_out_right(shown, start) <= len(shown)


def test_nothing_to_learn_from_is_refused() -> None:
    """Weights from no examples would be none."""
    with pytest.raises(ValueError, match="nothing to learn from"):
        train([], threshold=0.5)


@each_row("asks", [True, False])
def test_judgements_of_one_kind_do_not_decide_other_messages(asks: bool) -> None:
    """People mostly judge ignored messages; ten of these leave a plain question one, and a plain statement none."""
    start = shipped_weights()
    judged = [Example(features(f"{word} was merged {word}".split()), asks, 3.0) for word in "abcdefghij"]
    trained = refit(judged, start)
    question, statement = (
        features(text.split()) for text in ("i cannot connect to the database", "lunch is at noon today")
    )
    assert trained.probability(question) > start.threshold > trained.probability(statement)
