"""Failures in a row: five of the same kind pause a session, and each try that fails again doubles the pause. Pure."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from bot.domain.moments import utc_text
from bot.domain.session import Failures, SessionState

PAUSE_AFTER: Final = 5
FIRST_PAUSE: Final = timedelta(minutes=30)
LONGEST_PAUSE: Final = timedelta(hours=24)
_NUMBERED: Final = re.compile(r"[\w-]*[0-9][\w-]*")


def failed(state: SessionState, key: str, now: datetime) -> SessionState:
    """Return the state after one more failure; `key` is its kind, such as `ProviderError: refused`.

    From the fifth of one kind in a row on, interval wakes are refused until the pause is over; the next failure of that
    kind doubles it, up to a day. Another kind starts to count anew.
    """
    is_same = kind_of(key) == kind_of(state.failures.key)
    before = state.failures.evolve(key=key) if is_same else Failures(key=key)
    count = before.count + 1
    paused_until = now + pause_after(count) if count >= PAUSE_AFTER else None
    return state.evolve(failures=before.evolve(count=count, paused_until=paused_until))


def kind_of(key: str) -> str:
    """Return what two failures of one kind have in common: all but numbers and the ids that hold some.

    >>> kind_of("Overloaded, HTTP 529 (request req_011CSH)") == kind_of("Overloaded, HTTP 529 (request req_01A9)")
    True
    """
    return _NUMBERED.sub("#", key)


def succeeded(state: SessionState) -> SessionState:
    """Return the state after a beat that did not fail: nothing is counted and nothing paused."""
    return state.evolve(failures=Failures())


def is_alert_due(state: SessionState) -> bool:
    """Whether the owner has to be told of the pause, which happens once; who could not be told is told later."""
    return state.failures.count >= PAUSE_AFTER and not state.failures.told


def pause_notice(state: SessionState) -> str:
    """Return what the owner is told of the pause."""
    until = state.failures.paused_until
    return (
        f"The heartbeat failed {state.failures.count} times in a row and pauses"
        f"{f' until {utc_text(until)}' if until else ''}: {state.failures.key}"
    )


def told(state: SessionState) -> SessionState:
    """Return the state after the owner was told of the pause."""
    return state.evolve(failures=state.failures.evolve(told=True))


def pause_after(count: int) -> timedelta:
    """Return how long a session pauses after `count` failures of one kind.

    >>> [pause_after(count) / timedelta(minutes=30) for count in (4, 5, 6, 7, 100)]
    [0.0, 1.0, 2.0, 4.0, 48.0]
    """
    if count < PAUSE_AFTER:
        return timedelta()
    doublings = min(count - PAUSE_AFTER, 16)
    return min(FIRST_PAUSE * (1 << doublings), LONGEST_PAUSE)
