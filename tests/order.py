"""The order of a run on several processes: what takes long begins first, on all of them; what is short fills the end.

A hook for tests/conftest.py. xdist's `worksteal` gives each process an equal share of the list, in order, and later
moves the ends of shares: without this, whoever is left with the journeys keeps the others waiting.
"""

from __future__ import annotations

import os
from itertools import groupby
from typing import Final

import pytest

SECONDS: Final = {
    "tests/crashes/": 20.0,
    "tests/replicas/": 17.0,
    "tests/journeys/": 4.0,
    "tests/cli/": 1.0,
    "tests/demo/": 0.5,
    "tests/reference/": 0.5,
    "tests/adapters/": 0.4,
    "tests/casework/": 0.2,
}
"""About how long a test of a folder takes; any other is short."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each process long files first, then as many short ones as make the shares equal; files stay whole."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers == 1:
        return
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    busy = [0.0] * workers
    for tests in sorted(filter(_seconds, files), key=_seconds, reverse=True):
        idlest = busy.index(min(busy))
        shares[idlest] += tests
        busy[idlest] += _seconds(tests)
    short = [item for tests in files if not _seconds(tests) for item in tests]
    for number, share in enumerate(shares):
        wanted = len(items) * (number + 1) // workers - len(items) * number // workers - len(share)
        taken, short = short[: max(0, wanted)], short[max(0, wanted) :]
        share += taken
    shares[-1] += short
    items[:] = [item for share in shares for item in share]


def _seconds(tests: list[pytest.Item]) -> float:
    """Return about how long a file takes; 0 if it is short."""
    name = tests[0].nodeid
    return len(tests) * next((seconds for folder, seconds in SECONDS.items() if name.startswith(folder)), 0.0)
