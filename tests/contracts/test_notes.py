"""The contract of the port NoteStore, run over every engine: what one process keeps, the others find.

What only files can do is in tests/adapters/storage/files/test_file_engine.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.storage.files.file_engine import NoteFiles
from bot.adapters.storage.postgres.postgres_documents import DocumentNotes
from bot.casework.notes import copy_shared_notes
from bot.errors import InputError
from bot.ports import NoteStore
from tests.fakes import MemoryDocuments, MemoryJournal, unchanged
from tests.postgres import new_namespace, shared_database
from tests.tables import each_row

CITED = 'cites: [{"path": "a.py", "lines": "2", "commit": "aaaaaaa", "quote": "LIMIT = 5"}]'
TEXT = f'---\nkind: "correction"\n{CITED}\n---\n\n'
WORDS = "# Retries\n\nThe payment gateway  is retried five times.\t\n"
QUESTION = "How often is the payment gateway retried?"
Open = Callable[[str], NoteStore]


def _postgres(_: Path) -> Open:
    database, namespace = shared_database(), new_namespace()
    from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments

    return lambda team: DocumentNotes(PostgresDocuments(database, f"{namespace}/{team}"))


def _memory(_: Path) -> Open:
    documents: dict[str, MemoryDocuments] = {}
    return lambda team: DocumentNotes(documents.setdefault(team, MemoryDocuments()))


ENGINES: Final[Mapping[str, Callable[[Path], Open]]] = {
    "files": lambda home: lambda team: NoteFiles(home / team / "memory"),
    "postgres": _postgres,
    "memory": _memory,
}


@pytest.fixture(params=ENGINES)
def of_team(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open a team's notes again and again, as every replica does."""
    return ENGINES[request.param](tmp_path)


def test_a_name_is_taken_once_and_for_ever(of_team: Open) -> None:
    """The second one changes nothing, also after the first was retired, on whichever replica."""
    here, there = of_team("pay"), of_team("pay")
    assert here.create("retries", TEXT + WORDS) == "memory/retries.md"
    assert there.create("retries", "other") is None
    assert there.retire("memory/retries.md") == "memory/retired/retries.md"
    assert here.create("retries", "other") is None


def test_of_many_replicas_that_take_a_name_at_once_one_has_it(tmp_path: Path) -> None:
    """The others are told that it is taken."""
    kept: list[str | None] = []
    of_team = _postgres(tmp_path)
    stores = [of_team("pay") for _ in range(4)]
    takers = [
        threading.Thread(target=lambda n=n, one=one: kept.append(one.create("retries", str(n))))  # type: ignore[misc]
        for n, one in enumerate(stores)
    ]
    for taker in takers:
        taker.start()
    for taker in takers:
        taker.join()
    assert sorted(kept, key=str) == [None, None, None, "memory/retries.md"]
    assert len(stores[0].all()) == 1


def test_what_one_replica_keeps_changes_and_retires_another_finds_at_its_next_question(of_team: Open) -> None:
    """Without waiting, and what did not change is not read anew."""
    here, there = of_team("pay"), of_team("pay")
    index = WordNoteIndex(there, MemoryJournal(), unchanged)
    assert index.search(QUESTION) == []
    ref = WordNoteIndex(here, MemoryJournal(), unchanged).add("retries", WORDS)
    assert [(hit.ref, hit.title) for hit in index.search(QUESTION)] == [(ref, "Retries")]
    assert there.all() is there.all()
    here.put(ref, WORDS.replace("five", "seven"))
    assert "seven" in index.search(QUESTION)[0].excerpt
    here.retire(ref)
    assert index.search(QUESTION) == []
    assert there.all() == () == here.all()


def test_the_same_text_is_kept_once_and_another_gets_a_number(of_team: Open) -> None:
    """Whoever adds it."""
    here, there = (WordNoteIndex(of_team("pay"), MemoryJournal(), unchanged) for _ in range(2))
    assert here.add("retries", WORDS) == there.add("retries", WORDS) == "memory/retries.md"
    assert there.add("retries", "another") == "memory/retries-2.md"


@each_row("ref", ["memory/none.md", "memory/../x.md", "memory/retired/old.md", "memory/", "/x", ""])
def test_what_is_not_on_the_shelf_is_left_alone(of_team: Open, ref: str) -> None:
    """Wherever a name leads; a retired note is not retired again."""
    shelf = of_team("pay")
    shelf.create("old", WORDS)
    shelf.retire("memory/old.md")
    assert shelf.retire(ref) is None
    assert [*shelf.stored()] == [("retired/old.md", WORDS)]


def test_a_note_is_put_over_another_and_removed(of_team: Open) -> None:
    """Below folders too, and nowhere else; what is not there is removed already."""
    shelf = of_team("pay")
    for words in (WORDS, "other"):
        shelf.put("memory/ops/on call.md", words)
    shelf.put("memory/retired/gone.md", WORDS)
    assert [(note.ref, note.whole) for note in shelf.all()] == [("memory/ops/on call.md", "other")]
    assert shelf.create("gone", "other") is None
    for _ in range(2):
        shelf.remove("memory/ops/on call.md")
    assert list(shelf.all()) == []
    for ref in ("memory/../x.md", "memory/x.txt", "", "memory//x.md", "memory/a\0.md"):
        with pytest.raises(InputError):
            shelf.put(ref, WORDS)


@pytest.mark.parametrize("text", ["", "\ud83d half", "a\0b", "# \ud83d\n\nx", "é\u2028ü"])
def test_any_text_can_be_kept(of_team: Open, text: str) -> None:
    """Half of a surrogate pair becomes a question mark."""
    of_team("pay").create("odd", text)
    [note] = of_team("pay").all()
    assert note.whole == text.replace("\ud83d", "?")


def test_a_shared_note_is_found_by_the_others_and_follows_its_original(of_team: Open) -> None:
    """It says whose it is; changed, retired or shared no more, the copy is too; what was shared is not shared again."""
    pay, plat = of_team("pay"), of_team("plat")
    pay.create("retries", WORDS)
    pay.create("old", WORDS)
    pay.retire("memory/old.md")
    index = WordNoteIndex(of_team("plat"), MemoryJournal(), unchanged)
    for _ in range(3):
        copy_shared_notes(plat, {"payments": pay})
        copy_shared_notes(pay, {"platform": plat})
    assert [hit.ref for hit in index.search(QUESTION)] == ["memory/shared/payments/retries.md"]
    assert [note.ref for note in pay.all()] == ["memory/retries.md"]
    pay.put("memory/retries.md", WORDS.replace("five", "seven"))
    copy_shared_notes(plat, {"payments": pay})
    assert "seven" in index.search(QUESTION)[0].excerpt
    copy_shared_notes(plat, {})
    assert index.search(QUESTION) == []
    assert sorted(path for path, _ in pay.stored()) == ["retired/old.md", "retries.md"]


def test_every_note_is_handed_over_with_its_path(of_team: Open) -> None:
    """Retired ones too; put elsewhere, they are found under the same names."""
    here, there = of_team("pay"), of_team("shop")
    for name in ("retries", "limits"):
        here.create(name, TEXT + WORDS)
    here.retire("memory/retries.md")
    stored = list(here.stored())
    assert sorted(stored) == [("limits.md", TEXT + WORDS), ("retired/retries.md", TEXT + WORDS)]
    for path, whole in stored:
        there.put(f"memory/{path}", whole)
    assert sorted(there.stored()) == sorted(stored)
    assert there.create("retries", WORDS) is None
