"""The table of jobs: every class has its handler, and a table without one does not start."""

from __future__ import annotations

import pytest

from bot.domain.jobs import WORK_CLASSES, ContinueThread
from bot.runtime.worker_pool import complete


def test_a_class_without_a_handler_stops_the_start() -> None:
    """The error names it."""
    handlers = dict.fromkeys(WORK_CLASSES.values(), print)
    assert complete(handlers) == handlers
    del handlers[ContinueThread]
    with pytest.raises(TypeError, match="ContinueThread"):
        complete(handlers)
