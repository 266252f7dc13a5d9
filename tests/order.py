"""The order of a run on several processes: what waits goes on beside what computes; what is shortest fills the end.

A hook for tests/conftest.py. xdist's `worksteal` gives each process an equal share of the list, in order, and later
moves the ends of shares. Journeys wait more than they compute: were all processes at them at once, the processor would
be idle a quarter of the time, and busy with nothing else but short tests at the end.
"""

from __future__ import annotations

import os
from itertools import groupby
from typing import Final

import pytest

WAITING: Final = {
    "tests/replicas/test_clocks.py": 70.0,
    "tests/replicas/test_database_server.py": 35.0,
    "tests/journeys/test_storm.py": 13.0,
    "tests/replicas/": 12.0,
    "tests/crashes/": 9.0,
    "tests/journeys/": 2.5,
}
"""About how many seconds a test of a file or folder takes that mostly waits: for processes, leases, other processes."""

COMPUTING: Final = {
    "tests/cli/": 0.5,
    "tests/demo/": 0.5,
    "tests/reference/": 0.4,
    "tests/adapters/": 0.3,
    "tests/casework/": 0.1,
}
"""The same of tests that take long to compute; any other is short."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give three of four processes what waits, the longest first, and the others the rest; files stay whole."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers == 1:
        return
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    busy = [0.0] * max(1, workers * 3 // 4)
    for tests in sorted(files, key=lambda tests: _seconds(tests, WAITING) * len(tests), reverse=True):
        if seconds := _seconds(tests, WAITING) * len(tests):
            idlest = busy.index(min(busy))
            shares[idlest] += tests
            busy[idlest] += seconds
    rest = [tests for tests in files if not _seconds(tests, WAITING)]
    rest.sort(key=lambda tests: _seconds(tests, COMPUTING), reverse=True)
    _fill(shares, [item for tests in rest for item in tests])
    items[:] = [item for share in shares for item in share]


def _fill(shares: list[list[pytest.Item]], rest: list[pytest.Item]) -> None:
    """Make the shares as long as xdist cuts them; whose share is empty so far begins with the first of the rest."""
    many = sum(map(len, shares)) + len(rest)
    for number, share in sorted(enumerate(shares), key=lambda each: len(each[1])):
        wanted = many * (number + 1) // len(shares) - many * number // len(shares) - len(share)
        taken, rest = rest[: max(0, wanted)], rest[max(0, wanted) :]
        share += taken
    shares[-1] += rest


def _seconds(tests: list[pytest.Item], table: dict[str, float]) -> float:
    """Return about how long a test of a file takes; 0 if the table does not say."""
    name = tests[0].nodeid
    return next((seconds for place, seconds in table.items() if name.startswith(place)), 0.0)
