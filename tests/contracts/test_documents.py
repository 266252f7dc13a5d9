"""The contract of the port Documents, run over every engine; below it, what only files can do.

Another engine is one more entry in `ENGINES`: what opens the same documents again and again.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from bot.adapters.storage.files.file_documents import FILES, FileDocuments
from bot.adapters.storage.files.tinydb_storage import SETTLED_NS
from bot.errors import Conflict, StoreError
from bot.ports import ArchivedDocument, Document, Documents
from bot.ports.collections import BRIEFS, PAUSE, SingleDocument
from bot.ports.migrations import SCHEMA_VERSION
from tests import fork_server
from tests.fakes import MemoryDocuments
from tests.postgres import new_namespace, shared_database
from tests.tables import each_row

Open = Callable[[], Documents]


def _memory(_: Path) -> Open:
    first = MemoryDocuments()

    def reopened() -> MemoryDocuments:
        again = MemoryDocuments(first.texts)
        again.closed = first.closed
        return again

    return reopened


def _postgres(_: Path) -> Open:
    database, namespace = shared_database(), new_namespace()
    from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments

    return lambda: PostgresDocuments(database, namespace)


ENGINES: Final[Mapping[str, Callable[[Path], Open]]] = {
    "files": lambda home: lambda: FileDocuments(home),
    "postgres": _postgres,
    "memory": _memory,
}


@pytest.fixture(params=ENGINES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open the same documents again and again, as a process that restarts does."""
    return ENGINES[request.param](tmp_path)


def stored(documents: Documents, collection: str, doc_id: str) -> tuple[int, object] | None:
    """Return a document's version and value."""
    found = documents.get(collection, doc_id)
    return None if found is None else (found.version, found.value)


@each_row("collection", [name for name in FILES if name != "wakes"])
def test_a_document_comes_back_after_a_restart_and_counts_its_writes(reopen: Open, collection: str) -> None:
    """In every collection whose documents say more than their id; what nobody wrote is None, what was deleted too."""
    assert reopen().get(collection, collection) is None
    assert reopen().list(collection) == []
    text = "¿por qué? 为什么 🤔 \x00 \ud800 <!channel>"
    reopen().put(collection, collection, {"text": text}, version=0)
    reopen().put(collection, collection, {"text": text, "n": [1, None]}, version=1)
    assert stored(reopen(), collection, collection) == (2, {"text": text, "n": [1, None]})
    assert [one.id for one in reopen().list(collection)] == [collection]
    reopen().remove(collection, collection, version=2)
    assert reopen().get(collection, collection) is None
    assert reopen().list(collection) == []


def test_what_another_process_writes_is_seen_at_the_next_look(reopen: Open) -> None:
    """However soon after: the time of a file may be too coarse to tell one write from the next."""
    here, there = reopen(), reopen()
    for number in range(40):
        there.put("threads", f"T1.{number:02d}", {"n": 0}, version=0)
        assert len(here.list("threads")) == number + 1
        there.put("threads", f"T1.{number:02d}", {"n": 1}, version=1)
        assert here.list("threads")[-1].value == {"n": 1}
        assert stored(here, "threads", f"T1.{number:02d}") == (2, {"n": 1})
    for left in reversed(range(40)):
        there.remove("threads", f"T1.{left:02d}", version=2)
        assert len(here.list("threads")) == left


def test_whoever_read_another_version_is_refused_and_changes_nothing(reopen: Open) -> None:
    """Version 0 means that there must be none."""
    documents = reopen()
    with pytest.raises(Conflict):
        documents.put(BRIEFS, BRIEFS, {"n": 1}, version=1)
    assert documents.get(BRIEFS, BRIEFS) is None
    documents.put(BRIEFS, BRIEFS, {"n": 1}, version=0)
    documents.put(BRIEFS, BRIEFS, {"n": 2}, version=1)
    for stale in (0, 1, 3):
        with pytest.raises(Conflict):
            documents.put(BRIEFS, BRIEFS, {"n": 9}, version=stale)
        with pytest.raises(Conflict):
            documents.remove(BRIEFS, BRIEFS, version=stale)
    assert stored(reopen(), BRIEFS, BRIEFS) == (2, {"n": 2})


