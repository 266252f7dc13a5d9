"""What the machine's work on a thread waits for, and when it is tried again. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from pydantic import AwareDatetime

from bot.domain.frozen_value import FrozenValue

MODEL_PAUSE: Final = timedelta(seconds=15)
"""The first pause where the provider does not say; it doubles with every attempt."""

LEAST_ADVISED_PAUSE: Final = timedelta(seconds=1)
"""The first pause where it does say when; it doubles too, since the advice may not help."""

MAX_MODEL_PAUSE: Final = timedelta(minutes=15)
CODEBASE_PAUSE: Final = timedelta(seconds=5)


class WaitFor(StrEnum):
    """What is away."""

    CODEBASE = "codebase"
    MODEL = "model"


class Wait(FrozenValue):
    """Work that was put off `tries` times in a row; `why` is a code of bot/agent/provider_errors.py, or empty."""

    what: WaitFor
    why: str = ""
    since: AwareDatetime
    until: AwareDatetime
    tries: int = 1

    def is_early(self, at: datetime) -> bool:
        """Whether it is too early to try again; a clock that was set back does not make the pause longer."""
        return timedelta(0) < self.until - at <= MAX_MODEL_PAUSE


def next_wait(
    before: Wait | None, what: WaitFor, *, at: datetime, why: str = "", retry_after_s: float | None = None
) -> Wait:
    """Return the wait after an attempt that failed at `at`; `before` is the one after the attempt before it.

    It goes on since `before` began, also where something else is away now.

    >>> from datetime import UTC
    >>> first = next_wait(None, WaitFor.MODEL, at=datetime(2026, 1, 1, tzinfo=UTC))
    >>> second = next_wait(first, WaitFor.MODEL, at=first.until)
    >>> (first.until - first.since).seconds, (second.until - first.until).seconds, second.tries
    (15, 30, 2)
    """
    tries = before.tries + 1 if before and before.what is what else 1
    until = at + _pause(what, tries, retry_after_s)
    return Wait(what=what, why=why, since=before.since if before else at, until=until, tries=tries)


def _pause(what: WaitFor, tries: int, retry_after_s: float | None) -> timedelta:
    if what is WaitFor.CODEBASE:
        return CODEBASE_PAUSE
    growth = 1 << min(tries - 1, 16)
    if retry_after_s is None:
        return min(MAX_MODEL_PAUSE, MODEL_PAUSE * growth)
    return min(MAX_MODEL_PAUSE, max(timedelta(seconds=retry_after_s), LEAST_ADVISED_PAUSE * growth))
