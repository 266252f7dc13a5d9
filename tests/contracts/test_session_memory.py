"""What sessions remember, over every engine of the port Store; below it, what only the disk can do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from bot.adapters.storage.files.file_engine import FileStore
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind, SessionState
from bot.errors import InputError, StoreError
from bot.heartbeat.session_registry import SessionMemory
from tests.fakes import MemoryStore
from tests.postgres import new_namespace, shared_database
from tests.tables import each_row

Open = Callable[[], SessionMemory]
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def undamaged(path: str) -> None:
    raise AssertionError(f"{path} was set aside")


def _memory(_: Path) -> Open:
    texts: dict[tuple[str, str], tuple[int, str]] = {}
    lines: dict[str, list[str]] = {}
    return lambda: SessionMemory(MemoryStore(texts, lines))


def _postgres(home: Path) -> Open:
    database, namespace = shared_database(), new_namespace()
    from bot.adapters.storage.postgres.postgres_engine import PostgresStore

    return lambda: SessionMemory(PostgresStore(database, namespace, home), on_damage=undamaged)


ENGINES: Final[Mapping[str, Callable[[Path], Open]]] = {
    "files": lambda home: lambda: SessionMemory(FileStore(home), on_damage=undamaged),
    "postgres": _postgres,
    "memory": _memory,
}


@pytest.fixture(params=ENGINES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open the same memory again and again, as a process that restarts does."""
    return ENGINES[request.param](tmp_path)


def message(to: str = "shop", text: str = "look at CI", **data: object) -> InboxMessage:
    return InboxMessage(at=NOON, from_="api", to=to, kind=MessageKind.ASSIGNMENT, text=text, data=data)


def _refuse(_: SessionState) -> SessionState:
    raise InputError("no")


def full_state() -> SessionState:
    finding = OpenFinding(key="shop/ci/red", task="ci", text="CI is red", first_at=NOON, last_at=NOON)
    return SessionState(last_slot=NOON, stamps={"quick": NOON}, findings={"shop/ci/red": finding})


def test_a_session_never_seen_has_every_default(reopen: Open) -> None:
    """And reading it is no error."""
    assert reopen().load("shop") == SessionState()
    assert reopen().inbox("shop") == []


def test_a_state_survives_a_restart(reopen: Open) -> None:
    """Every field of it comes back."""
    assert reopen().save("shop", lambda _: full_state()) == full_state()
    assert reopen().load("shop") == full_state()
    assert reopen().load("api") == SessionState()


def test_a_change_sees_what_the_last_one_left(reopen: Open) -> None:
    """Changes from many threads are all there in the end."""
    store = reopen()

    def count() -> None:
        for _ in range(10):
            store.save("shop", lambda state: state.evolve(inbox_read=state.inbox_read + 1))

    counters = [threading.Thread(target=count) for _ in range(4)]
    for counter in counters:
        counter.start()
    for counter in counters:
        counter.join()
    assert reopen().load("shop").inbox_read == 40


def test_a_change_that_fails_changes_nothing(reopen: Open) -> None:
    """Its error goes through."""
    store = reopen()
    store.save("shop", lambda _: full_state())
    with pytest.raises(InputError):
        store.save("shop", _refuse)
    assert store.load("shop") == full_state()


def test_messages_arrive_in_order_and_are_read_once(reopen: Open) -> None:
    """What a beat has dealt with does not come back; what came after it does."""
    for text in ("one\ntwo", "three"):
        reopen().send(message(text=text, caused_by=["api"]))
    assert [m.text for m in reopen().inbox("shop")] == ["one\ntwo", "three"]
    assert reopen().inbox("shop")[0] == message(text="one\ntwo", caused_by=["api"])
    reopen().save("shop", lambda state: state.evolve(inbox_read=1))
    assert [m.text for m in reopen().inbox("shop")] == ["three"]
    assert reopen().inbox("api") == []


@each_row("bad", ["", "..", "a/b", "A", "x" * 41, "shop\n"])
def test_an_id_that_is_no_file_name_is_refused(reopen: Open, bad: str) -> None:
    """Whatever is done with it."""
    with pytest.raises(InputError):
        reopen().load(bad)
    with pytest.raises(InputError):
        reopen().save(bad, lambda state: state)
    with pytest.raises(InputError):
        reopen().inbox(bad)
    with pytest.raises(InputError):
        reopen().send(message(to=bad))


class TestOnDisk:
    """What the contracts cannot say because only files can be damaged."""

    def test_a_damaged_state_is_set_aside_told_and_replaced_by_the_defaults(self, tmp_path: Path) -> None:
        """It is never silently dropped."""
        damaged: list[str] = []
        SessionMemory(FileStore(tmp_path), on_damage=damaged.append).save("shop", lambda _: full_state())
        path = tmp_path / "sessions" / "shop" / "heartbeat_state.json"
        path.write_text('{"last_slot": ')
        store = SessionMemory(FileStore(tmp_path), on_damage=damaged.append)
        assert store.load("shop") == SessionState()
        assert store.load("shop") == SessionState()
        assert damaged == [f"{path}.corrupt"]
        assert Path(damaged[0]).read_text() == '{"last_slot": '
        store.save("shop", lambda state: state.evolve(inbox_read=2))
        assert SessionMemory(FileStore(tmp_path), on_damage=damaged.append).load("shop").inbox_read == 2

    def test_a_line_that_is_no_message_is_skipped(self, tmp_path: Path) -> None:
        """The messages around it are read."""
        store = SessionMemory(FileStore(tmp_path), on_damage=undamaged)
        store.send(message(text="one"))
        path = tmp_path / "sessions" / "shop" / "inbox.ndjson"
        with path.open("a") as file:
            file.write('{"kind": "love letter"}\nnot even JSON\n')
        store.send(message(text="two"))
        assert [m.text for m in store.inbox("shop")] == ["one", "two"]

    def test_a_line_of_the_inbox_has_the_keys_of_the_contract(self, tmp_path: Path) -> None:
        """Other programs read it."""
        SessionMemory(FileStore(tmp_path), on_damage=undamaged).send(message())
        line = json.loads((tmp_path / "sessions" / "shop" / "inbox.ndjson").read_text())
        assert list(line) == ["at", "from", "to", "kind", "text", "data"]
        assert (line["at"], line["from"], line["kind"]) == ("2026-11-21T12:00:00Z", "api", "assignment")

    def test_a_refusing_disk_changes_nothing(self, tmp_path: Path) -> None:
        """Neither the file nor what is remembered of it."""
        store = SessionMemory(FileStore(tmp_path), on_damage=undamaged)
        store.save("shop", lambda _: full_state())
        path = tmp_path / "sessions" / "shop" / ".tmp-heartbeat_state.json"
        path.mkdir()
        (path / "x").touch()
        with pytest.raises(StoreError):
            store.save("shop", lambda state: state.evolve(inbox_read=9))
        assert store.load("shop") == full_state()
