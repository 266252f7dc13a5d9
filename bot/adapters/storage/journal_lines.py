"""How the journals of all engines are read: the records of their lines, the newest bytes, what holds a text.

An engine yields its lines in either direction, each a record as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any


class JournalLines:
    """The reading half of the port Journal; `bad_lines` counts what the last reading skipped."""

    bad_lines = 0

    def records(self, *, last_bytes: int | None = None, containing: str = "") -> Iterator[dict[str, Any]]:
        """Yield every readable record, oldest first.

        `last_bytes` is what their lines take in a file; a line it cuts in two is left out.
        """
        wanted = self._written(containing)
        lines = self._forwards(wanted) if last_bytes is None else self._tail(last_bytes)
        return self._records(line for line in lines if wanted in line)

    def newest_first(self) -> Iterator[dict[str, Any]]:
        """Yield every readable record, newest first."""
        return self._records(self._backwards())

    def _records(self, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        self.bad_lines = 0
        with self._reading():
            for line in lines:
                if (record := record_in(line)) is not None:
                    yield record
                elif line.strip():
                    self.bad_lines += 1

    def _tail(self, left: int) -> Iterator[bytes]:
        """Yield the whole lines in the last bytes, oldest first."""
        found: list[bytes] = []
        for line in filter(None, self._backwards()):
            left -= len(line) + 1
            if left < 0:
                break
            found.append(line)
        yield from reversed(found)

    def _reading(self) -> AbstractContextManager[None]:
        """Enter while lines are read; raises what cannot be read as StoreError."""
        return nullcontext()

    def _written(self, text: str) -> bytes:
        """Return a text as it stands in a line."""
        raise NotImplementedError

    def _forwards(self, wanted: bytes) -> Iterator[bytes]:
        """Yield the lines, oldest first; those without `wanted` may be left out."""
        raise NotImplementedError

    def _backwards(self) -> Iterator[bytes]:
        """Yield the lines, newest first."""
        raise NotImplementedError


def record_in(line: bytes) -> dict[str, Any] | None:
    """Return the record that a line holds; None where it holds none."""
    try:
        record = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