def test_of_eight_that_write_one_version_exactly_one_wins(reopen: Open) -> None:
    """Twenty-five rounds: each has one winner and loses no update."""
    documents = reopen()
    documents.put(BRIEFS, BRIEFS, {"n": 1}, version=0)
    barrier, wins = threading.Barrier(8), []

    def race() -> None:
        for _ in range(25):
            barrier.wait()
            found = documents.get(BRIEFS, BRIEFS)
            assert found is not None
            barrier.wait()
            with suppress(Conflict):
                documents.put(BRIEFS, BRIEFS, {"n": found.version + 1}, version=found.version)
                wins.append(found.version)

    racers = [threading.Thread(target=race) for _ in range(8)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(wins) == list(range(1, 26))
    assert stored(reopen(), BRIEFS, BRIEFS) == (26, {"n": 26})


class TestSingleDocument:
    """A collection of one document, over every engine."""

    def test_an_update_sets_its_keys_and_a_cleared_one_is_empty(self, reopen: Open) -> None:
        """Other keys stay, whoever wrote them, and however often it is cleared."""
        assert SingleDocument(reopen(), BRIEFS).read() == {}
        SingleDocument(reopen(), BRIEFS).clear()
        SingleDocument(reopen(), BRIEFS).update({"a": 1, "b": 2})
        SingleDocument(reopen(), BRIEFS).update({"a": 3})
        assert SingleDocument(reopen(), BRIEFS).read() == {"a": 3, "b": 2}
        SingleDocument(reopen(), BRIEFS).clear()
        assert SingleDocument(reopen(), BRIEFS).read() == {}

    def test_writers_at_once_all_get_through(self, reopen: Open) -> None:
        """None is told of a conflict."""
        one = SingleDocument(reopen(), BRIEFS)
        writers = [threading.Thread(target=lambda n=n: one.update({"n": n})) for n in range(8)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert one.read()["n"] in range(8)
        assert stored(reopen(), BRIEFS, BRIEFS) == (8, {**one.read(), "schema_version": SCHEMA_VERSION})


class TestOnDisk:
    """What the contract cannot say because only files can be damaged, or read by people."""

    def test_a_document_is_one_json_file_with_its_versions(self, tmp_path: Path) -> None:
        """People and other programs read it."""
        SingleDocument(FileDocuments(tmp_path), PAUSE).update({"by": "U1"})
        assert json.loads((tmp_path / "paused.json").read_text()) == {
            "by": "U1",
            "schema_version": SCHEMA_VERSION,
            "version": 1,
        }

    def test_a_file_without_versions_is_the_first_of_both(self, tmp_path: Path) -> None:
        """As an earlier version of triage wrote it, or somebody by hand."""
        (tmp_path / "brief.json").write_text('{"morning": "2026-11-20"}')
        one = SingleDocument(FileDocuments(tmp_path), BRIEFS)
        assert one.read() == {"morning": "2026-11-20"}
        one.update({"morning": "2026-11-21"})
        assert json.loads((tmp_path / "brief.json").read_text())["version"] == 2

    def test_a_reader_changes_nothing(self, tmp_path: Path) -> None:
        """Neither what is damaged nor what a crash left is touched beside a running bot."""
        (tmp_path / "brief.json").write_text("{")
        (tmp_path / ".tmp-brief.json").write_text("{")
        told: list[str] = []
        one = SingleDocument(FileDocuments(tmp_path, is_reader=True), BRIEFS, on_damage=told.append)
        assert one.read() == {}
        assert told == [str(tmp_path / "brief.json")]
        assert FileDocuments(tmp_path / "none", is_reader=True).list(BRIEFS) == []
        assert sorted(path.name for path in tmp_path.iterdir()) == [".tmp-brief.json", "brief.json"]

    def test_what_somebody_wrote_by_hand_is_read(self, tmp_path: Path) -> None:
        """While triage runs, and without a version."""
        documents = FileDocuments(tmp_path)
        documents.put(BRIEFS, BRIEFS, {"n": 1}, version=0)
        (tmp_path / "brief.json").write_text('{"n": 2, "version": 1}')
        assert stored(documents, BRIEFS, BRIEFS) == (1, {"n": 2})

    def test_a_list_after_a_write_looks_at_what_was_written_alone(self, tmp_path: Path) -> None:
        """And at no other file of its folder, however many are there; nothing that others wrote is missed for that."""
        here, there = FileDocuments(tmp_path), FileDocuments(tmp_path)
        for number in range(100):
            here.put("threads", f"T1.{number:02d}", {"n": 0}, version=0)
        folder, quiet_ns = tmp_path / "state", time.time_ns() - 2 * SETTLED_NS
        os.utime(folder, ns=(quiet_ns, quiet_ns))
        here.list("threads")
        here.put("threads", "T1.50", {"n": 1}, version=1)
        looks: Counter[str] = Counter()
        sys.setprofile(lambda _, kind, called: looks.update([called.__name__] if kind == "c_call" else []))
        try:
            found = here.list("threads")
        finally:
            sys.setprofile(None)
        assert [one.value for one in found] == [{"n": int(number == 50)} for number in range(100)]
        assert (looks["scandir"], looks["lstat"]) == (0, 2)
        stamp = folder.stat()
        there.put("threads", "T1.60", {"n": 2}, version=1)
        os.utime(folder, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # as in the same tick of the file system's clock
        assert here.list("threads")[60].value == {"n": 2}

    def test_a_process_that_died_in_a_write_leaves_no_list_behind_that_is_believed(self, tmp_path: Path) -> None:
        """Until the next write, each look reads the folder."""
        here = FileDocuments(tmp_path)
        here.put("threads", "T1", {"n": 0}, version=0)
        (tmp_path / ".state.lock").write_bytes(bytes(16))
        for number in range(3):
            stamp = (tmp_path / "state").stat()
            (tmp_path / "state" / f"U{number}.json").write_text("{}")
            os.utime(tmp_path / "state", ns=(stamp.st_atime_ns, stamp.st_mtime_ns - 2 * SETTLED_NS))
            assert len(here.list("threads")) == number + 2

    def test_a_refusing_disk_changes_nothing(self, tmp_path: Path) -> None:
        """Neither the file nor what is remembered of it; the next write gets through."""
        documents = FileDocuments(tmp_path)
        documents.put(BRIEFS, BRIEFS, {"n": 1}, version=0)
        block = tmp_path / ".tmp-brief.json"
        block.mkdir()
        with pytest.raises(StoreError):
            documents.put(BRIEFS, BRIEFS, {"n": 2}, version=1)
        assert stored(documents, BRIEFS, BRIEFS) == stored(FileDocuments(tmp_path), BRIEFS, BRIEFS) == (1, {"n": 1})
        block.rmdir()
        documents.put(BRIEFS, BRIEFS, {"n": 2}, version=1)

    def test_a_file_half_written_by_a_crash_is_swept_at_the_first_write(self, tmp_path: Path) -> None:
        """Under the lock, so that no other process is writing it."""
        leftover = tmp_path / ".tmp-paused.json"
        leftover.write_text("{")
        FileDocuments(tmp_path).put(BRIEFS, BRIEFS, {}, version=0)
        assert not leftover.exists()

    def test_only_the_owner_may_look_into_the_folders(self, tmp_path: Path) -> None:
        """What the bot keeps is for the owner's eyes."""
        FileDocuments(tmp_path / "home").put(PAUSE, PAUSE, {}, version=0)
        assert (tmp_path / "home").stat().st_mode & 0o077 == 0

    def test_a_home_that_is_a_file_is_a_store_error(self, tmp_path: Path) -> None:
        """It is said to whoever runs the bot."""
        (tmp_path / "home").write_text("in the way")
        with pytest.raises(StoreError):
            FileDocuments(tmp_path / "home").put(PAUSE, PAUSE, {}, version=0)

    def test_two_processes_lose_no_write(self, tmp_path: Path) -> None:
        """Each compares and writes alone."""
        program = (
            "import sys; from pathlib import Path\n"
            "from bot.adapters.storage.files.file_documents import FileDocuments\n"
            "from bot.ports.collections import SingleDocument\n"
            "one = SingleDocument(FileDocuments(Path(sys.argv[1])), 'briefs')\n"
            "for _ in range(50): one.change(lambda now: {'n': now.get('n', 0) + 1})\n"
        )
        others = [fork_server.start("tests.program", program, str(tmp_path), env=os.environ) for _ in range(2)]
        assert [other.wait() for other in others] == [0, 0]
        assert stored(FileDocuments(tmp_path), BRIEFS, BRIEFS) == (100, {"n": 100, "schema_version": SCHEMA_VERSION})


def test_what_was_archived_is_named_from_a_moment_on(reopen: Open) -> None:
    """The moment itself belongs to it; months before it, and after a restart, make no difference."""
    documents, times = reopen(), [datetime(2026, month, 28, 12, tzinfo=UTC) for month in (9, 10, 11)]
    for at in times:
        documents.put("threads", f"T1.C1.{at:%m}.1", {"n": 1}, version=0)
        documents.archive("threads", f"T1.C1.{at:%m}.1", at=at)
    for again in (documents, reopen()):
        assert [one.at for one in again.archived("threads")] == times[::-1]
        assert [one.at for one in again.archived("threads", since=times[1])] == times[:0:-1]
        assert again.archived("threads", since=times[2] + timedelta(seconds=1)) == []


def test_documents_are_found_by_a_text_in_a_field_of_their_own(reopen: Open) -> None:
    """As it stands there: no number, no part, no deeper one; by id, also what was written or removed just now."""
    documents = reopen()
    for doc_id, value in {"T1.b": "x", "T1.a": "x", "T1.c": "xx", "T1.d": {"card": "x"}, "T1.e": 1}.items():
        documents.put("threads", doc_id, {"card": value}, version=0)
    for again in (documents, reopen()):
        assert [one.id for one in again.find("threads", "card", "x")] == ["T1.a", "T1.b"]
        assert again.find("threads", "card", "1") == again.find("threads", "none", "x") == []
    documents.put("threads", "T1.c", {"card": "x"}, version=1)
    documents.remove("threads", "T1.a", version=1)
    assert [one.id for one in documents.find("threads", "card", "x")] == ["T1.b", "T1.c"]


@pytest.mark.parametrize("engine", ["files", "postgres"])
def test_a_document_of_a_move_is_as_it_was_elsewhere(engine: str, tmp_path: Path) -> None:
    """Its version and time too, over what stands there; in the archive over its entry, or as another of its moment."""
    reopen = ENGINES[engine](tmp_path)
    at = datetime(2026, 9, 28, 12, 0, 0, 250_000, tzinfo=UTC)
    one = Document(id="T1.a", version=7, value={"n": 1, "unknown": None}, written_at=at)
    for number in (1, 2):
        reopen().restore("threads", replace(one, value={"n": number}))
    found = reopen().get("threads", "T1.a")
    assert found == replace(one, value={"n": 2})
    elsewhere = ArchivedDocument("T1.a", at.replace(microsecond=0), "of another engine")
    for number in (3, 4):
        reopen().restore("threads", replace(one, value={"n": number}), archived=elsewhere)
    newest, oldest = reopen().archived("threads")
    assert [newest.at, oldest.at] == [elsewhere.at] * 2
    reopen().restore("threads", replace(one, value={"n": 5}), archived=oldest)
    documents = reopen()
    ended = [documents.read_archived("threads", each) for each in documents.archived("threads")]
    assert [each.value for each in ended if each] == [{"n": 4}, {"n": 5}]
    assert [each.version for each in ended if each] == [7, 7]
