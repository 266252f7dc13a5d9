"""An append-only journal: one JSON object a line, fsynced, rotated by size with a rename so that `tail -F` follows.

A line torn by a crash is closed off before the next append, so it costs one record and never two. How its lines become
records, what of the newest bytes counts and which lines hold a text is the same for the journals of every engine.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import create_private, open_private, sync_folder
from bot.errors import refusal, refused
from bot.ports.storage import Names


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


ROTATE_BYTES = 64 * 1024 * 1024
BLOCK_BYTES: Final = 64 * 1024
"""What is read at once from the end of a file."""


class NdjsonJournal(JournalLines):
    """Port Journal over `path`; rotated files are `path.1`, `path.2`, …, the highest number the newest."""

    def __init__(self, path: Path, *, rotate_bytes: int = ROTATE_BYTES) -> None:
        self._path = path
        self._rotate_bytes = rotate_bytes
        self._lock = threading.Lock()
        self._handle: int | None = None

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

    def lines(self) -> Iterator[bytes]:
        """Yield every line that is not empty, without its end, oldest first."""
        with self._reading():
            yield from filter(bytes.strip, (line.rstrip(b"\r\n") for line in self._forwards(b"")))

    def restore(self, lines: Iterable[bytes], names: Names) -> None:  # noqa: ARG002 - records stand for themselves
        """Write lines into the empty file; raises StoreError when the disk refuses."""
        with refused(f"cannot write {self._path}", "free space or fix its owner"):
            create_private(self._path.parent)
            with open_private(self._path, "xb") as file:
                file.writelines(line + b"\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())

    def _written(self, text: str) -> bytes:
        return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")

    def _forwards(self, wanted: bytes) -> Iterator[bytes]:  # noqa: ARG002 - a file is read whole
        for part in _parts(self._path):
            with part.open("rb") as file:
                yield from file

    def _backwards(self) -> Iterator[bytes]:
        for part in reversed(_parts(self._path)):
            yield from _lines_backwards(part)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        back = "put the journal back from a backup"
        with refused(f"cannot read {self._path}", f"{back}, or run this as the user who runs triage", instead=back):
            yield

    def _open(self) -> int:
        if self._handle is not None and not self._is_at_path(self._handle):  # somebody moved or deleted the file
            self._close()
        if self._handle is None:
            create_private(self._path.parent)
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            size = os.fstat(self._handle).st_size
            if size and os.pread(self._handle, 1, size - 1) != b"\n":
                _write_all_or_nothing(self._handle, b"\n")
        return self._handle

    def _is_at_path(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return not self._path.parent.is_dir()

    def _rotate(self) -> int:
        self._close()
        if self._path.stat().st_size:
            number = max((number for number, _ in _rotated(self._path)), default=0) + 1
            self._path.rename(self._path.with_name(f"{self._path.name}.{number}"))
            sync_folder(self._path.parent)
        return self._open()

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _lines_backwards(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, last first, read in blocks from its end; raises OSError.

    A line longer than a block is put together once, not once for each block.
    """
    with path.open("rb") as file:
        left = file.seek(0, os.SEEK_END)
        pieces: list[bytes] = []  # of the line that goes on before what was read, last piece first
        while left:
            size = min(BLOCK_BYTES, left)
            left -= size
            file.seek(left)
            head, *lines = file.read(size).split(b"\n")
            if lines:
                pieces.append(lines[-1])
                yield b"".join(reversed(pieces))
                yield from reversed(lines[:-1])
                pieces = []
            pieces.append(head)
        yield b"".join(reversed(pieces))


def _rotated(path: Path) -> list[tuple[int, Path]]:
    """Return the rotated files of a journal with their numbers, oldest first."""
    pattern = re.compile(re.escape(path.name) + r"\.(\d+)")
    entries = path.parent.iterdir() if path.parent.is_dir() else ()
    return sorted((int(found[1]), one) for one in entries if (found := pattern.fullmatch(one.name)))


def _parts(path: Path) -> list[Path]:
    """Return the files of a journal, oldest first."""
    parts = [part for _, part in _rotated(path)]
    with suppress(FileNotFoundError):
        path.stat()
        parts.append(path)
    return parts


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
