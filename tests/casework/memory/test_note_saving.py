"""A proposed note is kept when a human says so, under a safe name, and never instead of another."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.memory.notes import NoteHeader, NoteKind, cites_of
from bot.domain.returns import TriageFile
from bot.errors import Conflict, InputError, StoreError
from tests.builders import REF, THREAD_ID, a_return
from tests.casework.office import BEN, Office, crash_everywhere
from tests.fakes import Faults
from tests.tables import each_row

SECRET = "xoxb-" + "123456789012-1234567890123-abcdefABCDEF0123456789ab"


def office_with(folder: Path, content: str = "# Retries\n\nFive.", name: str = "../Retries.md") -> Office:
    note = TriageFile(filename=name, content=content)
    return Office(folder, a_return(proposed_triage_file=note)).asked()


def test_a_saved_note_says_who_when_and_for_which_thread(tmp_path: Path) -> None:
    """It is in memory/, named in the state, in the reply's record, and offered no more."""
    office = office_with(tmp_path)
    assert office.decisions.save_note(office.click(), by=BEN) == "Saved as memory/retries.md."
    [(name, text)] = office.memory.notes.items()
    assert name == "retries"
    assert f'saved_by: "{BEN}"\nsaved_at: "2026-11-20T09:01:00+00:00"\nthread: "{THREAD_ID}"\n' in text
    assert text.endswith("---\n\n# Retries\n\nFive.\n")
    facts = NoteHeader.read(text)
    assert (facts.kind, facts.cites) == (NoteKind.NOTE, cites_of([REF]))
    assert office.shown.triage_file_path == "memory/retries.md"
    office.decisions.approve(office.click(), by=BEN)
    [record] = office.log.records()
    assert record["triage_file"] == "memory/retries.md"
    assert office.ended.triage_file_path == "memory/retries.md"


def test_a_note_is_saved_once_and_for_the_draft_that_was_shown(tmp_path: Path) -> None:
    """A second click is told; a click on an old card is refused."""
    office = office_with(tmp_path)
    with pytest.raises(Conflict, match="out of date"):
        office.decisions.save_note(replace(office.click(), version=7), by=BEN)
    office.decisions.save_note(office.click(), by=BEN)
    with pytest.raises(InputError, match=r"saved already, as memory/retries\.md"):
        office.decisions.save_note(office.click(), by=BEN)
    assert len(office.memory.notes) == 1


def test_two_who_save_at_once_make_one_note(tmp_path: Path) -> None:
    """The second click comes between the file and the state of the first, a second later."""
    office = office_with(tmp_path)
    said: list[str] = []

    def second() -> None:
        try:
            office.decisions.save_note(office.click(), by="U0ANA")
        except InputError as error:
            said.append(str(error))

    other = threading.Thread(target=second)

    def in_between() -> None:
        office.clock.advance(1)
        other.start()
        other.join(timeout=0.2)  # it is held up until the first is done

    office.store.memory.meanwhile = in_between
    office.decisions.save_note(office.click(), by=BEN)
    other.join()
    assert list(office.memory.notes) == ["retries"]
    assert said == ["The note is saved already, as memory/retries.md."]


def test_no_note_replaces_another(tmp_path: Path) -> None:
    """A name that is taken gets a number."""
    office = office_with(tmp_path)
    office.memory.notes["retries"] = "older"
    assert "memory/retries-2.md" in office.decisions.save_note(office.click(), by=BEN)
    assert office.memory.notes["retries"] == "older"


@each_row("content", [f"use {SECRET}", "", "x" * 100_000])
def test_what_must_not_be_kept_is_refused(tmp_path: Path, content: str) -> None:
    """Secrets, nothing at all, a flood: whoever clicked is told, and the thread stays as it was."""
    office = office_with(tmp_path, content)
    before = office.state
    with pytest.raises(InputError):
        office.decisions.save_note(office.click(), by=BEN)
    assert (office.memory.notes, office.state) == ({}, before)


def test_a_secret_of_the_process_is_known_whatever_its_shape(tmp_path: Path) -> None:
    """In a note and in a reply; the values are the environment's own."""
    office = office_with(tmp_path, "the word is correct-horse-battery")
    office.service = replace(office.service, known_secrets=frozenset({"correct-horse-battery"}))
    office.rehire()
    with pytest.raises(InputError, match="secret"):
        office.decisions.save_note(office.click(), by=BEN)
    with pytest.raises(InputError, match="secret"):
        office.decisions.edit(office.click(), "the word is correct-horse-battery", by=BEN)


def test_without_a_note_there_is_nothing_to_save(tmp_path: Path) -> None:
    """A forged or late click."""
    office = Office(tmp_path).asked()
    with pytest.raises(InputError, match="proposes no note"):
        office.decisions.save_note(office.click(), by=BEN)


def test_no_decision_saves_a_note_by_itself(tmp_path: Path) -> None:
    """Not even the approval of the draft that came with it."""
    for decide in (
        lambda o: o.decisions.approve(o.click(), by=BEN),
        lambda o: o.decisions.dismiss(o.click(), by=BEN, reason=None),
        lambda o: o.decisions.approve(o.decisions.edit(o.click(), "No.", by=BEN), by=BEN),
    ):
        office = office_with(tmp_path)
        decide(office)
        assert office.memory.notes == {}
        assert office.ended.triage_file_path is None


def test_a_full_disk_is_told_to_whoever_asked(tmp_path: Path) -> None:
    """And the entry stays."""
    office = office_with(tmp_path)
    office.memory.full = True
    with pytest.raises(StoreError, match="No space"):
        office.decisions.save_note(office.click(), by=BEN)
    assert office.state.triage_file_path is None


def test_wherever_the_process_dies_one_note_is_kept(tmp_path: Path) -> None:
    """A note saved before the crash is taken for what it is and not saved again."""

    def story(office: Office) -> None:
        office.asked()
        office.decisions.save_note(office.click(), by=BEN)
        office.decisions.approve(office.click(), by=BEN)

    def build(faults: Faults) -> Office:
        note = TriageFile(filename="retries.md", content="# Retries")
        return Office(tmp_path, a_return(proposed_triage_file=note), faults=faults)

    for crash, office in crash_everywhere(build, story):
        office.restart()
        assert len(office.memory.notes) <= 1, crash
        assert len(office.messenger.posts) == len(list(office.log.records())), crash
