"""Rewrites a data directory to the schema of an earlier release, so that this release can read it again.

Every document, archived thread and job of a later schema is rewritten, one file at a time and each atomically: after a
crash the same command continues. The bot must not run meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import read_json, replace_json
from bot.adapters.storage.files.directory_writer import QUEUES
from bot.adapters.storage.files.file_documents import ALL_COLLECTIONS, OF_PROCESS, FileDocuments
from bot.adapters.storage.files.spool_queue import job_files
from bot.config.environment import process_home
from bot.ports.collections import THREADS
from bot.ports.migrations import SCHEMA_VERSION, backward, newer_schema, schema_of

JOBS: Final = "jobs"
ARCHIVE: Final = "closed threads"


def schemas_in(home: Path) -> Counter[int]:
    """Return how many documents, archived threads and jobs there are of each schema; raises StoreError."""
    found: Counter[int] = Counter()
    for value in _values(home):
        schema = schema_of(value)
        if schema is not None:
            found[schema] += 1
    return found


def rewrite(home: Path, to: int) -> Counter[str]:
    """Bring everything of a later schema to schema `to`; return how much was changed, by its collection.

    Raises:
        NewerSchema: a later release wrote something, and only that one knows the way back; nothing was rewritten.
        StoreError: the disk refuses; what was rewritten stays so.
    """
    newest = max(schemas_in(home), default=1)
    if newest > SCHEMA_VERSION:
        raise newer_schema(f"something in {home}", newest)
    documents, changed = FileDocuments(home), Counter[str]()
    for name in _collections(home):
        for document in documents.list(name):
            if (value := _earlier(name, document.value, to)) is not None:
                documents.put(name, document.id, value, version=document.version)
                changed[name] += 1
    for one in documents.archived(THREADS.name):
        closed = documents.read_archived(THREADS.name, one)
        if closed is not None and (value := _earlier(THREADS.name, closed.value, to)) is not None:
            documents.restore(THREADS.name, replace(closed, value=value), archived=one)
            changed[ARCHIVE] += 1
    for path in _job_files(home):
        if (value := _earlier(JOBS, read_json(path), to)) is not None:
            replace_json(path, value)
            changed[JOBS] += 1
    return changed


def _earlier(collection: str, value: Mapping[str, Any] | None, to: int) -> dict[str, Any] | None:
    """Return what is to be written, None where nothing is."""
    schema = schema_of(value) if value is not None else None
    return backward(collection, value, to) if value is not None and schema is not None and schema > to else None


def _values(home: Path) -> Iterator[Mapping[str, Any]]:
    documents = FileDocuments(home, is_reader=True)
    for name in _collections(home):
        yield from (one.value for one in documents.list(name) if one.value is not None)
    for archived in documents.archived(THREADS.name):
        closed = documents.read_archived(THREADS.name, archived)
        if closed is not None and closed.value is not None:
            yield closed.value
    yield from (value for path in _job_files(home) if (value := read_json(path)) is not None)


def _collections(home: Path) -> list[str]:
    """Return what lies in a data directory itself: what all teams have in common does not lie in a team's."""
    is_whole = process_home(home) == home
    return [name for name in ALL_COLLECTIONS if is_whole or name not in OF_PROCESS]


def _job_files(home: Path) -> list[Path]:
    return [path for folder in QUEUES.values() for path in job_files(home / folder)]
