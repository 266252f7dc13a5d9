"""How often beats are due, and when: texts such as `1h30m` as durations, and the slots of an interval. Pure.

What could be read in two ways (`5`, `1.5h`, `30m1h`) is refused with an example of what is right. Slots have fixed
distances since the epoch, shifted by an offset of the session's own: they are the same after every restart. Times have
a zone, and intervals are a positive number of whole seconds.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from pydantic import BeforeValidator, PlainSerializer

from bot.errors import ConfigError

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)


_UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_FORM: Final = re.compile("".join(f"(?:([0-9]{{1,18}}){unit})?" for unit in _UNITS))
_EXAMPLES: Final = 'write for example "45s", "30m", "1h30m" or "2d"'


def offset_of(session_id: str, every: timedelta) -> timedelta:
    """Return how far a session's slots are shifted: whole seconds, at least none and less than the interval.

    >>> offset_of("api", timedelta(minutes=30)) == offset_of("api", timedelta(minutes=30)) < timedelta(minutes=30)
    True
    """
    share = int.from_bytes(hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).digest()[:8])
    return (every // _SECOND * share >> 64) * _SECOND


def slot_of(session_id: str, every: timedelta, now: datetime) -> datetime:
    """Return the latest slot that is not after `now`, in UTC; however many were missed, this one is the beat to run.

    >>> day = slot_of("api", timedelta(days=1), datetime(2026, 3, 29, 12, tzinfo=UTC))
    >>> next_slot("api", timedelta(days=1), day) - day
    datetime.timedelta(days=1)
    """
    since = now.astimezone(UTC) - _EPOCH - offset_of(session_id, every)
    return now.astimezone(UTC) - since % every


def next_slot(session_id: str, every: timedelta, now: datetime) -> datetime:
    """Return the first slot after `now`, in UTC."""
    return slot_of(session_id, every, now) + every


def due_slot(session_id: str, every: timedelta, last: datetime | None, now: datetime) -> datetime | None:
    """Return the slot whose beat is due, or None if the beat of the latest one was run.

    `last` is the slot (or time) of the last beat; None, or a time in the future because the clock was set back, makes
    the latest slot due.
    """
    slot = slot_of(session_id, every, now)
    return None if last is not None and slot <= last <= now else slot


def parse_interval(text: str) -> timedelta:
    """Return a duration written as whole days, hours, minutes and seconds, in that order, each at most once.

    Raises:
        ConfigError: anything else (a bare number of YAML's too), zero, and more than a timedelta holds.

    >>> parse_interval("30m"), parse_interval("1h30m") == parse_interval("90m")
    (datetime.timedelta(seconds=1800), True)
    >>> parse_interval("1.5h")
    Traceback (most recent call last):
    bot.errors.ConfigError: '1.5h' is not an interval; write for example "45s", "30m", "1h30m" or "2d"
    """
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if not match or not match.group():
        raise ConfigError(f"{repr(text)[:60]} is not an interval; {_EXAMPLES}")
    seconds = sum(int(count) * size for count, size in zip(match.groups("0"), _UNITS.values(), strict=True))
    if not seconds:
        raise ConfigError(f"{repr(text)[:60]} is no time at all; {_EXAMPLES}")
    try:
        return timedelta(seconds=seconds)
    except OverflowError as error:
        raise ConfigError(f"{repr(text)[:60]} is longer than any calendar; {_EXAMPLES}") from error


def format_interval(interval: timedelta) -> str:
    """Return the shortest text that `parse_interval` reads as `interval`, a positive number of whole seconds.

    >>> format_interval(timedelta(minutes=90)), format_interval(timedelta(days=2))
    ('1h30m', '2d')
    """
    rest, text = interval // _SECOND, ""
    for unit, size in _UNITS.items():
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text


def _read(value: object) -> object:
    try:
        return value if isinstance(value, timedelta) else parse_interval(value)  # type: ignore[arg-type]
    except ConfigError as error:
        raise ValueError(str(error)) from error


WrittenInterval = Annotated[timedelta, BeforeValidator(_read), PlainSerializer(format_interval)]
"""A duration that is written `15m`: in triage.yml and on disk."""
