"""Ports for everything durable: documents, journals, jobs, leases, notes and run folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from threading import Condition
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

if TYPE_CHECKING:  # every command imports the ports, and few of them jobs
    from bot.domain.jobs import Job, Work
    from bot.ports.code import NoteStore
    from bot.ports.system import Clock, Replicas, SharedPace

DAMAGED: Final = -1
"""The version of what cannot be read: nothing is written over it."""

Names = Callable[[Mapping[str, Any]], Iterable[Sequence[str]]]
"""Returns the names of a record, each made of one or more words."""


class RunFolders(Protocol):
    """A folder is named by its place below the data directory, as `runs/<run>`. Methods raise StoreError."""

    def here(self, folder: str) -> Path:
        """Return where a run of this process writes; nothing need be there yet."""

    def publish(self, folder: str) -> None:
        """Have every replica read a folder as it stands here; harmless where there is none."""

    def fetch(self, folder: str) -> Path:
        """Return where a folder can be read, as it was last published or is written here; it may not be there."""

    def long_runs_since(self, moment: datetime) -> int:
        """Return how many long runs have ended since then."""

    def withdraw(self, before: datetime, needed: Sequence[str]) -> None:
        """Keep what was last written to before then no longer for all replicas; what lies on a machine stays there.

        A folder whose name begins with one of `needed` is kept.
        """

    def folders(self) -> Sequence[str]:
        """Return every folder that can be fetched, in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One JSON object of a collection, as it was when it was read.

    `version` counts its writes from 1. `value` is for reading only; None: it is there, and is no JSON object.
    """

    id: str
    version: int
    value: Mapping[str, Any] | None
    written_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class DamagedDocument:
    """A document that could not be read and was set aside: when it was last written, and whether by this process.

    `doc_id` is what it is called; nobody has checked it. `name` is what people find it by.
    """

    doc_id: str
    name: str
    at: datetime
    is_new: bool


class ArchivedDocument(NamedTuple):
    """The entry of an archived document: its id, the time it is filed under, and a `name` that is unique."""

    doc_id: str
    at: datetime
    name: str


class Documents(Protocol):
    """JSON objects by collection and id, see bot/ports/collections.py; other processes may write them too.

    An id is a name that is safe as a file's: whoever takes one from outside checks it. Every method raises StoreError
    where the disk refuses, and then nothing has changed.
    """

    def get(self, collection: str, doc_id: str) -> Document | None:
        """Return a document, or None where there is none."""

    def list(self, collection: str) -> Sequence[Document]:
        """Return every document of a collection, by id."""

    def find(self, collection: str, field: str, value: str) -> Sequence[Document]:
        """Return the documents that hold this text in a field of their own, by id."""

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        """Compare-and-set: store a value if `version` is still the stored one, 0 where there must be none.

        The document's version is then one higher. Raises Conflict when somebody else was faster.
        """

    def remove(self, collection: str, doc_id: str, *, version: int) -> None:
        """Remove a document if `version` is still the stored one; raises Conflict."""

    def place(self, collection: str, doc_id: str) -> str:
        """Return where people find a document, whether it is there or not."""

    def set_aside(self, collection: str, doc_id: str) -> str:
        """Take what cannot be read out of the collection, every byte kept; return where people find it.

        Nothing is returned where it was taken out already, with another document of the same file.
        """

    def damaged(self, collection: str) -> Sequence[DamagedDocument]:
        """Return everything that was ever set aside and still lies there, oldest first."""

    def archive(self, collection: str, doc_id: str, *, at: datetime) -> None:
        """Move a document to the archive of its collection, for that moment; nothing happens where there is none."""

    def archived(
        self, collection: str, doc_id: str | None = None, *, since: datetime | None = None
    ) -> Sequence[ArchivedDocument]:
        """Return what was archived, of all ids or of one, the newest first; reads none of it.

        With `since`, only what was archived for that moment or a later one.
        """

    def read_archived(self, collection: str, archived: ArchivedDocument) -> Document | None:
        """Return an archived document, or None where it is gone."""

    def restore(self, collection: str, document: Document, *, archived: ArchivedDocument | None = None) -> None:
        """Store a document of a move as it was elsewhere, its version and time included, over what stands there.

        With `archived` it goes to the archive: over the entry of that name, or as a new one where there is none.
        """


class Journal(Protocol):
    """An append-only file of JSON objects, one a line. Each reading method raises StoreError where it cannot be read.

    Bad lines are skipped and counted in `bad_lines`; no journal is an empty one.
    """

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and return once it is on disk; raises StoreError when it is not."""

    def records(self, *, last_bytes: int | None = None, containing: str = "") -> Iterator[dict[str, Any]]:
        """Yield every readable record, oldest first.

        With `last_bytes`, only the records in about that much of its end. With `containing`, only those whose line
        holds that text: many times faster than reading all of them, for an id is looked for before a line is parsed.
        """

    def newest_first(self) -> Iterator[dict[str, Any]]:
        """Yield every readable record, newest first; whoever stops early has read little more than it took."""

    @property
    def bad_lines(self) -> int:
        """How many lines the last reading had to skip."""

    def lines(self) -> Iterator[bytes]:
        """Yield every line that is not empty, without its end, oldest first: also those that hold no record."""

    def restore(self, lines: Iterable[bytes], names: Names) -> None:
        """Write the lines of a move into an empty journal, in their order; raises StoreError.

        `names` says under which names a record is known (`SharedWrites.take`), where the engine keeps that.
        """


