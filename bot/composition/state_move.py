"""Moves all state between a data directory and a database through the ports, and back to the form of an earlier schema.

No process works on either side meanwhile. The source stays as it is and gets a mark, so that none goes on with an old
copy and answers a second time. A database is written in one transaction; a directory holds the mark of an unfinished
copy until it is whole.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Condition
from typing import Any, Final, NamedTuple, TypeVar

from bot.adapters.clocks import SystemClock
from bot.adapters.storage.files.file_documents import FILES, OF_PROCESS
from bot.adapters.storage.files.file_engine import HEAD
from bot.config.environment import TEAMS, team_home
from bot.config.home import DEFAULT_TEAM
from bot.domain.events import names_of_record, record_key
from bot.errors import InputError, StoreError
from bot.ports import ArchivedDocument, Document, Documents, Engine, JobQueue, Store
from bot.ports.collections import (
    CLASSIFIED,
    CLONES,
    DECISIONS,
    EVENTS,
    HANDED_OVER,
    INDEX,
    MOVED,
    PRESENCE,
    THREADS,
    SingleDocument,
)
from bot.ports.feature_collections import NOTES
from bot.ports.migrations import backward

Item = TypeVar("Item")
Say = Callable[[str], object]

STAYS: Final = frozenset({CLONES, INDEX, PRESENCE, MOVED})
"""Collections that do not move: they tell of one machine, or are the mark of a move."""

CLOSED: Final = "closed threads"
RUNS: Final = "folders of runs"
JOBS: Final = "jobs"
PROGRESS_S: Final = 1.0
_FULL: Final = "{place} holds state of triage already, and nothing was changed; name another one"
_EMPTY: Final = "{place} holds no state of triage; nothing was changed"
_AGAIN: Final = "start triage once, stop it, and type this again"


class Counted(NamedTuple):
    """How much of something there is on either side."""

    namespace: str
    what: str
    before: int
    after: int


class Side(NamedTuple):
    """An engine, and what people call the place of its state."""

    engine: Engine
    place: str


class Moved(NamedTuple):
    """What was counted, and the names of damaged documents, which stay where they were set aside."""

    counted: list[Counted]
    stays: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class _State:
    """What one team keeps, or the process."""

    store: Store
    jobs: JobQueue | None
    """None where nothing may be written: opening a queue puts back what a process that died had claimed."""
    collections: list[str]
    """Those that move and are kept here."""

    def count(self) -> tuple[Counter[str], int]:
        """Return how much of what moves there is, and a number that grows with every change of a document."""
        store = self.store
        listed = {name: store.documents.list(name) for name in self.collections}
        found = Counter({name: len(documents) for name, documents in listed.items()})
        found[CLOSED] = len(store.documents.archived(THREADS.name))
        found[NOTES.name] = sum(1 for _ in store.notes.stored())
        found[DECISIONS] = sum(bool(line.strip()) for line in store.decisions.text().removeprefix(HEAD).splitlines())
        found.update({name: sum(1 for _ in store.journal(name).lines()) for name in store.journals()})
        found[RUNS] = len(store.runs.folders())
        kept = self.store.job_counts() if self.jobs is None else (len(self.jobs.unclaimed()), len(self.jobs.failed()))
        found[f"{JOBS} waiting"], found[f"{JOBS} failed"] = kept
        return +found, sum(one.version for documents in listed.values() for one in documents)

    def everything(self) -> Iterator[tuple[str, ArchivedDocument | None, Document]]:
        """Yield every document with its collection; what is archived comes last, in its order, with its entry."""
        documents = self.store.documents
        for name in self.collections:
            for one in documents.list(name):
                yield name, None, one
        for entry in reversed(documents.archived(THREADS.name)):
            if (ended := documents.read_archived(THREADS.name, entry)) is not None:
                yield THREADS.name, entry, ended

    def with_what_stays(self) -> Iterator[tuple[Documents, str, ArchivedDocument | None, Document]]:
        """Yield every document that lies here or on this machine, and where it is kept."""
        yield from ((self.store.documents, *one) for one in self.everything())
        places = [(self.store.documents, name) for name in STAYS]
        if self.store.shared is not None:  # a machine's documents are elsewhere then, and notes are documents
            places += [(self.store.documents, NOTES.name), *((self.store.machine, name) for name in STAYS)]
        yield from ((documents, name, None, one) for documents, name in places for one in documents.list(name))


def preview(here: Side, there: Side | None, home: Path) -> tuple[list[Counted], list[str]]:
    """Return what `move` would copy and what it would refuse, and write nothing; `there` is None for what is new.

    Raises StoreError where one side cannot be used.
    """
    counted: list[Counted] = []
    refused: list[str] = []
    mark = SingleDocument(here.engine.store(home, is_reader=True).documents, MOVED).read()
    if there is not None:
        with _noting(refused):
            _refuse_moved(mark, here, there)
        if any(state.count()[0] for _, state in _readable(there.engine, home)):
            refused.append(_FULL.format(place=there.place))
    for team, state in _readable(here.engine, home):
        found, _ = state.count()
        counted += [Counted(team, what, number, 0) for what, number in sorted(found.items())]
        with _noting(refused):
            _refuse_unfinished(state)
        refused += [
            _unreadable(state, name, entry, one) for name, entry, one in state.everything() if one.value is None
        ]
    return counted, refused if counted else [*refused, _EMPTY.format(place=here.place)]


@contextmanager
def _noting(refused: list[str]) -> Iterator[None]:
    """Note why something would be refused, instead of raising it."""
    try:
        yield
    except InputError as error:
        refused.append(str(error))


def move(here: Side, there: Side, home: Path, say: Say) -> Moved:
    """Move all state to where nothing is yet; `home` is the directory of the one side, and a replica's of the other.

    Raises:
        ConfigError: the bot runs on one of the two.
        InputError: the other side holds something, or this one nothing, its state moved elsewhere before, or something
            in it cannot be read; nothing was changed.
        StoreError: one of the two cannot be used, or they differ in the end; nothing was changed.
    """
    mark, is_marked = SingleDocument(here.engine.store(home).documents, MOVED), False
    try:
        with there.engine.alone(), here.engine.alone():
            _refuse_moved(mark.read(), here, there)
            if not _is_empty(there.engine, home):
                raise InputError(_FULL.format(place=there.place))
            for team in here.engine.teams():
                if team_home(home, team) == home.resolve():  # its link is here alone
                    SingleDocument(here.engine.store(home).documents, HANDED_OVER).update({"to": team})
            moved = _copied(here.engine, there.engine, home, say)
            if not moved.counted:
                raise InputError(_EMPTY.format(place=here.place))
            _link(home, SingleDocument(there.engine.store(home).documents, HANDED_OVER).read().get("to"))
            is_marked = True
            mark.update({"to": there.place, "at": datetime.now(UTC).isoformat()})
    except BaseException:
        if is_marked:
            with there.engine.alone():  # where that cannot be told the mark stays, and says what to do
                if _is_empty(there.engine, home):
                    mark.clear()
        raise
    return moved


def _link(home: Path, team: str | None) -> None:
    """Lead from the directory of the team that has what one team left to the process's own."""
    if team and not (home / TEAMS / team).exists():
        (home / TEAMS).mkdir(mode=0o700, exist_ok=True)
        (home / TEAMS / team).symlink_to("..", target_is_directory=True)


