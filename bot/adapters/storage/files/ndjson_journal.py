"""An append-only journal: one JSON object a line, fsynced, rotated by size with a rename so that `tail -F` follows.

A line torn by a crash is closed off before the next append, so it costs one record and never two.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.atomic_write import sync_folder
from bot.errors import refusal

ROTATE_BYTES = 64 * 1024 * 1024


class NdjsonJournal:
    """Port Journal over `path`; rotated files are `path.1`, `path.2`, …, the highest number the newest."""

    def __init__(self, path: Path, *, rotate_bytes: int = ROTATE_BYTES) -> None:
        self._path = path
        self._rotate_bytes = rotate_bytes
        self._lock = threading.Lock()
        self._handle: int | None = None
        self.bad_lines = 0

    def require_readable(self) -> None:
        """Raise StoreError if the file is there and cannot be read: what it holds must not be done again."""
        try:
            with self._path.open("rb") as file:
                file.read(1)
        except FileNotFoundError:
            return
        except OSError as error:
            advice = "put the journal back from a backup, or fix its owner"
            raise refusal(f"cannot read {self._path}", error, advice) from error

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and return once it is on disk.

        Raises:
            StoreError: the disk refused it; what stands in the file already is untouched.
        """
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=str)
        data = line.encode("utf-8", "surrogatepass") + b"\n"
        with self._lock:
            try:
                handle = self._open()
                if os.fstat(handle).st_size + len(data) > self._rotate_bytes:
                    handle = self._rotate()
                _write_all_or_nothing(handle, data)
            except OSError as error:
                self._close()
                raise refusal(f"cannot write {self._path}", error, "free space or fix its owner") from error

    def records(self, *, last_bytes: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield every readable record, oldest first; unreadable lines are counted in `bad_lines`.

        `last_bytes` reaches back through rotated files, so that a rotation a moment ago hides nothing.
        """
        self.bad_lines = 0
        try:
            yield from read_records(self._path, last_bytes=last_bytes, on_bad=self._count_bad)
        except OSError as error:
            raise refusal(f"cannot read {self._path}", error, "run this as the user who runs triage") from error

    def _count_bad(self) -> None:
        self.bad_lines += 1

    def _open(self) -> int:
        if self._handle is None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            size = os.fstat(self._handle).st_size
            if size and os.pread(self._handle, 1, size - 1) != b"\n":
                _write_all_or_nothing(self._handle, b"\n")
        return self._handle

    def _rotate(self) -> int:
        self._close()
        if self._path.stat().st_size:
            newest = rotated(self._path)[-1:] or [self._path.with_name(self._path.name + ".0")]
            number = int(newest[0].name.rpartition(".")[2]) + 1
            self._path.rename(self._path.with_name(f"{self._path.name}.{number}"))
            sync_folder(self._path.parent)
        return self._open()

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


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
    entries = path.parent.iterdir() if path.parent.is_dir() else ()
    numbered = [(int(m[1]), p) for p in entries if (m := pattern.fullmatch(p.name))]
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


def _write_all_or_nothing(handle: int, data: bytes) -> None:
    """Append and bring to the disk; what a full disk took of it is cut off again, for the caller keeps the rest."""
    size = os.fstat(handle).st_size
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    except OSError:
        with suppress(OSError):
            os.ftruncate(handle, size)
        raise
