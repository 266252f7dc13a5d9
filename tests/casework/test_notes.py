"""What a human read and saved is kept, under a safe name, and never instead of another note."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import NoteFiles
from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.sources import stale_citations
from bot.casework.notes import Proved, address_prover
from bot.casework.reports.answers_notes import answer_notes, find_note, retire_note
from bot.domain.notes import MAX_NOTE_CHARS, NoteCitation, NoteSource, note_text, read_cites
from bot.domain.returns import TriageFile
from bot.errors import Conflict, InputError
from tests.builders import REF, THREAD_ID, a_return
from tests.casework.office import BEN, Office
from tests.gitrepo import commit_files, make_repo
from tests.tables import each_row

SECRET = "xoxb-" + "123456789012-1234567890123-abcdefABCDEF0123456789ab"
WORDS = "# Retries\n\nFive, see `app/retry.py:1`."
THREAD = NoteSource(thread_id=THREAD_ID)
MESSAGE = NoteSource(chat_id="C1", message_id="1.2")


def office_with(folder: Path, content: str = "# Retries\n\nFive.", name: str = "../Retries.md") -> Office:
    """Return an office in which a draft with a proposed note waits."""
    return Office(folder, a_return(proposed_triage_file=TriageFile(filename=name, content=content))).asked()


def test_what_was_saved_is_what_is_kept(tmp_path: Path) -> None:
    """With who, when and from what thread above it; the card and the reply's record name it."""
    office = office_with(tmp_path)
    assert office.notes.save(THREAD, WORDS, by=BEN) == "Saved as memory/retries.md."
    [(name, text)] = office.memory.notes.items()
    assert name == "retries"
    assert text.startswith(f'---\nsaved_by: "{BEN}"\nsaved_at: "2026-11-20T09:01:00+00:00"\nthread: "{THREAD_ID}"\n')
    assert text.endswith(f"---\n\n{WORDS}\n")
    assert office.shown.triage_file_path == "memory/retries.md"
    office.decisions.approve(office.click(), by=BEN)
    [record] = office.log.records()
    assert record["triage_file"] == "memory/retries.md"


def test_the_dialogue_shows_the_whole_proposal_with_its_addresses(tmp_path: Path) -> None:
    """Every proved line of the draft, once; nothing is kept by showing it."""
    office = office_with(tmp_path)
    assert office.notes.proposed(THREAD_ID) == f"# Retries\n\nFive.\n\nSources:\n- {REF.ref}"
    assert office.memory.notes == {}
    named = office_with(tmp_path, f"Five, see `{REF.ref}`.")
    assert named.notes.proposed(THREAD_ID) == f"Five, see `{REF.ref}`."


def test_a_secret_of_a_proposal_is_not_shown_and_not_saved(tmp_path: Path) -> None:
    """Redacted in the dialogue, refused in what is submitted, those of the process by their value."""
    office = office_with(tmp_path, f"use {SECRET} and correct-horse-battery")
    office.service = replace(office.service, known_secrets=frozenset({"correct-horse-battery"}))
    office.rehire()
    shown = office.notes.proposed(THREAD_ID)
    assert SECRET not in shown
    assert "correct-horse-battery" not in shown
    for words in (f"use {SECRET}", "the word is correct-horse-battery"):
        with pytest.raises(InputError, match="secret"):
            office.notes.save(THREAD, words, by=BEN)
    assert office.memory.notes == {}


@each_row("words", ["", " \n ", "\u200b", "x" * (MAX_NOTE_CHARS + 1), "half \ud800"])
def test_what_must_not_be_kept_is_refused(words: str, tmp_path: Path) -> None:
    """Nothing at all, a flood, what cannot be stored: the thread stays as it was."""
    office = office_with(tmp_path)
    before = office.state
    with pytest.raises(InputError):
        office.notes.save(THREAD, words, by=BEN)
    assert (office.memory.notes, office.state) == ({}, before)


def test_a_proposal_is_saved_once(tmp_path: Path) -> None:
    """The second one is told; Remember this still saves a note of its own."""
    office = office_with(tmp_path)
    office.notes.save(THREAD, WORDS, by=BEN, is_proposal=True)
    with pytest.raises(Conflict, match=r"saved this note already, as memory/retries\.md"):
        office.notes.save(THREAD, WORDS, by=BEN, is_proposal=True)
    with pytest.raises(Conflict, match="saved this note already"):
        office.notes.proposed(THREAD_ID)
    assert office.notes.save(THREAD, "# Retries\n\nSix.", by=BEN) == "Saved as memory/retries-2.md."
    assert office.state.triage_file_path == "memory/retries.md"


