"""What only the spool of files can get wrong: a start that is cut off between two steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.domain.jobs import ContinueThread
from bot.errors import StoreError
from tests.fakes import FakeClock


def test_a_start_that_is_cut_off_counts_a_death_once(tmp_path: Path) -> None:
    """The job could not be brought back to its place; the next start finds it as the death left it."""
    SpoolQueue(tmp_path, FakeClock()).put(ContinueThread(thread_id="T1.C1.2"))
    job = SpoolQueue(tmp_path, FakeClock()).claim()
    assert job is not None
    in_the_way = tmp_path / job.name
    in_the_way.mkdir()
    with pytest.raises(StoreError):
        SpoolQueue(tmp_path, FakeClock())
    in_the_way.rmdir()
    again = SpoolQueue(tmp_path, FakeClock()).claim()
    assert again is not None
    assert (again.deaths, again.deaths_alone) == (1, 1)
