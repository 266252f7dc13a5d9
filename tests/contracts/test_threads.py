"""The threads over every engine of the port Documents; below them, what only the disk can do."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.domain.threads import Resolution, ThreadState
from bot.errors import Conflict, InputError, StoreError
from bot.ports.threads import Threads
from tests.builders import NOW, THREAD_ID, a_thread
from tests.contracts.test_documents import ENGINES
from tests.tables import each_row

Open = Callable[[], Threads]


@pytest.fixture(params=ENGINES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open the same threads again and again, as a process that restarts does."""
    documents = ENGINES[request.param](tmp_path)
    return lambda: Threads(documents())


def closed(state: ThreadState) -> ThreadState:
    return state.close(Resolution.DISMISSED, at=NOW, why="dismissed by <@U2>")


def test_a_stored_thread_comes_back_equal_with_the_next_version(reopen: Open) -> None:
    """put returns what get then finds: the same thread, its version one higher."""
    store = reopen()
    stored = store.put(a_thread())
    assert stored == a_thread(version=1)
    assert store.get(THREAD_ID) == stored


def test_an_unknown_thread_is_none(reopen: Open) -> None:
    """get and last_closed answer None for a thread nobody stored."""
    store = reopen()
    assert store.get(THREAD_ID) is None
    assert store.last_closed(THREAD_ID) is None


def test_threads_survive_a_restart(reopen: Open) -> None:
    """A store opened again holds what was stored before."""
    stored = reopen().put(a_thread(question="¿por qué? 为什么 🤔 \x00 <!channel>"))
    assert reopen().get(THREAD_ID) == stored


def test_a_stale_version_is_refused_and_changes_nothing(reopen: Open) -> None:
    """Whoever read an older version gets Conflict, and the stored thread stays as it was."""
    store = reopen()
    first = store.put(a_thread())
    second = store.put(first.evolve(question="newer"))
    with pytest.raises(Conflict):
        store.put(first.evolve(question="older"))
    assert store.get(THREAD_ID) == second
    assert reopen().get(THREAD_ID) == second


def test_a_new_thread_cannot_replace_one_that_is_there(reopen: Open) -> None:
    """Version 0 means new; where a thread stands already it is a Conflict."""
    store = reopen()
    store.put(a_thread())
    with pytest.raises(Conflict):
        store.put(a_thread(question="another"))


def test_a_change_to_a_thread_that_is_gone_is_a_conflict(reopen: Open) -> None:
    """A version above 0 of a thread that is not stored is nobody's to set."""
    store = reopen()
    with pytest.raises(Conflict):
        store.put(a_thread(version=3))
    assert store.get(THREAD_ID) is None