def test_two_who_save_a_proposal_at_once_make_one_note(tmp_path: Path) -> None:
    """The second submit comes between the file and the state of the first."""
    office = office_with(tmp_path)
    said: list[str] = []

    def second() -> None:
        try:
            office.notes.save(THREAD, WORDS, by="U0ANA", is_proposal=True)
        except InputError as error:
            said.append(str(error))

    other = threading.Thread(target=second)

    def in_between() -> None:
        other.start()
        other.join(timeout=0.2)  # it is held up until the first is done

    office.store.memory.meanwhile = in_between
    office.notes.save(THREAD, WORDS, by=BEN, is_proposal=True)
    other.join()
    assert list(office.memory.notes) == ["retries"]
    assert said == ["Somebody saved this note already, as memory/retries.md."]


def test_a_closed_thread_is_remembered_by_what_was_answered_or_why_it_was_dismissed(tmp_path: Path) -> None:
    """The dismissed draft is not offered; nothing of the closed record changes."""
    edited = Office(tmp_path).asked()
    edited.decisions.approve(edited.decisions.edit(edited.click(), "Ask Ben.", by=BEN), by=BEN)
    assert edited.notes.of_thread(THREAD_ID).startswith("# How often do we retry?\n\nAsk Ben.")
    (tmp_path / "other").mkdir()
    dismissed = Office(tmp_path / "other").asked()
    dismissed.decisions.dismiss(dismissed.click(), by=BEN, reason="the client is gone")
    assert dismissed.notes.of_thread(THREAD_ID) == "# How often do we retry?\n\nthe client is gone"
    ended = dismissed.ended
    dismissed.notes.save(THREAD, "# Gone\n\nThe client is gone.", by=BEN)
    assert dismissed.ended == ended


def test_a_message_is_remembered_with_its_place(tmp_path: Path) -> None:
    """No thread of ours has to know it."""
    office = Office(tmp_path)
    assert office.notes.offered("Deploys\u200b are frozen.") == "Deploys are frozen."
    assert office.notes.save(MESSAGE, "Deploys are frozen.", by=BEN) == "Saved as memory/deploys-are-frozen.md."
    assert 'message: "C1/1.2"' in office.memory.notes["deploys-are-frozen"]


def test_the_one_who_saves_is_told_what_was_proved(tmp_path: Path) -> None:
    """Which addresses stand in the code, and which do not."""
    office = office_with(tmp_path)
    cite = NoteCitation(path="app/retry.py", lines="1", commit="a" * 40, quote="LIMIT = 5")
    office.proved = Proved([cite], ["there is no file 'b.py'"])
    said = office.notes.save(THREAD, WORDS, by=BEN)
    assert said == "Saved as memory/retries.md. It rests on app/retry.py:1. Not proved: there is no file 'b.py'."
    assert read_cites(office.memory.notes["retries"]) == (cite,)


def test_addresses_are_proved_at_head_and_again_when_the_lines_change(tmp_path: Path) -> None:
    """Lines that exist are kept with the commit; those that do not, or hold a secret, are named instead."""
    repo = make_repo(tmp_path / "shop", {"app/retry.py": "LIMIT = 5\nWAIT = 2\n", "keys.py": f"T = '{SECRET}'\n"})
    code = GitRepo(repo)
    proved = address_prover(code)("`app/retry.py:1-2`, app/retry.py:9, keys.py:1 and gone.py:1")
    assert [cite.ref for cite in proved.cites] == ["app/retry.py:1-2"]
    assert proved.cites[0].quote == "LIMIT = 5\nWAIT = 2"
    assert len(proved.problems) == 3
    assert "there are 2 lines" in proved.problems[0]
    staleness = partial(stale_citations, code)
    assert staleness(proved.cites).is_empty
    commit_files(repo, {"app/retry.py": "LIMIT = 7\nWAIT = 2\n"})
    assert [cite.ref for cite in staleness(proved.cites).changed] == ["app/retry.py:1-2"]


def test_notes_are_listed_found_and_retired_by_name(tmp_path: Path) -> None:
    """With or without folder and ending; near names are offered; another team's note is theirs to retire."""
    notes = NoteFiles(tmp_path / "memory")
    notes.create("retries", note_text("# How often we retry\n\nFive.", {"kind": "correction"}))
    notes.put("memory/shared/pay/limits.md", "# Limits\n")
    listed = answer_notes(notes, "list", "")
    assert [line.text for line in listed.parts[0].lines] == [
        "retries · How often we retry",
        "shared/pay/limits · Limits",
    ]
    for typed in ("retries", "retries.md", "memory/retries.md"):
        assert find_note(notes, typed).text.endswith("Five.\n")
    with pytest.raises(InputError, match=r"no note 'retires'. Did you mean retries\?"):
        find_note(notes, "retires")
    with pytest.raises(InputError, match="note of another team"):
        retire_note(notes, "shared/pay/limits")
    assert retire_note(notes, "retries").startswith("memory/retries.md is memory/retired/")
    with pytest.raises(InputError, match="There is no note"):
        find_note(notes, "retries")


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
