"""How much of what is many a run takes: `make test` a sample, the same each time; `make test-full` all of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final, TypeVar

FULL: Final = bool(os.environ.get("TRIAGE_TEST_FULL"))
EXAMPLES: Final = 100 if FULL else 25
"""How many examples a property gets that names no number."""
SHARE: Final = 1 if FULL else 4
"""How many times shorter a hostile text is than in a full run; it has as much less time."""

Row = TypeVar("Row")
Column = TypeVar("Column")


def examples(many: int) -> int:
    """Return how many examples a costly property gets: `many` in a full run, else a quarter."""
    return many if FULL else max(10, many // 4)


def every(nth: int, rows: Iterable[Row], *, start: int = 0) -> list[Row]:
    """Return every nth row, counted from `start`; a full run takes all."""
    found = list(rows)
    return found if FULL else found[start % nth :: nth]


def pairs(rows: Iterable[Row], columns: Sequence[Column], *, per_row: int) -> list[tuple[Row, Column]]:
    """Return each row with so many of the columns, each column about as often; a full run takes all pairs."""
    if FULL:
        return list(product(rows, columns))
    stride = max(1, len(columns) // per_row)
    steps = range(0, stride * min(per_row, len(columns)), stride)
    return [(row, columns[(number + step) % len(columns)]) for number, row in enumerate(rows) for step in steps]
