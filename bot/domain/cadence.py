"""When interval beats are: slots at fixed distances since the epoch, shifted by an offset of the session's own. Pure.

Nothing is remembered and nothing drifts: the same session and interval have the same slots after every restart, and
clock changes make no difference, for all arithmetic is in UTC. The offsets spread the sessions over the interval.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)


def offset_of(session_id: str, every: timedelta) -> timedelta:
    """Return how far a session's slots are shifted: whole seconds, at least none and less than the interval.

    >>> offset_of("api", timedelta(minutes=30)) == offset_of("api", timedelta(minutes=30)) < timedelta(minutes=30)
    True
    """
    share = int.from_bytes(hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).digest()[:8])
    return (every // _SECOND * share >> 64) * _SECOND


def slot_of(session_id: str, every: timedelta, now: datetime) -> datetime:
    """Return the latest slot that is not after `now`, in UTC; however many were missed, this one is the beat to run.

    Raises:
        ValueError: `now` is naive, or `every` is not a positive number of whole seconds.

    >>> day = slot_of("api", timedelta(days=1), datetime(2026, 3, 29, 12, tzinfo=UTC))
    >>> next_slot("api", timedelta(days=1), day) - day
    datetime.timedelta(days=1)
    """
    if now.utcoffset() is None:
        raise ValueError(f"{now!r} has no zone; its slot cannot be told")
    if every < _SECOND or every.microseconds:
        raise ValueError(f"{every} is not a positive number of whole seconds")
    since = now.astimezone(UTC) - _EPOCH - offset_of(session_id, every)
    try:
        return now.astimezone(UTC) - since % every
    except OverflowError:  # an interval of millennia
        return datetime.min.replace(tzinfo=UTC)


def next_slot(session_id: str, every: timedelta, now: datetime) -> datetime:
    """Return the first slot after `now`, in UTC; raises as `slot_of` does."""
    try:
        return slot_of(session_id, every, now) + every
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def due_slot(session_id: str, every: timedelta, last: datetime | None, now: datetime) -> datetime | None:
    """Return the slot whose beat is due, or None if the beat of the latest one was run.

    `last` is the slot (or time) of the last beat; None, or a time in the future because the clock was set back, makes
    the latest slot due. Raises as `slot_of` does.
    """
    slot = slot_of(session_id, every, now)
    return None if last is not None and slot <= last <= now else slot
