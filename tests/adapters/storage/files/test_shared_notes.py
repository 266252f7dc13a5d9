"""Notes of other teams: found like one's own, and gone when they are shared no more."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.search.note_index import FileNoteIndex
from bot.adapters.storage.files.note_files import NoteFiles
from bot.adapters.storage.files.shared_notes import copy_shared_notes
from tests.fakes import MemoryJournal

NOTE = "# Retries of the gateway\n\nThe payment gateway is retried five times, doubling the delay.\n"


def test_a_shared_note_is_found_by_the_others_and_follows_its_original(tmp_path: Path) -> None:
    """It says whose it is; changed, retired or shared no more, the copy is too."""
    pay, plat = NoteFiles(tmp_path / "pay"), NoteFiles(tmp_path / "plat")
    assert pay.create("retries", NOTE) == "memory/retries.md"
    index = FileNoteIndex(plat, MemoryJournal(), lambda _: ())
    question = "How often is the payment gateway retried?"
    assert index.search(question) == []
    copy_shared_notes(plat.folder, {"payments": pay})
    assert [hit.ref for hit in index.search(question)] == ["memory/shared/payments/retries.md"]
    (pay.folder / "retries.md").write_text(NOTE.replace("five", "seven"))
    copy_shared_notes(plat.folder, {"payments": pay})
    assert "seven" in (plat.folder / "shared" / "payments" / "retries.md").read_text()
    copy_shared_notes(plat.folder, {})
    assert index.search(question) == []
    assert pay.find("retries") == "memory/retries.md"


def test_what_was_shared_is_not_shared_again_by_who_got_it(tmp_path: Path) -> None:
    """Also where both share; and what is retired is not shared."""
    pay, plat = NoteFiles(tmp_path / "pay"), NoteFiles(tmp_path / "plat")
    pay.create("retries", NOTE)
    pay.create("old", NOTE)
    pay.retire("memory/old.md")
    for _ in range(3):
        copy_shared_notes(plat.folder, {"payments": pay})
        copy_shared_notes(pay.folder, {"platform": plat})
    assert [note.ref for note in plat.all()] == ["memory/shared/payments/retries.md"]
    assert [note.ref for note in pay.all()] == ["memory/retries.md"]
    assert all(note.is_shared for note in plat.all())
