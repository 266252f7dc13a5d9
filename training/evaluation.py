"""How good weights are: precision, recall, how much they wake, and whether a probability means what it says."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from training.examples import Dialogue

FOLDS: Final = 5
DIVISIONS: Final = 4
BINS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.01)


class Scored(NamedTuple):
    """A message: whether it wants an answer, how likely the weights call that, and which dialogue it stands in.

    `decided`: whether it wakes by the rules, whatever its probability; None where they leave it open.
    """

    asks: bool
    probability: float
    dialogue: int = 0
    decided: bool | None = None


class Accuracy(NamedTuple):
    """How a threshold does; `heard`: the share of the dialogues that ask in which an asking message wakes."""

    precision: float
    recall: float
    f1: float
    woken: float
    heard: float


class ReliabilityBin(NamedTuple):
    """Messages of about the same probability: what was said of them, and how it was."""

    low: float
    high: float
    count: int
    predicted: float
    observed: float


def accuracy(rows: Sequence[Scored], threshold: float) -> Accuracy:
    """Return how well the rules and a threshold separate messages that ask from the others."""
    woken = [row for row in rows if (row.probability >= threshold if row.decided is None else row.decided)]
    right = sum(row.asks for row in woken)
    precision, recall = right / max(1, len(woken)), right / max(1, sum(row.asks for row in rows))
    asking = {row.dialogue for row in rows if row.asks}
    heard = {row.dialogue for row in woken if row.asks}
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return Accuracy(precision, recall, f1, len(woken) / max(1, len(rows)), len(heard) / max(1, len(asking)))


def reliability(rows: Iterable[Scored]) -> list[ReliabilityBin]:
    """Return how often messages of about the same probability really ask, of those that the rules leave open."""
    rows = [row for row in rows if row.decided is None]
    table = []
    for low, high in itertools.pairwise(BINS):
        inside = [row for row in rows if low <= row.probability < high]
        if inside:
            predicted = sum(row.probability for row in inside) / len(inside)
            observed = sum(row.asks for row in inside) / len(inside)
            table.append(ReliabilityBin(low, min(1.0, high), len(inside), predicted, observed))
    return table


def folds(dialogues: Sequence[Dialogue], division: int) -> list[frozenset[int]]:
    """Return the groups of each fold; copies of a dialogue are in one fold, and the folds are the same on every run."""
    groups = sorted({each.group for each in dialogues})
    random.Random(division).shuffle(groups)
    return [frozenset(groups[fold::FOLDS]) for fold in range(FOLDS)]