def test_of_eight_threads_that_set_one_version_exactly_one_wins(reopen: Open) -> None:
    """Compare-and-set under eight threads, twenty-five rounds: every round has one winner and loses no update."""
    store = reopen()
    store.put(a_thread())
    barrier = threading.Barrier(8)
    wins: list[int] = []

    def race() -> None:
        for _ in range(25):
            barrier.wait()
            state = store.get(THREAD_ID)
            assert state is not None
            barrier.wait()
            with contextlib.suppress(Conflict):
                wins.append(store.put(state.evolve(orchestrator_tokens=state.version)).version)

    racers = [threading.Thread(target=race) for _ in range(8)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(wins) == list(range(2, 27))
    assert reopen().get(THREAD_ID) == store.get(THREAD_ID)


def test_what_is_handed_out_cannot_be_changed(reopen: Open) -> None:
    """It is the store's own value, for copying 600 threads at each look costs more than all else: it refuses."""
    store = reopen()
    store.put(a_thread())
    read = store.get(THREAD_ID)
    assert read is not None
    for one in (read, store.threads()[0]):
        with pytest.raises(ValidationError):
            one.question = "poisoned"  # type: ignore[misc]
    assert store.get(THREAD_ID) == a_thread(version=1)


def test_threads_come_oldest_first(reopen: Open) -> None:
    """threads lists by start, whatever order they were stored in."""
    store = reopen()
    for minute in (5, 1, 3):
        store.put(a_thread(thread_id=f"T1.C1.{minute}.1", started_at=NOW.replace(minute=minute)))
    assert [state.started_at.minute for state in store.threads()] == [1, 3, 5]


def test_an_archived_thread_leaves_the_store_and_is_remembered(reopen: Open) -> None:
    """After archive the thread is no longer in the store, and last_closed says how it ended, also after a restart."""
    store = reopen()
    ended = store.put(closed(store.put(a_thread())))
    assert store.last_closed(THREAD_ID) == ended
    store.archive(THREAD_ID)
    assert store.get(THREAD_ID) is None
    assert store.threads() == []
    assert store.last_closed(THREAD_ID) == ended
    assert reopen().last_closed(THREAD_ID) == ended


def test_archiving_twice_or_something_unknown_is_harmless(reopen: Open) -> None:
    """archive of what is not there does nothing."""
    store = reopen()
    store.put(closed(store.put(a_thread())))
    store.archive(THREAD_ID)
    store.archive(THREAD_ID)
    store.archive("T1.C1.9.9")
    assert store.last_closed(THREAD_ID) is not None


def test_the_last_ending_counts_though_the_clock_was_set_back_since(reopen: Open) -> None:
    """A thread that ended, by a clock a year ahead, before it was asked again and ended again."""
    store = reopen()
    store.put(a_thread(version=0).close(Resolution.DISMISSED, at=NOW + timedelta(days=365), why="dismissed"))
    store.archive(THREAD_ID)
    for resolution in (Resolution.EXPIRED, Resolution.WITHDRAWN):
        store.put(a_thread(version=0).close(resolution, at=NOW, why="again"))
        store.archive(THREAD_ID)
        for opened in (store, reopen()):
            last = opened.last_closed(THREAD_ID)
            assert last is not None
            assert (last.resolution, last.closed_at) == (resolution, NOW)


def test_an_open_thread_is_not_archived(reopen: Open) -> None:
    """archive touches closed threads only."""
    store = reopen()
    stored = store.put(a_thread())
    store.archive(THREAD_ID)
    assert store.get(THREAD_ID) == stored
    assert store.last_closed(THREAD_ID) is None


def test_a_fresh_thread_may_follow_an_archived_one(reopen: Open) -> None:
    """A later question in the same Slack thread starts at version 0 again, and the latest ending is remembered."""
    store = reopen()
    store.put(closed(store.put(a_thread(question="first"))))
    store.archive(THREAD_ID)
    later = NOW.replace(hour=11)
    again = store.put(a_thread(question="second"))
    store.put(again.close(Resolution.WITHDRAWN, at=later, why="the question was deleted"))
    store.archive(THREAD_ID)
    last = reopen().last_closed(THREAD_ID)
    assert last is not None
    assert (last.question, last.resolution) == ("second", Resolution.WITHDRAWN)


@each_row("thread_id", ["../../etc/passwd", "T1.C1.1", "T1.C1.1.2/x", "T1.C1.1.2\n", "", "T*.C1.1.2"])
def test_what_is_no_thread_id_is_refused(reopen: Open, thread_id: str) -> None:
    """An id that could be a path or a pattern never reaches the disk."""
    store = reopen()
    with pytest.raises(InputError):
        store.put(a_thread(thread_id=thread_id))
    with pytest.raises(InputError):
        store.last_closed(thread_id)


class TestOnDisk:
    """What the contract cannot say because only files can be damaged."""

    def test_a_thread_is_one_json_file_named_after_it(self, tmp_path: Path) -> None:
        """state/<thread_id>.json holds the whole document, readable by anything that reads JSON."""
        Threads(FileDocuments(tmp_path)).put(a_thread())
        document = json.loads((tmp_path / "state" / f"{THREAD_ID}.json").read_text())
        assert document["thread_id"] == THREAD_ID
        assert document["version"] == 1

    def test_the_log_follows_a_thread_and_quotes_nobody(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        """One line when it is taken up and one for each step; an edit of its draft is no step."""
        caplog.set_level("INFO")
        store = Threads(FileDocuments(tmp_path))
        state = store.put(store.put(a_thread(question="what is pw hunter2?")).with_draft("hunter2"))
        store.put(closed(state))
        assert [record.getMessage() for record in caplog.records] == [
            "a question is taken up",
            f"investigating → closed ({closed(state).resolution})",
        ]
        assert "hunter2" not in caplog.text

    def test_the_archive_is_by_month_and_named_by_the_moment_of_closing(self, tmp_path: Path) -> None:
        """A closed thread lies in closed/<yyyy-mm>/<thread_id>.<closed_at>.json and nowhere else."""
        store = Threads(FileDocuments(tmp_path))
        store.put(closed(store.put(a_thread())))
        store.archive(THREAD_ID)
        files = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json")]
        assert files == [f"closed/2026-11/{THREAD_ID}.2026-11-20T09:00:00Z.json"]

    @pytest.mark.parametrize(
        "content",
        [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b'{"thread_id": 5}', b"[" * 100_000, b"not json at all"],
        ids=["empty", "truncated", "list", "null", "binary", "wrong shape", "deep", "prose"],
    )
    def test_a_file_that_is_no_thread_is_set_aside_and_named(self, tmp_path: Path, content: bytes) -> None:
        """A damaged file is renamed with every byte kept, reported, and the other threads load."""
        healthy = Threads(FileDocuments(tmp_path)).put(a_thread())
        bad = tmp_path / "state" / "T1.C1.7.7.json"
        bad.write_bytes(content)
        store = Threads(FileDocuments(tmp_path))
        assert [damaged.name for damaged in store.damaged()] == ["T1.C1.7.7.json.corrupt"]
        assert bad.with_name("T1.C1.7.7.json.corrupt").read_bytes() == content
        assert store.threads() == [healthy]

    def test_a_truncated_file_is_set_aside_and_its_place_is_free(self, tmp_path: Path) -> None:
        """Half a document is no thread; the thread can be opened afresh."""
        Threads(FileDocuments(tmp_path)).put(a_thread())
        path = tmp_path / "state" / f"{THREAD_ID}.json"
        path.write_bytes(path.read_bytes()[:200])
        store = Threads(FileDocuments(tmp_path))
        assert store.get(THREAD_ID) is None
        assert store.put(a_thread()).version == 1

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda text: "",
            lambda text: text[:200],
            lambda text: text.replace('"draft_version": 0', '"draft_version": "none"'),
            lambda text: text.replace(THREAD_ID, "T1.C1.7.7"),
            lambda text: text.replace('"status": "investigating"', '"status": "thinking"'),
            lambda text: "[" * 100_000,
            lambda text: "[]",
        ],
        ids=["emptied", "truncated", "wrong type", "foreign id", "unknown status", "deep", "another shape"],
    )
    def test_damage_names_the_thread_by_its_file(self, tmp_path: Path, spoil: Callable[[str], str]) -> None:
        """Whatever became of the record: whose it was, when it was last written, and whether this start found it."""
        Threads(FileDocuments(tmp_path)).put(a_thread())
        path = tmp_path / "state" / f"{THREAD_ID}.json"
        path.write_text(spoil(path.read_text()))
        written = path.stat().st_mtime
        [damage] = Threads(FileDocuments(tmp_path)).damaged()
        assert (damage.doc_id, damage.name, damage.is_new) == (THREAD_ID, f"{THREAD_ID}.json.corrupt", True)
        assert damage.at.timestamp() == pytest.approx(written, abs=0.001)
        [known] = Threads(FileDocuments(tmp_path)).damaged()
        assert not known.is_new

    def test_a_document_under_another_name_is_set_aside(self, tmp_path: Path) -> None:
        """A file copied by hand does not become a second thread."""
        Threads(FileDocuments(tmp_path)).put(a_thread())
        original = tmp_path / "state" / f"{THREAD_ID}.json"
        original.with_name("T1.C1.7.7.json").write_bytes(original.read_bytes())
        store = Threads(FileDocuments(tmp_path))
        assert len(store.threads()) == 1
        assert len(store.damaged()) == 1

    def test_damage_twice_under_one_name_keeps_both_files(self, tmp_path: Path) -> None:
        """A second corrupt file never overwrites the first."""
        (tmp_path / "state").mkdir()
        for content in ("one", "two"):
            (tmp_path / "state" / "T1.C1.7.7.json").write_text(content)
            Threads(FileDocuments(tmp_path))
        kept = sorted(path.read_text() for path in (tmp_path / "state").glob("*.corrupt"))
        assert kept == ["one", "two"]

    def test_a_file_half_written_by_a_crash_is_swept(self, tmp_path: Path) -> None:
        """The temporary file of a write that never finished is no thread and does not stay."""
        Threads(FileDocuments(tmp_path)).put(a_thread())
        leftover = tmp_path / "state" / f".tmp-{THREAD_ID}.json"
        leftover.write_text('{"thread_id": "T1.C1.1')
        store = Threads(FileDocuments(tmp_path))
        assert len(store.threads()) == 1
        store.evolve(THREAD_ID, question="again?")
        assert not leftover.exists()

    def test_a_folder_where_a_file_should_be_is_set_aside_and_told_of(self, tmp_path: Path) -> None:
        """One entry that cannot be read stops no other thread's work, and is never just gone."""
        (tmp_path / "state" / "T1.C1.7.7.json").mkdir(parents=True)
        store = Threads(FileDocuments(tmp_path))
        assert [damage.doc_id for damage in store.damaged()] == ["T1.C1.7.7"]
        assert (tmp_path / "state" / "T1.C1.7.7.json.corrupt").is_dir()

    def test_a_home_that_is_a_file_is_a_store_error(self, tmp_path: Path) -> None:
        """A data directory that cannot be made is said to whoever runs the bot."""
        (tmp_path / "home").write_text("in the way")
        with pytest.raises(StoreError):
            Threads(FileDocuments(tmp_path / "home"))

    def test_a_disk_that_refuses_changes_nothing(self, tmp_path: Path) -> None:
        """A write that fails is StoreError; memory and disk still hold the old thread, and a later write works."""
        store = Threads(FileDocuments(tmp_path))
        before = store.put(a_thread())
        in_the_way = tmp_path / "state" / f".tmp-{THREAD_ID}.json"
        in_the_way.mkdir()
        with pytest.raises(StoreError):
            store.put(before.evolve(question="lost"))
        assert store.get(THREAD_ID) == before
        in_the_way.rmdir()
        assert Threads(FileDocuments(tmp_path)).get(THREAD_ID) == before
        assert store.put(before.evolve(question="kept")).version == 2

    def test_whoever_reads_meanwhile_sees_a_whole_document(self, tmp_path: Path) -> None:
        """A file is replaced, never written over: an open reader (`triage status`, a backup) keeps the old one."""
        store = Threads(FileDocuments(tmp_path))
        before = store.put(a_thread(question="x" * 50_000))
        with (tmp_path / "state" / f"{THREAD_ID}.json").open("rb") as reader:
            store.put(before.evolve(question="short"))
            assert json.loads(reader.read())["question"] == before.question

    def test_two_endings_in_one_second_are_two_files(self, tmp_path: Path) -> None:
        """Neither replaces the other, and the later one is how the thread last ended, also after a restart."""
        store = Threads(FileDocuments(tmp_path))
        for number in range(1, 13):
            store.put(closed(store.put(a_thread(question=f"ending {number}"))))
            store.archive(THREAD_ID)
            last = store.last_closed(THREAD_ID)
            assert last is not None
            assert last.question == f"ending {number}"
        assert len(list((tmp_path / "closed").rglob("*.json"))) == 12
        again = Threads(FileDocuments(tmp_path)).last_closed(THREAD_ID)
        assert again is not None
        assert again.question == "ending 12"

    def test_an_unreadable_file_of_the_archive_is_passed_over(self, tmp_path: Path) -> None:
        """The ending before it is the last one known; what is no thread's file is nobody's ending."""
        store = Threads(FileDocuments(tmp_path))
        for question in ("first", "second"):
            store.put(closed(store.put(a_thread(question=question))))
            store.archive(THREAD_ID)
        (tmp_path / "closed" / "notes.txt").write_text("x")
        (tmp_path / "closed" / "2026-11" / "x.json").write_text("x")
        (tmp_path / "closed" / "2026-11" / f"{THREAD_ID}.2026-11-20T09:00:00Z.2.json").write_text("{")
        last = Threads(FileDocuments(tmp_path)).last_closed(THREAD_ID)
        assert last is not None
        assert last.question == "first"

    def test_an_archive_that_refuses_changes_nothing(self, tmp_path: Path) -> None:
        """When closed/ cannot be made the thread stays in state/ and can be archived later."""
        store = Threads(FileDocuments(tmp_path))
        ended = store.put(closed(store.put(a_thread())))
        (tmp_path / "closed").write_text("in the way")
        with pytest.raises(StoreError):
            store.archive(THREAD_ID)
        assert store.get(THREAD_ID) == ended
        (tmp_path / "closed").unlink()
        store.archive(THREAD_ID)
        assert Threads(FileDocuments(tmp_path)).last_closed(THREAD_ID) == ended

    def test_only_the_owner_may_look_into_the_folders(self, tmp_path: Path) -> None:
        """state/ is for the owner's eyes."""
        Threads(FileDocuments(tmp_path / "home")).put(a_thread())
        assert (tmp_path / "home" / "state").stat().st_mode & 0o077 == 0
