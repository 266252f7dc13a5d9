"""One damaged entry of a data directory costs that entry: it is set aside, and the rest is read as before."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.adapters.storage.files.atomic_write import set_aside_all_but
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileEngine, FileStore
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.casework.ops_channel import ProcessLines
from bot.composition.process import open_storage
from bot.errors import StoreError
from bot.heartbeat.session_registry import SessionMemory
from bot.ports.collections import GAPS, OVERRIDES, Collection, SingleDocument
from bot.ports.feature_collections import SUGGESTIONS
from bot.ports.threads import Threads
from tests.fakes import FakeClock
from tests.tables import each_row


def garbage(path: Path) -> None:
    path.write_bytes(b"\xff\x00{nonsense")


def folder(path: Path) -> None:
    path.mkdir()


def loop(path: Path) -> None:
    path.symlink_to(path)


Damage = Callable[[Path], None]
KINDS = [garbage, folder, loop]


def damaged(home: Path, name: str, damage: Damage) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    damage(path)
    return path


@each_row("damage", KINDS)
def test_a_small_document_is_set_aside_and_begun_anew(tmp_path: Path, damage: Damage) -> None:
    """Presence, holes, the last brief: what was in it is named, and it is written again."""
    told: list[str] = []
    moved = f"{damaged(tmp_path, 'slack/gaps.json', damage)}.corrupt"
    gaps = SingleDocument(FileDocuments(tmp_path), GAPS, on_damage=told.append)
    assert gaps.read() == {}
    assert told == [moved]
    gaps.update({"a": 1})
    assert gaps.read() == {"a": 1}


@each_row("damage", KINDS)
def test_one_thread_one_job_one_suggestion_cost_themselves_alone(tmp_path: Path, damage: Damage) -> None:
    """Every store of many entries opens; what it set aside is named."""
    told: list[str] = []
    damaged(tmp_path, "state/T1.C1.1.2.json", damage)
    damaged(tmp_path, "queue/running/user_1700000000000_000001.json", damage)
    damaged(tmp_path, "suggestions/0011223344556677.json", damage)
    assert [one.doc_id for one in Threads(FileDocuments(tmp_path)).damaged()] == ["T1.C1.1.2"]
    assert len(SpoolQueue(tmp_path / "queue", FakeClock()).corrupt) == 1
    assert Collection(FileDocuments(tmp_path), SUGGESTIONS, on_damage=told.append).all() == []
    assert len(told) == 1


@each_row("damage", KINDS)
@each_row("name", ["proposals", "proposals/0011223344556677.json"])
def test_what_a_removed_feature_left_is_not_looked_at(tmp_path: Path, name: str, damage: Damage) -> None:
    """The start neither sets it aside nor speaks of it."""
    path = damaged(tmp_path, name, damage)
    lines = ProcessLines(FakeClock())
    open_storage(FileEngine(tmp_path), tmp_path, lines)
    assert os.path.lexists(path)
    assert not list(tmp_path.rglob("*.corrupt"))


@each_row("damage", [garbage, folder])
def test_one_session_s_memory_costs_that_session_alone(tmp_path: Path, damage: Damage) -> None:
    """Its beats go on from the defaults; overrides are none."""
    told: list[str] = []
    damaged(tmp_path, "sessions/shop/heartbeat_state.json", damage)
    damaged(tmp_path, "overrides.json", damage)
    assert SessionMemory(FileStore(tmp_path), on_damage=told.append).load("shop").last_slot is None
    assert Collection(FileDocuments(tmp_path), OVERRIDES, on_damage=told.append).by_id() == {}
    assert len(told) == 2


@each_row("damage", [folder, loop])
def test_what_stands_in_the_place_of_a_file_is_set_aside(tmp_path: Path, damage: Damage) -> None:
    """What is a file, or is not there, is left alone."""
    (tmp_path / "good").write_text("x")
    moved = set_aside_all_but([damaged(tmp_path, "index", damage), tmp_path / "good", tmp_path / "none"], Path.is_file)
    assert [path.name for path in moved] == ["index.corrupt"]
    assert (tmp_path / "good").read_text() == "x"


@each_row("damage", [folder, loop])
def test_a_journal_of_what_was_done_is_not_set_aside(tmp_path: Path, damage: Damage) -> None:
    """Begun anew, it would let things be done again; the start says which file and what to do."""
    path = damaged(tmp_path, "replies.ndjson", damage)
    with pytest.raises(StoreError, match=r"cannot read .*replies\.ndjson: .*; put the journal back from a backup"):
        next(NdjsonJournal(path).newest_first(), None)
    assert list(NdjsonJournal(tmp_path / "events.ndjson").newest_first()) == []


@each_row("name", ["sessions", "sessions/shop"])
def test_a_file_in_the_place_of_a_session_s_folder_costs_its_memory_alone(tmp_path: Path, name: str) -> None:
    """It is set aside and told of at the first write; the session beats on from the defaults, and others as before."""
    told: list[str] = []
    files = SessionMemory(FileStore(tmp_path), on_damage=told.append)
    damaged(tmp_path, name, garbage)
    assert files.load("shop").last_slot is None
    files.save("shop", lambda state: state.evolve(had_playbook=True))
    assert told == [f"{tmp_path / name}.corrupt"]
    assert SessionMemory(FileStore(tmp_path), on_damage=pytest.fail).load("shop").had_playbook


@each_row("damage", [garbage, loop])
def test_what_stands_in_the_place_of_a_folder_is_set_aside(tmp_path: Path, damage: Damage) -> None:
    """A folder, or what is not there, is left alone."""
    (tmp_path / "good").mkdir()
    moved = set_aside_all_but([damaged(tmp_path, "index", damage), tmp_path / "good", tmp_path / "none"], Path.is_dir)
    assert [path.name for path in moved] == ["index.corrupt"]
    assert (tmp_path / "good").is_dir()


@each_row("name", ["state", "queue"])
def test_a_file_in_the_place_of_what_holds_the_truth_says_what_to_type(tmp_path: Path, name: str) -> None:
    """Begun anew, open questions would be forgotten."""
    path = damaged(tmp_path, name, garbage)
    advice = rf"it is none: `mv {path} {path}\.old`, and put the folder back from a backup"
    with pytest.raises(StoreError, match=advice):
        Threads(FileDocuments(tmp_path)) if name == "state" else SpoolQueue(path, FakeClock())


@each_row("damage", [garbage, loop])
def test_a_file_in_the_place_of_the_archive_refuses_the_start(tmp_path: Path, damage: Damage) -> None:
    """No thread could be ended, and no earlier answer found; readers say the same."""
    path = damaged(tmp_path, "closed", damage)
    advice = rf"cannot read .*it is none: `mv {path} {path}\.old`"
    with pytest.raises(StoreError, match=advice):
        open_storage(FileEngine(tmp_path), tmp_path, ProcessLines(FakeClock()))
    with pytest.raises(StoreError, match=advice):
        FileStore(tmp_path, is_reader=True).documents.archived("threads")
