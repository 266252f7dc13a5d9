"""A lesson is kept on a click, once for each ending of a thread, whatever happens in between."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.casework.card_marks import LessonMark, lesson_offers
from bot.casework.decisions import DraftClick
from bot.domain.memory.notes import NoteHeader, NoteKind, cites_of
from bot.errors import InputError
from tests.builders import REF, THREAD_ID
from tests.casework.office import ANN, BEN, Office
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
    assert (facts.kind, facts.cites) == (NoteKind.DISMISSAL, cites_of([REF]))
    for fact in (
        f'saved_by: "{ANN}"',
        f'thread: "{THREAD_ID}"',
        f'decided_by: "{BEN}"',
        'decided_at: "2026-11-20T',
        'permalink: "https://',
    ):
        assert fact in text
    assert "was dismissed on 2026-11-20: the client is gone" in text


@each_row("typed", [f"use {SECRET}", "", " \n", "x" * 3_001, "the word is correct-horse-battery"])
def test_what_must_not_be_kept_is_refused(tmp_path: Path, typed: str) -> None:
    """Secrets of any shape, nothing at all, a flood; the offer stays."""
    office, click = dismissed(tmp_path)
    office.service = replace(office.service, known_secrets=frozenset({"correct-horse-battery"}))
    office.rehire()
    with pytest.raises(InputError):
        office.lessons.remember(click, typed, by=BEN)
    assert kept(office) == []
    assert lesson_offers(office.shelf)(office.ended) == LessonMark(is_offered=True)


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
