"""A lesson is kept on a click, once for each ending of a thread, whatever happens in between."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.storage.files.file_engine import NoteFiles
from bot.casework.card_marks import LessonMark, lesson_offers
from bot.casework.decisions import DraftClick
from bot.domain.memory.notes import NoteHeader, NoteKind
from bot.domain.returns import Verdict
from bot.errors import Conflict, InputError, ProviderError, StoreError, Unavailable
from tests.builders import REF, THREAD_ID
from tests.casework.office import ANN, BEN, Office, crash_everywhere
from tests.fakes import MemoryJournal, unchanged
from tests.tables import each_row

SECRET = "xoxb-" + "123456789012-1234567890123-abcdefABCDEF0123456789ab"


def dismissed(folder: Path, reason: str | None = "the client is gone", **more: Any) -> tuple[Office, DraftClick]:
    """Return an office that has just dismissed its draft, and the click on the closed card."""
    office = Office(folder, **more).asked()
    office.decisions.dismiss(office.click(), by=BEN, reason=reason)
    return office, office.click()


def kept(office: Office) -> list[Path]:
    return sorted((office.folder / "memory").rglob("*.md"))


def test_a_kept_lesson_says_what_it_is_and_what_it_rests_on(tmp_path: Path) -> None:
    """Above the words, in facts of ours: kind, who decided and who kept it, when, where, which lines."""
    office, click = dismissed(tmp_path)
    assert kept(office) == []
    ref = office.lessons.remember(click, None, by=ANN)
    [path] = kept(office)
    text, facts = path.read_text(), NoteHeader.read(path.read_text())
    assert ref == f"memory/{path.name}"
    assert (facts.kind, facts.saved_by, [cite.as_evidence() for cite in facts.cites]) == (
        NoteKind.DISMISSAL,
        ANN,
        [REF],
    )
    for fact in (f'thread: "{THREAD_ID}"', f'decided_by: "{BEN}"', 'decided_at: "2026-11-20T', 'permalink: "https://'):
        assert fact in text
    assert "was dismissed on 2026-11-20: the client is gone" in text


def test_a_citation_that_was_refuted_is_none_of_its_lines(tmp_path: Path) -> None:
    """Made up, its lines never stood there, and nobody is to be told that they changed."""
    office, click = dismissed(tmp_path, verdicts=[Verdict.ESCALATE])
    office.lessons.remember(click, None, by=ANN)
    assert NoteHeader.read(kept(office)[0].read_text()).cites == ()


def test_the_words_are_whose_who_kept_them(tmp_path: Path) -> None:
    """The kind is not: however they read, it stays a lesson."""
    office, click = dismissed(tmp_path)
    office.lessons.remember(click, "The payment client retries five times.", by=BEN)
    [hit] = WordNoteIndex(NoteFiles(tmp_path / "memory"), MemoryJournal(), unchanged).search(
        "how often does the payment client retry"
    )
    assert (hit.is_lesson, hit.is_settled) == (True, False)
    assert "a lesson, not a fact about the code" in hit.caution


def test_the_second_click_learns_of_the_first(tmp_path: Path) -> None:
    """Also after the note was retired; its words stay those of the first."""
    office, click = dismissed(tmp_path)
    ref = office.lessons.remember(click, "one", by=BEN)
    for _ in range(2):
        with pytest.raises(Conflict, match="saved this as memory/"):
            office.lessons.remember(click, "two", by=ANN)
        office.shelf.retire(ref)
    [path] = kept(office)
    assert path.read_text().endswith("one\n")


@each_row("typed", [f"use {SECRET}", "", " \n", "x" * 3_001, "the word is correct-horse-battery"])
def test_what_must_not_be_kept_is_refused(tmp_path: Path, typed: str) -> None:
    """Secrets of any shape, nothing at all, a flood; the offer stays."""
    office, click = dismissed(tmp_path)
    office.service = replace(office.service, known_secrets=frozenset({"correct-horse-battery"}))
    office.rehire()
    with pytest.raises(InputError):
        office.lessons.remember(click, typed, by=BEN)
    assert kept(office) == []
    assert lesson_offers(office.shelf, switched_on=True)(office.ended) == LessonMark(is_offered=True)


def test_a_click_is_bound_to_the_ending_it_was_offered_for(tmp_path: Path) -> None:
    """Another draft, another thread, a thread that is open again and then closed otherwise."""
    office, click = dismissed(tmp_path)
    for other in (
        replace(click, version=7),
        replace(click, draft_hash="0" * 16),
        replace(click, thread_id="T1.C1.9.9"),
    ):
        with pytest.raises(InputError, match="no longer stored"):
            office.lessons.remember(other, None, by=BEN)
    office.clock.advance(60)
    office.says("and now?", mention=True)
    office.decisions.dismiss(office.click(), by=BEN, reason=None)
    with pytest.raises(InputError, match="asked again"):
        office.lessons.remember(click, None, by=BEN)
    with pytest.raises(InputError, match="nothing to save"):
        office.lessons.remember(office.click(), None, by=BEN)
    assert kept(office) == []


def test_what_is_switched_off_is_neither_offered_nor_kept(tmp_path: Path) -> None:
    """`save_notes: never`; a button of a card from before does nothing."""
    office, click = dismissed(tmp_path, save_notes="never")
    assert not lesson_offers(office.shelf, switched_on=False)(office.ended).is_offered
    with pytest.raises(InputError, match="switched off"):
        office.lessons.remember(click, None, by=BEN)


def test_always_keeps_no_lesson_by_itself(tmp_path: Path) -> None:
    """That setting is about notes that come with an approval."""
    office, _ = dismissed(tmp_path, save_notes="always")
    office.lessons.tick()
    assert kept(office) == []


def test_the_card_is_shown_anew_once(tmp_path: Path) -> None:
    """Where the chat refuses, at a later tick, also after a restart; then there is rest."""
    office, click = dismissed(tmp_path)
    office.lessons.remember(click, None, by=BEN)
    shown = len(office.messenger.cards[-1].shown)
    office.messenger.card_refused = Unavailable("Slack could not update the card")
    office.lessons.tick()
    office.messenger.card_refused = None
    office.restart()
    for _ in range(3):
        office.lessons.tick()
    assert len(office.messenger.cards[-1].shown) == shown + 1
    assert len(office.messenger.cards) == 1


def test_a_card_that_is_refused_for_good_holds_up_no_other(tmp_path: Path) -> None:
    """The chat is there, and takes the rest."""
    office, click = dismissed(tmp_path)
    office.lessons.remember(click, None, by=BEN)
    office.lessons_stored.update({"cards_behind": [THREAD_ID, "T1.C1.1.1"]})
    office.messenger.card_refused = ProviderError("Slack could not update the card: invalid_blocks")
    office.lessons.tick()
    assert office.lessons_stored.read() == {"cards_behind": [THREAD_ID]}


def test_a_full_disk_is_told_to_whoever_asked(tmp_path: Path) -> None:
    """Nothing is kept, and the same click works later."""
    office, click = dismissed(tmp_path)
    (tmp_path / "memory").write_text("in the way")
    with pytest.raises(StoreError):
        office.lessons.remember(click, None, by=BEN)
    (tmp_path / "memory").unlink()
    assert office.lessons.remember(click, None, by=BEN).startswith("memory/dismissed-")


def test_wherever_the_process_dies_a_second_click_keeps_one_note(tmp_path: Path) -> None:
    """The card that crashed away still has its button; pressing it again is safe."""
    folders = iter(range(1_000))

    def build(faults: Any) -> Office:
        folder = tmp_path / f"{next(folders)}"
        folder.mkdir()
        return Office(folder, faults=faults)

    def story(office: Office) -> None:
        office.asked()
        office.decisions.dismiss(office.click(), by=BEN, reason="the client is gone")
        office.lessons.remember(office.click(), None, by=BEN)
        office.lessons.tick()

    for crash, office in crash_everywhere(build, story):
        office.restart()
        state = office.store.last_closed(THREAD_ID)
        if state is None:
            continue
        with suppress(Conflict):
            office.lessons.remember(office.click(), "again", by=ANN)
        assert len(kept(office)) == 1, crash
