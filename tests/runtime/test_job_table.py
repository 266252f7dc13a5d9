"""The table of jobs: every class has its handler, and a table without one does not start."""

from __future__ import annotations

import pytest

from bot.domain.jobs import WORK_CLASSES, ContinueThread, RebuildThread, Work
from bot.runtime.job_table import JobTable, row


def test_work_goes_to_the_handler_of_its_very_class() -> None:
    """A class that extends another has a handler of its own."""
    done: list[tuple[str, Work]] = []
    table = JobTable(
        row(work, lambda given, name=name: done.append((name, given)))  # type: ignore[misc]
        for name, work in WORK_CLASSES.items()
    )
    again, lost = ContinueThread(thread_id="T1.C1.2"), RebuildThread(thread_id="T1.C1.2", file="x")
    for work in (again, lost):
        table.handler_of(work)(work)
    assert done == [("continue-thread", again), ("rebuild-thread", lost)]


def test_a_class_without_a_handler_stops_the_start() -> None:
    """The error names it."""
    rows = [row(work, print) for work in WORK_CLASSES.values() if work is not ContinueThread]
    with pytest.raises(TypeError, match="ContinueThread"):
        JobTable(rows)
