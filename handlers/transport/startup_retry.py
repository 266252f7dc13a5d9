"""Waiting at the start until Slack answers: ending instead would only have a supervisor start us again, and again.

What Slack refuses for good (a token, a scope, a channel it does not know) is not waited for.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

from bot.errors import Unavailable

log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_PAUSE_S: Final = 1.0
MAX_PAUSE_S: Final = 60.0
MAX_ADVISED_S: Final = 900.0
"""How long Slack's own Retry-After is obeyed; a longer one is asked about in between."""


def patiently(ask: Callable[[], T], *, wait: Callable[[float], object] = time.sleep) -> T:
    """Return what `ask` returns, asking again in growing pauses while Slack cannot be reached; each wait is logged.

    Raises:
        ProviderError: Slack refused it; trying again would not help.
    """
    failures = 0
    while True:
        try:
            return ask()
        except Unavailable as error:
            pause_s = _pause_s(failures, error.retry_after_s)
            failures += 1
            log.warning(
                "triage waits for Slack and starts when it answers; next try in %g s: %s",
                pause_s,
                error,
                extra={"action": "start_waits", "attempt": failures},
            )
            wait(pause_s)


def _pause_s(failures: int, advised_s: float | None) -> float:
    """Return how long to wait after so many earlier failures, and Slack's own advice if it gave one."""
    ours_s = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(failures, 10))
    return max(ours_s, min(advised_s or 0.0, MAX_ADVISED_S))
