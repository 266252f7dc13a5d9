"""A throw-away workspace between two tests."""

from __future__ import annotations

import threading
from contextlib import suppress

from bot.errors import ProviderError
from tests.hands import Control


def empty(control: Control) -> None:
    """Wait until nothing of the last test's bot is at work here, and forget what it said."""
    control.wait_for(lambda: not control.modals.is_bot_connected(), "the last test's bot to leave")
    with suppress(ProviderError):  # a stop leaves a job alone after some seconds, and the job may speak later
        control.wait_for(_no_worker, "its jobs to end", timeout_s=60)
    control.reset()


def _no_worker() -> bool:
    return not any(thread.name.startswith("worker-") for thread in threading.enumerate())
