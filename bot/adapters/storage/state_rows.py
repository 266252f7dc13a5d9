"""The rows in which two engines hand over all state, namespace by namespace, so that memory use stays flat.

`text` is JSON as it is stored. A record that is not a JSON object becomes a JSON string of its bytes, so that no byte
is lost, and is damaged in the other engine, too. Run folders are moved and shared in chunks of a file, each compressed
by itself: at most MAX_FILE_BYTES of each file; links, pipes and half-written files are left out.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, Protocol, TypeAlias

from bot.domain.jobs import Job
from bot.errors import StoreError
from bot.ports.collections import CLONES, INDEX, MOVED, PRESENCE, ROLLUPS

STAYS: Final = frozenset({CLONES, INDEX, PRESENCE, ROLLUPS, MOVED})
"""Collections that do not move: they tell of one machine, are made anew, or are the mark of a move."""

CLOSED: Final = "closed threads"
SET_ASIDE: Final = "set aside"
JOBS: Final = "jobs"
RUNS: Final = "files of runs"

CHUNK_BYTES: Final = 1024 * 1024
MAX_FILE_BYTES: Final = 64 * CHUNK_BYTES


class StoredDocument(NamedTuple):
    """A document of a collection."""

    collection: str
    id: str
    version: int
    text: str
    written_at: datetime


class ArchivedRow(NamedTuple):
    """A document in the archive, filed under a point in time."""

    archived_for: datetime
    document: StoredDocument


class DamagedRow(NamedTuple):
    """A document that was set aside."""

    document: StoredDocument


class StoredRecord(NamedTuple):
    """One record of a journal."""

    journal: str
    text: str


class RunChunk(NamedTuple):
    """A chunk of a file that a run left, compressed with zlib; `folder` was written to last at `touched_at`."""

    folder: str
    touched_at: datetime
    name: str
    number: int
    content: bytes


class JobState(StrEnum):
    """Where a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    FAILED = "failed"


class StoredJob(NamedTuple):
    """A job; of one that runs, `attempts` counts this attempt, too."""

    state: JobState
    job: Job


Row: TypeAlias = StoredDocument | ArchivedRow | DamagedRow | StoredRecord | StoredJob | RunChunk


class MovableState(Protocol):
    """One side of a move, on which nobody else works; every method raises StoreError."""

    def namespaces(self) -> Sequence[str]:
        """Return the process's own namespace, then those of the teams."""

    def count(self, namespace: str) -> Counter[str]:
        """Return how many documents, records and jobs there are, by collection, journal and state."""

    def rows(self, namespace: str) -> Iterator[Row]:
        """Yield everything, one kind after the other; archived threads, records and jobs in their order."""

    def write(self, namespace: str, rows: Iterable[Row]) -> None:
        """Store what the other side yields."""


def parsed(raw: bytes, place: str) -> dict[str, Any] | None:
    """Return the JSON object in bytes, or None.

    Raises:
        StoreError: it holds a number that is none in JSON, which PostgreSQL refuses.
    """

    def refuse(number: str) -> NoReturn:
        raise StoreError(f"{place} holds the number {number}, which a database does not take; mend it by hand")

    try:
        value = json.loads(raw.decode("utf-8", "surrogatepass"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def damaged_text(raw: bytes) -> str:
    """Return bytes that hold no JSON object as a JSON string.

    >>> damaged_text(b"{half"), damaged_bytes(damaged_text(b"\\xff"))
    ('"{half"', b'\\xff')
    """
    return json.dumps(raw.decode("utf-8", "surrogateescape"))


def damaged_bytes(text: str) -> bytes | None:
    """Return the bytes that a JSON string stands for; None where the text is a JSON object.

    >>> damaged_bytes('{"a": 1}'), damaged_bytes("[1]")
    (None, b'[1]')
    """
    value = json.loads(text)
    if isinstance(value, dict):
        return None
    try:
        return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else text.encode()
    except UnicodeEncodeError:
        return text.encode()


def chunks(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yield the files of a folder: the name below it, the chunk's number, its bytes; raises OSError."""
    for path in run_files(folder):
        with path.open("rb") as file:
            for number in range(MAX_FILE_BYTES // CHUNK_BYTES):
                content = file.read(CHUNK_BYTES)
                if content or not number:  # an empty file is there, too
                    yield path.relative_to(folder).as_posix(), number, zlib.compress(content)


def run_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that are taken."""
    for path in sorted(folder.rglob("*")):
        if not path.is_symlink() and path.is_file() and not path.name.startswith(".tmp-"):
            yield path
