"""How much disk a data directory uses, counted for a second or two at most."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

COUNT_FOR_S: Final = 2.0
_UNITS: Final = ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"))


def used(home: Path, *, count_for_s: float = COUNT_FOR_S) -> str:
    """Return what the files below a folder take, `at least` so much where there are too many to count them all."""
    until, count = time.monotonic() + count_for_s, 0
    for folder, _, names in os.walk(home):
        for name in names:
            try:
                count += Path(folder, name).lstat().st_size
            except OSError:  # gone meanwhile, or not ours to see
                continue
        if time.monotonic() > until:
            return f"at least {size(count)}"
    return size(count)


def size(count: int) -> str:
    """Return a number of bytes as people read it.

    >>> size(2048), size(12)
    ('2.0 KiB', '12 bytes')
    """
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} bytes"