def rewrite(engine: Engine, home: Path, to: int) -> Counter[str]:
    """Bring everything of a later schema to schema `to`; return how much was changed, by its collection.

    In files it is one document after the other, each atomically: after a crash the same command continues.

    Raises:
        ConfigError: the bot runs.
        NewerSchema: a later release wrote something, and only that one knows the way back; nothing was rewritten.
        StoreError: the disk refuses; what was rewritten in files stays so.
    """
    changed = Counter[str]()
    with engine.alone():
        for _, state in _states(engine, home):
            for _, name, _, one in state.with_what_stays():
                backward(name, one.value or {}, to)
        for _, state in _states(engine, home):
            for documents, name, entry, one in state.with_what_stays():
                if one.value is not None and (earlier := backward(name, one.value, to)) != one.value:
                    documents.restore(name, replace(one, value=earlier), archived=entry)
                    changed[name if entry is None else CLOSED] += 1
            assert state.jobs is not None
            changed[JOBS] += state.jobs.rewrite(lambda record: backward(JOBS, record, to))
    return +changed


def _states(engine: Engine, home: Path) -> Iterator[tuple[str, _State]]:
    """Yield the state of the process, also that of a team whose directory is a link to it, then the other teams'."""
    for team in _teams(engine, home):
        with _opened(engine, home, team) as state:
            yield team, state


def _readable(engine: Engine, home: Path) -> Iterator[tuple[str, _State]]:
    """Yield the same for who only looks."""
    for team in _teams(engine, home):
        at = home if team == DEFAULT_TEAM else team_home(home, team)
        store = engine.store(at, is_reader=True)
        yield team, _State(store=store, jobs=None, collections=_collections(is_own=team == DEFAULT_TEAM))


def _teams(engine: Engine, home: Path) -> list[str]:
    return [DEFAULT_TEAM, *(team for team in engine.teams() if team_home(home, team) != home.resolve())]


def _collections(*, is_own: bool) -> list[str]:
    return [name for name in FILES if name not in STAYS and (is_own or name not in OF_PROCESS)]