class Lease(Protocol):
    """The right to do what only one may do."""

    @property
    def is_held(self) -> bool:
        """Whether nobody else has taken it over, as far as is known here."""

    def fenced(self) -> AbstractContextManager[None]:
        """Enter; what this thread writes inside is refused (StoreError) once another has the lease."""

    def release(self) -> None:
        """Let another have it."""


class Leases(Protocol):
    """One holder for what only one may do; a holder that dies has let go. Every method raises StoreError."""

    def take(self, name: str) -> Lease:
        """Return the lease at once; raises ConfigError, naming the holder, where somebody has it."""

    def holder(self, name: str) -> str | None:
        """Return which process has taken a lease, or None."""


class JobCounts(NamedTuple):
    """How many jobs wait, and how many were given up."""

    waiting: int
    failed: int


class Taken(StrEnum):
    """What became of a message that was to be taken."""

    FIRST = "first"
    """It is stored: journaled, classified and queued."""
    KNOWN = "known"
    """Somebody has stored it before, under one of its names."""
    IN_FLIGHT = "in flight"
    """Nothing was stored: its thread is worked on, or was, which whoever chose its job did not know."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SortedMessage:
    """A message with all that is stored of it: its record and the names it is known by, its class, its job if any."""

    thread_id: str
    event: Mapping[str, Any]
    names: Iterable[Sequence[str]]
    classified: Mapping[str, Any]
    work: Work | None
    at: datetime


class SharedWrites(Protocol):
    """What a store can do that other processes write to as well."""

    def take(self, message: SortedMessage, *, is_in_flight: bool) -> Taken:
        """Store all of a message at once, or nothing; raises StoreError.

        With `is_in_flight` its job was chosen as that of a thread that is worked on.
        """


class Store(Protocol):
    """Everything durable of one data directory but its jobs; see bot/ports/collections.py for what there is."""

    @property
    def shared(self) -> SharedWrites | None:
        """How replicas write together; None where one process works on the data directory."""

    @property
    def documents(self) -> Documents:
        """The documents of all collections."""

    @property
    def machine(self) -> Documents:
        """The documents that are of this machine alone: how its clones and its index stand."""

    @property
    def notes(self) -> NoteStore:
        """What people keep for the next question."""

    @property
    def decisions(self) -> DecisionLog:
        """What was decided on suggestions."""

    @property
    def runs(self) -> RunFolders:
        """What runs leave for people and later checks: runs/, escalations/."""

    @property
    def files(self) -> Path:
        """The data directory on this machine."""

    def journal(self, name: str) -> Journal:
        """Return a journal by its name."""

    def journals(self) -> Sequence[str]:
        """Return the names of the journals that are there, in order; raises StoreError."""

    def job_counts(self) -> JobCounts:
        """Return how many jobs there are, also beside the process that works them off."""


def any_job(_: Job) -> bool:
    """Want every job."""
    return True


class JobQueue(Protocol):
    """Durable work, first user jobs, then heartbeats, first-in first-out inside each."""

    def put(self, work: Work) -> Job:
        """Store a job for it; raises StoreError when the disk refuses."""

    def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
        """Take the first wanted job for whose key nothing runs, or return None; a claimed job survives a crash.

        What is not wanted is passed over, and holds up no other job of its key; jobs are looked at in order.
        """

    def done(self, job: Job) -> None:
        """Forget a claimed job."""

    def give_back(self, job: Job, *, why: str, count: bool = True) -> bool:
        """Return a claimed job to its place; False if that was its last attempt and it went to failed/.

        With `count=False` the attempt is not held against it (the process is stopping, a service is down), but jobs of
        other keys go first.
        """

    def holds(self, key: str) -> bool:
        """Whether a job for `key` waits or runs."""

    def unclaimed(self) -> Sequence[Job]:
        """Return the jobs that nobody works on yet, in order."""

    def take_given_up(self) -> Sequence[Job]:
        """Return, once each, the jobs that are not run any more because processes died of them."""

    def lost_since_ms(self) -> int | None:
        """Return from when on jobs may be missing because what held them is damaged; None where none is."""

    @property
    def corrupt(self) -> list[str]:
        """What holds no job, as people find it; whoever tells of one takes it out."""

    def failed(self) -> Sequence[Job]:
        """Return the jobs that were given up, in order, without what holds none."""

    def restore(self, job: Job) -> Job:
        """Store a job behind the others, with its attempts and failures: waiting or, if so, as failed.

        It is returned with the id that it has here. Raises StoreError.
        """

    def rewrite(self, convert: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> int:
        """Store what `convert` makes of the record of each job, and return how many were changed.

        Used on a queue that nobody works on, which is opened anew afterwards.
        """

    def close(self) -> None:
        """Give no more signs of life; what is still claimed is returned by the next process that looks."""


class Engine(Protocol):
    """Where state is kept: in the files of one machine, or in a database that replicas share.

    A team is named by its data directory; the process's own directory is that of the one team of old, too.
    """

    @property
    def is_shared(self) -> bool:
        """Whether other processes may work on the same state."""

    def store(self, home: Path, *, is_reader: bool = False) -> Store:
        """Return what a team, or the process, keeps. With `is_reader` nothing is changed. Raises StoreError."""

    def jobs(self, home: Path, clock: Clock, *, changed: Condition) -> JobQueue:
        """Return a team's queue, which notifies `changed` of new work; raises StoreError, ConfigError."""

    def leases(self, home: Path) -> Leases:
        """Return the leases of a team, or of the process."""

    def teams(self) -> Sequence[str]:
        """Return the teams beside the one of old that have left something."""

    @property
    def pace(self) -> SharedPace | None:
        """The rates of Slack that replicas keep together; None where one process has them to itself."""

    @property
    def replicas(self) -> Replicas | None:
        """Who works on the same state; None where it is one process."""

    def alone(self) -> AbstractContextManager[None]:
        """Enter where no process works on the state, and keep others out; raises ConfigError where one does.

        What this thread writes is one transaction; in files only where there was nothing before.
        """

    def probe(self, free_bytes: int) -> None:
        """Raise StoreError where writes are refused, or less room is free."""

    def close(self) -> None:
        """Let go of what is open."""


class DecisionLog(Protocol):
    """decisions.md: one line for each thing that was decided, for people to read."""

    def note(self, mark: str, line: str) -> None:
        """Append a line unless one that holds `mark` is there; raises StoreError when the disk refuses."""

    def text(self) -> str:
        """Return the whole of it as Markdown, empty where nothing was decided; raises StoreError."""

    def restore(self, text: str) -> None:
        """Write the whole of a move into an empty log; raises StoreError."""
