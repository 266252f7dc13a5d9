"""Trains the weights of the scorer: logistic regression by stochastic gradient descent, without any library.

Pure and deterministic: the same examples give the same weights. Own code, since numpy or scikit-learn would be larger
than the whole bot and the data is small: see docs/decisions/classifier.md.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from bot.intake.classifier.scorer import Weights, sigmoid

EPOCHS: Final = 14
_RATE: Final = 0.5  # AdaGrad's first step
_PENALTY: Final = 0.4  # pulls every weight back to where it began
_FIRST_SQUARE: Final = 1e-3
_DIGITS: Final = 3


class Example(NamedTuple):
    """A message as its n-grams, whether it wants an answer, and how much it counts."""

    ngrams: frozenset[str]
    asks: bool
    weight: float = 1.0


def train(
    examples: Sequence[Example],
    *,
    threshold: float,
    start: Weights | None = None,
    least: int = 2,
    smallest: float = 0.0,
    penalty: float = _PENALTY,
    is_fixed: bool = False,
) -> Weights:
    """Return weights fitted to examples.

    Args:
        examples: what to learn from.
        threshold: the probability from which on a message counts as a question; kept in the weights.
        start: the weights to begin with and to stay close to; None begins with none.
        least: how many examples must hold an n-gram for it to get a weight.
        smallest: weights nearer to 0 are left out.
        penalty: how strongly weights are held back; higher means more cautious.
        is_fixed: whether the weights of `start` and its bias stay as they are, so that only new n-grams are learned.

    Raises:
        ValueError: there are no examples.
    """
    if not examples:
        raise ValueError("there is nothing to learn from")
    counts = Counter(ngram for example in examples for ngram in example.ngrams)
    before = dict(start.table) if start else {}
    fixed = before.keys() & counts.keys() if is_fixed and start else set[str]()
    weights = dict.fromkeys(sorted(ngram for ngram, count in counts.items() if count >= least), 0.0)
    weights.update({ngram: before[ngram] for ngram in counts.keys() & before.keys()})
    model = _Model(weights=weights, bias=start.bias if start else 0.0, has_fixed_bias=is_fixed)
    pulls = {ngram: penalty / counts[ngram] for ngram in weights}
    model.descend(_rows(examples, weights, fixed), pulls)
    fitted = {ngram: round(weight, _DIGITS) for ngram, weight in weights.items()}
    table = {ngram: weight for ngram, weight in (before | fitted).items() if abs(weight) > smallest}
    return Weights(threshold=threshold, bias=round(model.bias, _DIGITS), table=table)


class _Row(NamedTuple):
    """An example: the n-grams that may learn from it, those that only count, and the scale of its score."""

    learning: list[str]
    fixed: list[str]
    scale: float
    asks: bool
    weight: float


def _rows(examples: Iterable[Example], weights: Mapping[str, float], fixed: Collection[str]) -> list[_Row]:
    return [
        _Row(
            sorted(ngram for ngram in each.ngrams if ngram in weights and ngram not in fixed),
            sorted(ngram for ngram in each.ngrams if ngram in fixed),
            1 / math.sqrt(len(each.ngrams) or 1),
            each.asks,
            each.weight,
        )
        for each in examples
    ]


@dataclass(kw_only=True)
class _Model:
    """Weights while they are fitted; each is pulled back to where it began."""

    weights: dict[str, float]
    bias: float
    has_fixed_bias: bool

    def descend(self, rows: list[_Row], pulls: Mapping[str, float]) -> None:
        """Fit the weights to rows in EPOCHS passes, each in an order that is the same on every run."""
        dice = random.Random(0)
        weights, anchor = self.weights, dict(self.weights)
        squares, bias_square = dict.fromkeys(weights, _FIRST_SQUARE), _FIRST_SQUARE
        for _ in range(EPOCHS):
            dice.shuffle(rows)
            for learning, fixed, scale, asks, weight in rows:
                held = sum([weights[ngram] for ngram in fixed])
                score = self.bias + scale * (held + sum([weights[ngram] for ngram in learning]))
                wrong = weight * (sigmoid(score) - asks)
                if not self.has_fixed_bias:
                    bias_square += wrong * wrong
                    self.bias -= _RATE * wrong / math.sqrt(bias_square)
                wrong *= scale
                for ngram in learning:
                    slope = wrong + pulls[ngram] * (weights[ngram] - anchor[ngram])
                    squares[ngram] += slope * slope
                    weights[ngram] -= _RATE * slope / math.sqrt(squares[ngram])
