"""The contract of the port Engine, run over every engine: who has left something, and who works on it alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from bot.adapters.process.clocks import SystemClock
from bot.adapters.storage.files.file_engine import FileEngine
from bot.adapters.storage.files.file_leases import FileLeases
from bot.errors import ConfigError
from bot.ports import Engine
from bot.ports.collections import BRIEFS, DECISIONS, EVENTS, HOME, REPLIES, THREADS
from bot.ports.replicas import Role
from tests.builders import some_work
from tests.postgres import new_database, until_somebody_waits

NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)


def _postgres(home: Path) -> Engine:
    url = new_database()
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_engine import PostgresEngine

    return PostgresEngine(Database(url), home)


ENGINES: Final[Mapping[str, Callable[[Path], Engine]]] = {"files": FileEngine, "postgres": _postgres}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An engine that holds nothing, of a process whose data directory is `tmp_path`."""
    opened = ENGINES[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Engine]:
    """The same over a database."""
    opened = _postgres(tmp_path)
    yield opened
    opened.close()


def test_every_team_that_left_something_is_named(engine: Engine, tmp_path: Path) -> None:
    """Also one whose threads are all closed; the process's own state is no team's."""
    assert engine.teams() == []
    engine.store(tmp_path).documents.put(BRIEFS, BRIEFS, {}, version=0)
    for name in ("pay", "shop"):
        store = engine.store(tmp_path / "teams" / name)
        store.journal(EVENTS).append({"n": 1})
        store.documents.put(THREADS.name, "T1.C1.1.1", {}, version=0)
        store.documents.archive(THREADS.name, "T1.C1.1.1", at=NOON)
    assert engine.teams() == ["pay", "shop"]


def test_the_journals_that_are_there_are_named(engine: Engine, tmp_path: Path) -> None:
    """Decisions are none of them, wherever an engine keeps those."""
    store = engine.store(tmp_path)
    assert list(store.journals()) == []
    for name in (REPLIES, EVENTS, "inbox/shop"):
        store.journal(name).append({"n": 1})
    store.decisions.note("m", "m one")
    assert sorted(store.journals()) == [EVENTS, "inbox/shop", REPLIES]
    assert DECISIONS not in store.journals()


def test_what_is_written_alone_is_there_afterwards(engine: Engine, tmp_path: Path) -> None:
    """Of every kind."""
    with engine.alone():
        store = engine.store(tmp_path)
        store.documents.put(BRIEFS, BRIEFS, {"n": 1}, version=0)
        store.journal(EVENTS).append({"n": 2})
        store.notes.put("memory/retries.md", "three")
    again = engine.store(tmp_path)
    assert [one.value for one in again.documents.list(BRIEFS)] == [{"n": 1}]
    assert list(again.journal(EVENTS).records()) == [{"n": 2}]
    assert list(again.notes.stored()) == [("retries.md", "three")]


def test_nobody_is_alone_beside_a_bot_on_the_same_files(tmp_path: Path) -> None:
    """It holds the data directory's lease."""
    held = FileLeases(tmp_path).take(HOME)
    with pytest.raises(ConfigError, match="already runs"), FileEngine(tmp_path).alone():
        pytest.fail("entered")
    held.release()
    with FileEngine(tmp_path).alone(), pytest.raises(ConfigError, match="already runs"):
        FileLeases(tmp_path).take(HOME)


class TestShared:
    """What only those have to do that share a database."""

    def test_nobody_is_alone_beside_a_replica(self, shared: Engine) -> None:
        """It is named; one that has stopped is none."""
        assert shared.replicas is not None
        shared.replicas.beat("1.0.0", Role.EDGE, timedelta())
        with pytest.raises(ConfigError, match=r"triage runs on the database \(process \d+ on"), shared.alone():
            pytest.fail("entered")
        shared.replicas.leave()
        with shared.alone():
            pass

    def test_nobody_is_alone_beside_one_that_has_just_begun(self, shared: Engine, tmp_path: Path) -> None:
        """It takes jobs before it gives a sign of life as a replica."""
        queue = shared.jobs(tmp_path, SystemClock(), changed=threading.Condition())
        queue.put(some_work("k"))
        assert queue.claim() is not None
        with pytest.raises(ConfigError, match="begins"), shared.alone():
            pytest.fail("entered")
        queue.close()

    def test_what_was_written_before_somebody_else_began_is_taken_back(self, shared: Engine, tmp_path: Path) -> None:
        """As what fails is."""
        replicas = shared.replicas
        assert replicas is not None
        documents = shared.store(tmp_path).documents

        def write_beside(other: Callable[[], object]) -> None:
            with shared.alone():
                documents.put(BRIEFS, BRIEFS, {"n": 1}, version=0)
                beside = threading.Thread(target=other)
                beside.start()
                beside.join()

        with pytest.raises(ConfigError, match="triage runs"):
            write_beside(lambda: replicas.beat("1.0.0", Role.ALL, timedelta()))
        assert documents.get(BRIEFS, BRIEFS) is None
        replicas.leave()
        write_beside(lambda: None)
        assert documents.get(BRIEFS, BRIEFS) is not None

    def test_a_start_waits_until_nobody_is_alone_any_more(self, shared: Engine, tmp_path: Path) -> None:
        """So it reads what was written."""
        from bot.adapters.storage.postgres.postgres_engine import PostgresEngine

        assert isinstance(shared, PostgresEngine)
        found: list[object] = []

        def start() -> None:
            again = PostgresEngine(type(shared.database)(shared.database._url), tmp_path)
            found.append(again.store(tmp_path).documents.get(BRIEFS, BRIEFS))
            again.close()

        starting = threading.Thread(target=start)
        with shared.alone():
            starting.start()
            shared.store(tmp_path).documents.put(BRIEFS, BRIEFS, {"n": 1}, version=0)
            until_somebody_waits(shared.database)
        starting.join()
        assert found != [None]
