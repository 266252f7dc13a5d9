"""Effects inside an operation: changes of the disk and round trips to a database, known by function, never by name.

A hook of `sys.setprofile` sees each call that its thread makes just before it is made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from types import CodeType, FrameType
from typing import Any, Final

CHANGES: Final = frozenset(
    {"write", "fsync", "rename", "replace", "link", "unlink", "remove", "mkdir", "rmdir", "truncate", "ftruncate"}
)
"""The functions of `os` that change a disk. What a buffered file was given is there before its fsync."""


class EffectCounter:
    """Calls `deed` just before the `wanted`-th effect that this thread has from now on."""

    def __init__(self, wanted: int, deed: Callable[[], object]) -> None:
        self._left, self._deed, self._round_trips = wanted, deed, _round_trips()
        sys.setprofile(self._look)

    def stop(self) -> None:
        """Count no more."""
        sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, arg: Any) -> None:
        is_change = event == "c_call" and getattr(arg, "__module__", "") == "posix" and arg.__name__ in CHANGES
        if is_change or (event == "call" and frame.f_code in self._round_trips):
            self._left -= 1
            if self._left == 0:
                self._deed()


def _round_trips() -> frozenset[CodeType]:
    """Return the functions through which everything to a database server goes."""
    if find_spec("psycopg") is None:
        return frozenset()
    from psycopg import Connection

    return frozenset({Connection.wait.__code__})
