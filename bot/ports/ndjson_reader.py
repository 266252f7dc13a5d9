"""Reads newline-delimited JSON, through rotated files too; writes nothing, creates nothing, holds nothing open.

Used by the journal that also writes, and by commands that look into a running bot's data directory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def read_records(
    path: Path, *, last_bytes: int | None = None, on_bad: Callable[[], None] = lambda: None
) -> Iterator[dict[str, Any]]:
    """Yield every readable record of a journal, oldest first; `on_bad` is called for each line that is none.

    `last_bytes` reaches back through rotated files (`path.1`, `path.2`, …), so that a rotation a moment ago hides
    nothing; a line it cuts in two is left out.

    Raises:
        OSError: a file or its folder cannot be read.
    """
    for part, skip in _spans(path, last_bytes):
        with part.open("rb") as file:
            if skip:
                file.seek(skip - 1)
                file.readline()
            for line in file:
                record = _parsed(line)
                if record is not None:
                    yield record
                elif line.strip():
                    on_bad()


def rotated(path: Path) -> list[Path]:
    """Return the rotated files of a journal, oldest first."""
    pattern = re.compile(re.escape(path.name) + r"\.(\d+)")
    numbered = [(int(m[1]), p) for p in path.parent.iterdir() if (m := pattern.fullmatch(p.name))]
    return [part for _, part in sorted(numbered)]


def _spans(path: Path, last_bytes: int | None) -> list[tuple[Path, int]]:
    """Return which files to read, oldest first, and how many bytes of each to skip."""
    parts = [*rotated(path), *([path] if path.exists() else [])]
    if last_bytes is None:
        return [(part, 0) for part in parts]
    spans: list[tuple[Path, int]] = []
    for part in reversed(parts):
        if last_bytes <= 0:
            break
        size = part.stat().st_size
        spans.insert(0, (part, max(0, size - last_bytes)))
        last_bytes -= size
    return spans


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
