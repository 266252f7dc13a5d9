"""The contract of the port Engine, run over every engine: who has left something, and who works on it alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from pydantic import SecretStr

from bot.adapters.storage.files.file_engine import FileEngine
from bot.adapters.storage.files.file_leases import FileLeases
from bot.composition.storage_engine import open_engine
from bot.config.environment import Environment
from bot.errors import ConfigError
from bot.ports import Engine
from bot.ports.collections import BRIEFS, DECISIONS, EVENTS, HOME, REPLIES, THREADS
from bot.ports.system import Role
from tests.postgres import new_database, until_somebody_waits

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.postgres_engine import PostgresEngine

NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)


def _postgres(home: Path) -> PostgresEngine:
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
def shared(tmp_path: Path) -> Iterator[PostgresEngine]:
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

    def test_nobody_is_alone_beside_a_replica(self, shared: PostgresEngine) -> None:
        """It is named; one that has stopped is none."""
        shared.replicas.beat("1.0.0", Role.EDGE, timedelta())
        with pytest.raises(ConfigError, match=r"triage runs on the database \(process \d+ on"), shared.alone():
            pytest.fail("entered")
        shared.replicas.leave()
        with shared.alone():
            pass

    def test_nobody_is_alone_beside_one_that_has_just_begun(self, shared: PostgresEngine, tmp_path: Path) -> None:
        """Even before it has read anything."""
        url = SecretStr(shared.database._url)
        begun = open_engine(Environment(home=tmp_path, database_url=url), Role.WORK)
        with pytest.raises(ConfigError, match="triage runs on"), shared.alone():
            pytest.fail("entered")
        begun.close()

    def test_who_begins_waits_until_nobody_is_alone_any_more(self, shared: PostgresEngine, tmp_path: Path) -> None:
        """So they read what was written, also who had made the tables before."""
        found: list[object] = []

        def connect() -> PostgresEngine:
            return type(shared)(type(shared.database)(shared.database._url), tmp_path)

        def begin(connected: PostgresEngine | None) -> None:
            process = connected or connect()
            process.replicas.beat("1.0.0", Role.ALL, timedelta())
            found.append(process.store(tmp_path).documents.get(BRIEFS, BRIEFS))
            process.close()

        for connected in (connect(), None):
            beginning = threading.Thread(target=begin, args=[connected])
            with shared.alone():
                beginning.start()
                until_somebody_waits(shared.database)
                shared.store(tmp_path).documents.put(BRIEFS, BRIEFS, {}, version=len(found))
            beginning.join()
            with shared.database.writing() as connection:
                connection.execute("DELETE FROM triage_replicas")
        assert len(found) == 2
        assert None not in found
