"""A lock between processes on a file beside what it guards; the kernel releases it when its holder dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import refusal


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Enter when no other process is inside; raises StoreError where the file cannot be opened."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise refusal(f"cannot lock {path}", error, "fix the folder's owner") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