@contextmanager
def _opened(engine: Engine, home: Path, team: str) -> Iterator[_State]:
    """Enter with what a team keeps; its jobs are those of a start, so what a process that died had claimed waits."""
    is_own = team == DEFAULT_TEAM
    at = home if is_own else team_home(home, team)
    jobs = engine.jobs(at, SystemClock(), changed=Condition())
    try:
        yield _State(store=engine.store(at), jobs=jobs, collections=_collections(is_own=is_own))
    finally:
        jobs.close()


def _is_empty(engine: Engine, home: Path) -> bool:
    """Whether no team keeps anything."""
    return not [team for team, state in _states(engine, home) if state.count()[0]]


def _copied(source: Engine, target: Engine, home: Path, say: Say) -> Moved:
    """Copy what every team keeps; raises StoreError where the two sides then count otherwise."""
    moved = Moved([], [])
    for team, here in _states(source, home):
        with _opened(target, home, team) as there:
            _copy(here, there, say)
        with _opened(target, home, team) as written:
            (before, changes), (after, copied) = here.count(), written.count()
        moved.counted.extend(Counted(team, what, before[what], after[what]) for what in sorted({*before, *after}))
        if before == after and changes != copied:
            raise StoreError(
                f"a command changed the state of {team} while it was copied, and nothing was moved; type this again"
            )
        aside = {one.name for name in here.collections for one in here.store.documents.damaged(name)}
        moved.stays.extend(sorted(aside))
    if wrong := [
        f"{one.what} of {one.namespace}: {one.before} here, {one.after} there"
        for one in moved.counted
        if one.before != one.after
    ]:
        raise StoreError(f"the two sides differ, and nothing was changed: {'; '.join(wrong)}")
    return moved


def _copy(here: _State, there: _State, say: Say) -> None:
    """Copy everything; raises InputError where something cannot be read."""
    assert here.jobs is not None and there.jobs is not None  # noqa: PT018 - both were opened to be moved
    jobs = [*here.jobs.unclaimed(), *here.jobs.failed()]
    _refuse_unfinished(here)
    for name, entry, one in _told(say, "documents", here.everything()):
        if one.value is None:
            raise InputError(_unreadable(here, name, entry, one))
        there.store.documents.restore(name, one, archived=entry)
    for path, whole in _told(say, NOTES.name, here.store.notes.stored()):
        there.store.notes.put(f"memory/{path}", whole)
    if decisions := here.store.decisions.text():
        there.store.decisions.restore(decisions)
    for name in here.store.journals():
        lines = _told(say, name, here.store.journal(name).lines())
        there.store.journal(name).restore(lines, names_of_record if name == EVENTS else lambda _: ())
    for folder in _told(say, RUNS, here.store.runs.folders()):
        here.store.runs.fetch(folder)  # both sides have it in the same directory
        there.store.runs.publish(folder)
    for job in jobs:
        there.jobs.restore(job)


def _unreadable(state: _State, name: str, entry: ArchivedDocument | None, one: Document) -> str:
    place = state.store.documents.place(name, one.id) if entry is None else f"the closed thread {entry.name}"
    return f"{place} cannot be read, and nothing was changed. Move it away, or have triage set it aside: {_AGAIN}"


def _told(say: Say, what: str, items: Iterable[Item]) -> Iterator[Item]:
    """Yield items, and say once a second how many were."""
    said_at = time.monotonic()
    for number, item in enumerate(items, 1):
        if time.monotonic() - said_at > PROGRESS_S:
            said_at = time.monotonic()
            say(f"{what}: {number:,}")
        yield item


def _refuse_unfinished(state: _State) -> None:
    """Raise InputError where a start has something left to do that another engine would not know of."""
    store, jobs = state.store, state.jobs
    last = next(store.journal(CLASSIFIED).newest_first(), {})
    journaled = next(filter(names_of_record, store.journal(EVENTS).newest_first()), None)
    if journaled is not None and record_key(journaled) != record_key(last):
        raise InputError(f"the last messages were journaled and not sorted before triage ended; {_AGAIN}")
    if jobs is not None and (jobs.corrupt or jobs.lost_since_ms() is not None):
        raise InputError(
            f"a job in the queue of {store.files} cannot be read; it was set aside. To queue its message again, "
            f"remove what ends in .corrupt there afterwards: {_AGAIN}"
        )


def _refuse_moved(mark: Mapping[str, Any], here: Side, there: Side) -> None:
    """Raise InputError where the state moved elsewhere; to where it is to go now, it may not have arrived."""
    if mark.get("unfinished"):
        raise InputError(f"the copy in {here.place} was not finished; remove it and start again")
    if mark.get("to", there.place) != there.place:
        raise InputError(f"this state moved to {mark['to']} on {str(mark.get('at'))[:10]}; move it from there")
