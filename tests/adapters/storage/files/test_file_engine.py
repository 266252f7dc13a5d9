"""What only files can do as notes; tests/contracts/test_notes.py has what every engine does."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from threading import Condition

import pytest

from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.storage.files.file_engine import FileEngine, FileStore, NoteFiles
from bot.errors import StoreError
from tests.builders import some_work
from tests.fakes import FakeClock, MemoryJournal, unchanged

CITED = 'cites: [{"path": "a.py", "lines": "2", "commit": "aaaaaaa", "quote": "LIMIT = 5"}]'
TEXT = f'---\nkind: "correction"\n{CITED}\n---\n\n'
WORDS = "# Retries\n\nThe gateway  is retried five times.\t\n"


@pytest.fixture
def shelf(tmp_path: Path) -> NoteFiles:
    return NoteFiles(tmp_path / "memory")


def test_a_name_that_a_link_has_is_taken(shelf: NoteFiles, tmp_path: Path) -> None:
    """Whatever it leads to; nothing is written there."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "link.md").symlink_to(tmp_path / "elsewhere")
    assert shelf.create("link", "other") is None
    assert not (tmp_path / "elsewhere").exists()


def test_a_retired_note_is_not_searched_and_not_lost(shelf: NoteFiles, tmp_path: Path) -> None:
    """Two of one name stand side by side; a human may bring one back."""
    memory = tmp_path / "memory"
    index = WordNoteIndex(NoteFiles(memory), MemoryJournal(), unchanged)
    for folder in ("", "ops/"):
        (memory / folder).mkdir(parents=True, exist_ok=True)
        (memory / folder / "retries.md").write_text(WORDS)
        assert shelf.retire(f"memory/{folder}retries.md")
    assert sorted(path.name for path in (memory / "retired").iterdir()) == ["retries-2.md", "retries.md"]
    assert index.search("how often is the gateway retried?") == []
    assert list(shelf.all()) == []
    (memory / "retired" / "retries.md").rename(memory / "back.md")
    assert [hit.ref for hit in index.search("how often is the gateway retried?")] == ["memory/back.md"]


@pytest.mark.parametrize(
    "ref", ["memory/none.md", "memory/../outside.md", "memory/retired/old.md", "memory/", "/x", ""]
)
def test_what_is_not_on_the_shelf_is_left_alone(shelf: NoteFiles, tmp_path: Path, ref: str) -> None:
    """Wherever a name leads."""
    (tmp_path / "memory" / "retired").mkdir(parents=True)
    outside, old = tmp_path / "outside.md", tmp_path / "memory" / "retired" / "old.md"
    for path in (outside, old):
        path.write_text(WORDS)
    assert shelf.retire(ref) is None
    assert (outside.read_text(), old.read_text()) == (WORDS, WORDS)


def test_a_disk_that_refuses_is_named(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError):
        NoteFiles(tmp_path / "file").create("retries", TEXT)


def test_what_is_half_written_or_cannot_be_read_hides_no_other_note(shelf: NoteFiles, tmp_path: Path) -> None:
    """A file that a crash left behind, a link to nothing, a folder that is called like a note."""
    shelf.create("retries", TEXT + WORDS)
    memory = tmp_path / "memory"
    (memory / ".tmp-new.md").write_text(WORDS)
    (memory / "dangling.md").symlink_to(memory / "gone.md")
    (memory / "folder.md").mkdir()
    (memory / "loop.md").symlink_to(memory / "loop.md")
    assert [note.ref for note in shelf.all()] == ["memory/retries.md"]


def test_a_retired_note_whose_name_is_in_use_is_handed_over_under_another(shelf: NoteFiles) -> None:
    """Where a name is taken once, neither would replace the other."""
    shelf.put("memory/retired/retries.md", "old")
    shelf.put("memory/retries.md", "new")
    assert list(shelf.stored()) == [("retries.md", "new"), ("retired/retries-2.md", "old")]


def test_everything_that_is_written_is_for_the_owner_s_eyes_only(tmp_path: Path) -> None:
    """Each kind of file, and each folder, also in a data directory that others may look into."""
    engine = FileEngine(tmp_path)
    store = engine.store(tmp_path)
    store.documents.put("threads", "T1.C1.1.1", {}, version=0)
    store.documents.archive("threads", "T1.C1.1.1", at=datetime(2026, 11, 20, tzinfo=UTC))
    store.documents.put("wakes", "shop.lunch", {}, version=0)
    store.documents.put("overrides", "shop", {}, version=0)
    store.notes.create("retries", WORDS)
    store.decisions.note("one", "one")
    store.journal("inbox/shop").append({"n": 1})
    (tmp_path / "sessions" / "api.corrupt").touch(mode=0o600)
    engine.jobs(tmp_path, FakeClock(), changed=Condition()).put(some_work("k"))
    below = list(tmp_path.rglob("*"))
    assert {path.stat().st_mode & 0o777 for path in below if path.is_file()} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in below if path.is_dir()} == {0o700}
    assert store.journals() == ["inbox/shop"]


@pytest.mark.parametrize("held", [[], [".env"], ["triage.yml"]])
def test_a_new_directory_is_written_whole_or_not_at_all(tmp_path: Path, held: list[str]) -> None:
    """One in which anything stands, be it hidden, stays as it is, and what was written into it, too."""
    engine, mark = FileEngine(tmp_path), tmp_path / "moved.json"
    for name in held:
        (tmp_path / name).touch()

    def write_and_fail() -> None:
        with engine.alone():
            assert mark.exists() == (not held)
            engine.store(tmp_path).documents.put("briefs", "briefs", {}, version=0)
            raise StoreError("no luck")

    with pytest.raises(StoreError, match="no luck"):
        write_and_fail()
    assert {path.name for path in tmp_path.iterdir()} >= {*held, *(["brief.json"] if held else [])}
    assert bool(list(tmp_path.iterdir())) == bool(held)
    with engine.alone():
        engine.store(tmp_path).journal("events").append({})
    assert not mark.exists()
    assert (tmp_path / "events.ndjson").exists()


def test_a_folder_that_is_a_link_lists_what_is_put_into_it(tmp_path: Path) -> None:
    """state/ may lie on another disk; the time of the link tells nothing of it."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "state").symlink_to(tmp_path / "disk")
    documents = FileStore(tmp_path / "home").documents
    documents.put("threads", "a", {}, version=0)
    long_ago = 1_000_000_000
    os.utime(tmp_path / "disk", ns=(long_ago, long_ago))  # a time that is trusted
    documents.list("threads")
    documents.put("threads", "b", {}, version=0)
    assert [one.id for one in documents.list("threads")] == ["a", "b"]


def test_a_note_that_no_search_reads_is_not_left_behind(tmp_path: Path) -> None:
    """`triage migrate` refuses and names it."""
    store = FileStore(tmp_path)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "long.md").write_text("a" * 1_000_001)
    with pytest.raises(StoreError, match=r"long\.md"):
        list(store.notes.stored())
