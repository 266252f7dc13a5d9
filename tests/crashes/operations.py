"""The engine of the bot with a watch on each operation that changes something; what is not watched passes through.

An operation is described by its verb, the name of its collection, journal or lease, and its value as JSON. One that
does several things at once is described by its parts in order: a moment before a part is before all of them, a moment
after a part is after all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from bot.domain.jobs import Job, Work
from bot.ports import Documents, Engine, JobQueue, Journal, Lease, Leases, RunFolders, SharedWrites, Store, any_job
from bot.ports.collections import CLASSIFIED, EVENTS
from bot.ports.storage import SortedMessage, Taken


class Watch(Protocol):
    """Told of each operation, in words."""

    def begins(self, *parts: str) -> None:
        """An operation is about to be carried out."""

    def ends(self, *parts: str) -> None:
        """It returned."""

    def fails(self) -> None:
        """It raised, or found nothing to do."""


class _Watched:
    """Hands everything on to what it stands for."""

    def __init__(self, wrapped: Any, watch: Watch) -> None:
        self._wrapped, self._watch = wrapped, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    @contextmanager
    def _during(self, *parts: str) -> Iterator[None]:
        self._watch.begins(*parts)
        try:
            yield
        except BaseException:
            self._watch.fails()
            raise
        self._watch.ends(*parts)


class WatchedDocuments(_Watched):
    """Port Documents: `put`, `remove`, `archive`, each with collection and id; `put` with the value."""

    _wrapped: Documents

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        """Store a value."""
        with self._during(f"put {collection} {doc_id} {_json(value)}"):
            self._wrapped.put(collection, doc_id, value, version=version)

    def remove(self, collection: str, doc_id: str, *, version: int) -> None:
        """Remove a document."""
        with self._during(f"remove {collection} {doc_id}"):
            self._wrapped.remove(collection, doc_id, version=version)

    def archive(self, collection: str, doc_id: str, *, at: datetime) -> None:
        """Move a document to the archive."""
        with self._during(f"archive {collection} {doc_id}"):
            self._wrapped.archive(collection, doc_id, at=at)


class WatchedJournal(_Watched):
    """Port Journal: `append` with the journal's name and the record."""

    _wrapped: Journal

    def __init__(self, wrapped: Journal, watch: Watch, name: str) -> None:
        super().__init__(wrapped, watch)
        self._name = name

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record."""
        with self._during(_append(self._name, record)):
            self._wrapped.append(record)


class WatchedQueue(_Watched):
    """Port JobQueue: `enqueue` with kind, key and work; `claim`, `done` and `give_back` with kind and key."""

    _wrapped: JobQueue

    def put(self, work: Work) -> Job:
        """Store a job."""
        with self._during(_enqueue(work)):
            return self._wrapped.put(work)

    def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
        """Take the next wanted job; the claim begins when one is found."""
        found: list[Job] = []

        def notes(job: Job) -> bool:
            is_wanted = wanted(job)
            if is_wanted and not found:
                found.append(job)
                self._watch.begins(_of("claim", job))
            return is_wanted

        try:
            job = self._wrapped.claim(notes)
        except BaseException:
            self._watch.fails()
            raise
        if job is None:
            self._watch.fails()
        else:
            self._watch.ends(_of("claim", job))
        return job

    def done(self, job: Job) -> None:
        """Forget a claimed job."""
        with self._during(_of("done", job)):
            self._wrapped.done(job)

    def give_back(self, job: Job, *, why: str, count: bool = True) -> bool:
        """Return a claimed job to its place."""
        with self._during(_of("give_back", job)):
            return self._wrapped.give_back(job, why=why, count=count)


class WatchedLeases(_Watched):
    """Port Leases: `lease` with the name."""

    _wrapped: Leases

    def take(self, name: str) -> Lease:
        """Return the lease."""
        with self._during(f"lease {name}"):
            return self._wrapped.take(name)


class WatchedRuns(_Watched):
    """Port RunFolders: `publish` with the folder; a run ends with it."""

    _wrapped: RunFolders

    def publish(self, folder: str) -> None:
        """Have a folder read everywhere."""
        with self._during(f"publish {folder}"):
            self._wrapped.publish(folder)


class WatchedShared(_Watched):
    """Port SharedWrites: a message is taken in at once, in the three parts that a store alone makes one by one."""

    _wrapped: SharedWrites

    def take(self, message: SortedMessage, *, is_in_flight: bool) -> Taken:
        """Store all of a message."""
        enqueue = [_enqueue(message.work)] if message.work is not None else []
        parts = [_append(EVENTS, message.event), *enqueue, _append(CLASSIFIED, message.classified)]
        self._watch.begins(*parts)
        taken = self._wrapped.take(message, is_in_flight=is_in_flight)
        if taken is Taken.FIRST:
            self._watch.ends(*parts)
        else:
            self._watch.fails()
        return taken


class WatchedStore(_Watched):
    """Port Store."""

    _wrapped: Store

    def __init__(self, wrapped: Store, watch: Watch) -> None:
        super().__init__(wrapped, watch)
        self.documents = WatchedDocuments(wrapped.documents, watch)
        self.runs = WatchedRuns(wrapped.runs, watch)
        self.shared = WatchedShared(wrapped.shared, watch) if wrapped.shared is not None else None

    def journal(self, name: str) -> WatchedJournal:
        """Return a journal."""
        return WatchedJournal(self._wrapped.journal(name), self._watch, name)


class WatchedEngine(_Watched):
    """Port Engine: `jobs` where a queue is opened."""

    _wrapped: Engine

    def store(self, home: Path, *, is_reader: bool = False) -> WatchedStore:
        """Return what a team keeps."""
        return WatchedStore(self._wrapped.store(home, is_reader=is_reader), self._watch)

    def jobs(self, home: Path, *given: Any, **more: Any) -> WatchedQueue:
        """Open a team's queue, which may return what a dead process held."""
        with self._during("jobs"):
            queue = self._wrapped.jobs(home, *given, **more)
        return WatchedQueue(queue, self._watch)

    def leases(self, home: Path) -> WatchedLeases:
        """Return the leases of a team."""
        return WatchedLeases(self._wrapped.leases(home), self._watch)


def _enqueue(work: Work) -> str:
    return f"enqueue {work.kind} {work.key} {_json(work.model_dump(mode='json'))}"


def _append(journal: str, record: Mapping[str, Any]) -> str:
    return f"append {journal} {_json(record)}"


def _of(verb: str, job: Job) -> str:
    return f"{verb} {job.kind} {job.key}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
