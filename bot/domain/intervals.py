"""How often: texts such as `30m` and `1h30m` as durations. Pure.

Strict on purpose: what could be read in two ways (`5`, `1.5h`, `30m1h`) is refused with an example of what is right.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from bot.errors import ConfigError

_UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_FORM: Final = re.compile("".join(f"(?:([0-9]{{1,18}}){unit})?" for unit in _UNITS))
_EXAMPLES: Final = 'write for example "45s", "30m", "1h30m" or "2d"'


def parse_interval(text: str) -> timedelta:
    """Return a duration written as whole days, hours, minutes and seconds, in that order, each at most once.

    Raises:
        ConfigError: anything else (a bare number of YAML's too), zero, and more than a timedelta holds.

    >>> parse_interval("30m"), parse_interval("1h30m") == parse_interval("90m")
    (datetime.timedelta(seconds=1800), True)
    >>> parse_interval("1.5h")
    Traceback (most recent call last):
    bot.errors.ConfigError: '1.5h' is no interval; write for example "45s", "30m", "1h30m" or "2d"
    """
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if not match or not match.group():
        raise ConfigError(f"{_shown(text)} is no interval; {_EXAMPLES}")
    seconds = sum(int(count) * size for count, size in zip(match.groups("0"), _UNITS.values(), strict=True))
    if not seconds:
        raise ConfigError(f"{_shown(text)} is no time at all; {_EXAMPLES}")
    try:
        return timedelta(seconds=seconds)
    except OverflowError as error:
        raise ConfigError(f"{_shown(text)} is longer than any calendar; {_EXAMPLES}") from error


def format_interval(interval: timedelta) -> str:
    """Return the shortest text that `parse_interval` reads as `interval`.

    Raises:
        ValueError: the interval is not a positive number of whole seconds.

    >>> format_interval(timedelta(minutes=90)), format_interval(timedelta(days=2))
    ('1h30m', '2d')
    """
    rest = interval // timedelta(seconds=1)
    if rest <= 0 or interval.microseconds:
        raise ValueError(f"{interval} is not a positive number of whole seconds")
    parts = []
    for unit, size in _UNITS.items():
        count, rest = divmod(rest, size)
        parts.append(f"{count}{unit}" if count else "")
    return "".join(parts)


def _shown(value: object) -> str:
    return repr(value)[:60]
