"""Settings of how long a card may wait and what becomes of proposed notes."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator

from bot.domain.intervals import parse_interval
from bot.errors import ConfigError
from bot.setting_types import INTERVAL_FORM, reads


def _interval(value: object) -> object:
    if value is None or isinstance(value, timedelta):
        return value
    try:
        return parse_interval(str(value))
    except ConfigError as error:
        raise ValueError(f"{error}; null switches it off") from error


Patience = Annotated[
    timedelta | None,
    BeforeValidator(_interval),
    reads("duration such as 45m or 3d, or null", INTERVAL_FORM, null=True),
]
"""How long something may wait; None for ever."""

SaveNotes = Literal["ask", "always", "never"]
"""When a proposed note is saved: by an entry of the card, with every approval of an unedited draft, or not at all."""

REMIND_AFTER = timedelta(hours=4)
EXPIRE_AFTER = timedelta(days=3)
KEEP_RUNS_FOR = timedelta(days=90)
