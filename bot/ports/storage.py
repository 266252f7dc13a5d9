"""What must survive us: documents, journals, jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from bot.domain.jobs import Job, Work
from bot.domain.threads import ThreadState

DAMAGED: Final = -1
"""The version of what cannot be read: nothing is written over it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One JSON object of a collection, as it was when it was read.

    `version` counts its writes from 1. `value` is for reading only; None: it is there, and is no JSON object.
    """

    id: str
    version: int
    value: Mapping[str, Any] | None
    written_at: datetime


class Documents(Protocol):
    """JSON objects by collection and id, see bot/ports/collections.py; other processes may write them too.

    An id is a name that is safe as a file's: whoever takes one from outside checks it. Every method raises StoreError
    where the disk refuses, and then nothing has changed.
    """

    def get(self, collection: str, doc_id: str) -> Document | None:
        """Return a document, or None where there is none."""
        ...

    def list(self, collection: str) -> Sequence[Document]:
        """Return every document of a collection, by id."""
        ...

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        """Compare-and-set: store a value if `version` is still the stored one, 0 where there must be none.

        The document's version is then one higher. Raises Conflict when somebody else was faster.
        """
        ...

    def delete(self, collection: str, doc_id: str, *, version: int) -> None:
        """Remove a document if `version` is still the stored one; raises Conflict."""
        ...

    def set_aside(self, collection: str, doc_id: str) -> str:
        """Take what cannot be read out of the collection, every byte kept; return where people find it."""
        ...


class Journal(Protocol):
    """An append-only file of JSON objects, one a line."""

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and return once it is on disk; raises StoreError when it is not."""
        ...

    def records(self, *, last_bytes: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield every readable record, oldest first, through rotated files too; bad lines are counted and skipped.

        With `last_bytes`, only the records in about that much of the end of the current file.
        """
        ...

    @property
    def bad_lines(self) -> int:
        """How many lines the last reading had to skip."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Damage:
    """A record of a thread that could not be read and was set aside: when it was last written, and whether just now.

    `thread_id` is what its file is called; nobody has checked it.
    """

    thread_id: str
    name: str
    at: datetime
    is_new: bool


class ThreadStore(Protocol):
    """The open threads, one document each; closed ones leave for the archive."""

    def get(self, thread_id: str) -> ThreadState | None:
        """Return the open thread, or None."""
        ...

    def put(self, state: ThreadState) -> ThreadState:
        """Compare-and-set: store `state` if its `version` is still the stored one (0 for a new thread).

        Returns the stored state, its version one higher. Raises Conflict when somebody else was faster,
        StoreError when the disk refuses; in both cases nothing is changed.
        """
        ...

    def threads(self) -> list[ThreadState]:
        """Return every thread in the store, oldest first."""
        ...

    def last_closed(self, thread_id: str) -> ThreadState | None:
        """Return how the thread last ended, or None if it never did."""
        ...

    def archive(self, thread_id: str) -> None:
        """Move a closed thread to closed/<yyyy-mm>/; doing it twice is harmless."""
        ...


def any_job(_: Job) -> bool:
    """Want every job."""
    return True


class JobQueue(Protocol):
    """Durable work, first user jobs, then heartbeats, first-in first-out inside each."""

    def put(self, work: Work) -> Job:
        """Store a job for it; raises StoreError when the disk refuses."""
        ...

    def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
        """Take the next wanted job the caps allow, or return None; a claimed job survives a crash.

        What is not wanted is passed over, and holds up no other job of its key.
        """
        ...

    def look_again(self) -> None:
        """Have whoever waits in `claim` look again: what is `wanted` has changed."""
        ...

    def end_waits(self) -> None:
        """Have whoever waits in `claim` return, and nobody wait from now on: the process stops."""
        ...

    def done(self, job: Job) -> None:
        """Forget a claimed job."""
        ...

    def give_back(self, job: Job, *, why: str, count: bool = True) -> bool:
        """Return a claimed job to its place; False if that was its last attempt and it went to failed/.

        With `count=False` the attempt is not held against it (the process is stopping, a service is down), but jobs of
        other keys go first.
        """
        ...

    def holds(self, key: str) -> bool:
        """Whether a job for `key` waits or runs."""
        ...
