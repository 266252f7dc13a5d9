"""Effects inside an operation: changes of the disk and round trips to a database, known by function, never by name.

A hook of `sys.setprofile` sees each call that its thread makes just before it is made.
"""

from __future__ import annotations

import io
import posix
import sys
from collections.abc import Callable
from importlib.util import find_spec
from types import CodeType, FrameType
from typing import Any, Final

CHANGES: Final = frozenset(
    {
        "write",
        "pwrite",
        "fsync",
        "rename",
        "replace",
        "link",
        "unlink",
        "remove",
        "mkdir",
        "rmdir",
        "truncate",
        "ftruncate",
    }
)
"""Functions of `os`, and methods of open files, that change a disk."""


class EffectCounter:
    """Calls `deed` just before the `wanted`-th effect that this thread has from now on."""

    def __init__(self, wanted: int, deed: Callable[[], object]) -> None:
        self._left, self._deed, self._round_trips = wanted, deed, _round_trips()
        sys.setprofile(self._look)

    def stop(self) -> None:
        """Count no more."""
        sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, arg: Any) -> None:
        is_change = event == "c_call" and _changes_disk(arg)
        if is_change or (event == "call" and frame.f_code in self._round_trips):
            self._left -= 1
            if self._left == 0:
                self._deed()


def _changes_disk(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    is_file = isinstance(owner, io.IOBase) and owner not in (sys.stdout, sys.stderr)
    return function.__name__ in CHANGES and (owner is posix or is_file)


def _round_trips() -> frozenset[CodeType]:
    """Return the functions through which everything to a database server goes."""
    if find_spec("psycopg") is None:
        return frozenset()
    from psycopg import Connection

    return frozenset({Connection.wait.__code__})
