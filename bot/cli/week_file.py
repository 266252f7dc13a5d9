"""`triage metrics --picture FILE`: the last seven days as a PNG, replaced as a whole.

An older picture of the same name makes way; anything else is left alone, for the name was a slip.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.adapters.files import replace_bytes
from bot.adapters.week_picture import draw_week
from bot.casework.week import read_week
from bot.errors import InputError

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


def write_week(home: Path, path: Path, now: datetime) -> str:
    """Write the picture and return a line that says where it is.

    Raises:
        ConfigError: the data directory cannot be read.
        InputError: something that is no picture stands there.
        StoreError: it cannot be written.
    """
    _refuse_to_replace(path)
    week = read_week(home, now, UTC)
    replace_bytes(path, draw_week(week))
    return f"{path.absolute()}: the last 7 days, to {week.until}"


def _refuse_to_replace(path: Path) -> None:
    try:
        with path.open("rb") as file:
            is_picture = file.read(len(_SIGNATURE)) == _SIGNATURE
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{path} cannot be replaced: {error.strerror}; give another name") from error
    if not is_picture:
        raise InputError(f"{path} is no PNG and stays as it is; give another name, such as week.png")
