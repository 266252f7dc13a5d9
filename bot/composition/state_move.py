"""Moves all state between a data directory and a database, while no process works on either.

The source stays as it is and gets a mark, so that no process goes on with an old copy and answers a second time. What
is written to a database is one transaction; a directory that is being written holds the mark of an unfinished copy.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from bot.adapters.storage.files.directory_state import DirectoryState
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.postgres.database import Database
from bot.adapters.storage.postgres.database_state import moving
from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments
from bot.adapters.storage.state_rows import MovableState, Row
from bot.config.team_settings import DEFAULT_TEAM
from bot.domain.events import names_of_record, record_key
from bot.errors import InputError, StoreError
from bot.ports import Documents, Journal
from bot.ports.collections import CLASSIFIED, EVENTS, HOME, MOVED, SingleDocument

Say = Callable[[str], object]
PROGRESS_S: Final = 1.0
ROWS_PER_LOOK: Final = 100
"""Rows between two looks at the clock."""


class Counted(NamedTuple):
    """How much of something there is on either side."""

    namespace: str
    what: str
    before: int
    after: int


def to_database(home: Path, database: Database, say: Say) -> list[Counted]:
    """Move what a data directory holds into a database that holds nothing yet; return what was counted.

    Raises:
        ConfigError: the bot runs on one of the two.
        InputError: the database holds something, or the directory's state moved elsewhere before; nothing was changed.
        StoreError: one of the two cannot be used, or they differ in the end; nothing was changed.
    """
    place, documents, is_marked = database.place(), FileDocuments(home), False
    mark = SingleDocument(documents, MOVED)
    lease = FileLeases(home).take(HOME)
    try:
        _refuse_moved(documents, place)
        with moving(database, _identities) as there:
            if not there.is_empty():
                raise InputError(f"{place} holds state of triage already, and nothing was changed; name another one")
            here = DirectoryState(home)
            _refuse_unsorted(here)
            counted = _copied(here, there, say)
            is_marked = True
            mark.update(_moved_to(place))
    except BaseException:
        if is_marked and _is_empty(database):  # where that cannot be told the mark stays, and says what to do
            mark.clear()
        raise
    finally:
        lease.release()
    return counted


def to_directory(database: Database, home: Path, say: Say) -> list[Counted]:
    """Move what a database holds into a new or empty directory; return what was counted.

    Raises:
        ConfigError: the bot runs on one of the two.
        InputError: the directory is not empty, or the database holds nothing, or its state moved elsewhere before.
        StoreError: one of the two cannot be used, or they differ in the end; nothing was changed.
    """
    if home.exists() and any(path.name != "lock" for path in home.iterdir()):
        raise InputError(f"{home} is not empty, and nothing was changed; name a new directory")
    _refuse_moved(PostgresDocuments(database, DEFAULT_TEAM), str(home))
    mark = SingleDocument(FileDocuments(home), MOVED)
    lease = FileLeases(home).take(HOME)
    try:
        with moving(database, _identities) as there:
            if there.is_empty():
                raise InputError(f"{database.place()} holds no state of triage; nothing was changed")
            mark.update({"unfinished": True})
            counted = _copied(there, DirectoryState(home), say)
            os.sync()
            there.mark_moved(_moved_to(str(home)))
    except BaseException:
        for path in home.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        raise
    finally:
        lease.release()
    mark.clear()
    return counted


def _copied(source: MovableState, target: MovableState, say: Say) -> list[Counted]:
    """Copy every namespace; raises StoreError where the other side then counts otherwise."""
    counted = []
    for namespace in source.namespaces():
        before = source.count(namespace)
        target.write(namespace, _told(source.rows(namespace), f"{namespace}: {{:,}} of {before.total():,}", say))
        after = target.count(namespace)
        counted += [Counted(namespace, what, before[what], after[what]) for what in sorted({*before, *after})]
    if wrong := [
        f"{one.what} of {one.namespace}: {one.before} here, {one.after} there"
        for one in counted
        if one.before != one.after
    ]:
        raise StoreError(f"the two sides differ, and nothing was changed: {'; '.join(wrong)}")
    return counted


def _told(rows: Iterable[Row], line: str, say: Say) -> Iterator[Row]:
    """Yield rows, and say once a second how many were."""
    said_at = time.monotonic()
    for number, row in enumerate(rows, 1):
        if number % ROWS_PER_LOOK == 0 and time.monotonic() - said_at > PROGRESS_S:
            said_at = time.monotonic()
            say(line.format(number))
        yield row


def _identities(journal: str, record: Mapping[str, Any]) -> Iterable[Sequence[str]]:
    """Return under which names a delivery is known (bot/domain/events.py)."""
    return names_of_record(record) if journal == EVENTS else ()


def _moved_to(place: str) -> dict[str, Any]:
    return {"to": place, "at": datetime.now(UTC).isoformat()}


def _refuse_moved(documents: Documents, place: str) -> None:
    """Raise InputError where the state moved elsewhere; to where it is to go now, it may not have arrived."""
    mark = SingleDocument(documents, MOVED).read()
    if mark.get("unfinished"):
        raise InputError(f"this copy was not finished; remove it and start again: {documents.place(MOVED, MOVED)}")
    if mark.get("to", place) != place:
        raise InputError(f"this state moved to {mark['to']} on {str(mark.get('at'))[:10]}; move it from there")


def _refuse_unsorted(directory: DirectoryState) -> None:
    """Raise InputError where a start has something left to sort: with a database that is one step with journaling."""
    for namespace in directory.namespaces():
        store = FileStore(directory.home_of(namespace), is_reader=True)
        if _has_unsorted(store.journal(EVENTS), store.journal(CLASSIFIED)):
            raise InputError(
                "the last messages were journaled and not sorted before triage ended; start it once, stop it, and type "
                "this again. Nothing was changed"
            )


def _is_empty(database: Database) -> bool:
    """Whether nothing was committed; raises StoreError where that cannot be told."""
    with moving(database, _identities) as there:
        return there.is_empty()


def _has_unsorted(events: Journal, classified: Journal) -> bool:
    """Whether a message was journaled last and not classified: a crash came between, and the next start does it."""
    last = next(classified.newest_first(), {})
    for record in events.newest_first():
        if names_of_record(record):
            return record_key(record) != record_key(last)
    return False
