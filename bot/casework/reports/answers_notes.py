"""What `notes list | show | retire` answers, in Slack and at the terminal."""

from __future__ import annotations

from typing import Final

from bot.domain.answers import Answer, Part, lines_of, sentence
from bot.domain.notes import KeptNote, visible_words
from bot.domain.text.humanize import counted, near_ones
from bot.domain.text.sanitize import one_line
from bot.errors import Conflict, InputError
from bot.ports import NoteStore

TITLE_CHARS: Final = 100


def answer_notes(notes: NoteStore, verb: str, typed: str) -> Answer:
    """Return what `notes list`, `show` or `retire` answers who may read them.

    Raises:
        InputError: there is no such note.
        Conflict: somebody else has just retired it.
    """
    if verb == "retire":
        return sentence(retire_note(notes, typed), "notes list")
    if verb == "show":
        note = find_note(notes, typed)
        cites = [f"Rests on {', '.join(cite.ref for cite in note.cites)}"] if note.cites else []
        return Answer(parts=(Part(title=note.ref, lines=lines_of(cites), quoted=visible_words(note.text)),))
    lines = [f"{_name(note)} · {one_line(note.title, TITLE_CHARS)}" for note in notes.all()]
    if not lines:
        return sentence("There are no notes. To save one: Remember this, in the menu of a card or a message.")
    return Answer(
        parts=(Part(title=counted(len(lines), "note"), lines=lines_of(lines)),), following="notes show <note>"
    )


def find_note(notes: NoteStore, typed: str) -> KeptNote:
    """Return the note of that name, with or without `memory/` and `.md`; raises InputError where there is none."""
    wanted = typed.removeprefix("memory/").removesuffix(".md")
    known = {_name(note): note for note in notes.all()}
    if wanted in known:
        return known[wanted]
    near = near_ones(wanted, list(known))
    hint = f"Did you mean {' or '.join(near)}?" if near else "`notes list` names them."
    raise InputError(f"There is no note {one_line(wanted, 80)!r}. {hint}" if wanted else f"Which note? {hint}")


def retire_note(notes: NoteStore, typed: str) -> str:
    """Put a note where no search looks; returns what was done, and raises InputError where there is none."""
    note = find_note(notes, typed)
    if note.is_shared:
        raise InputError(f"{_name(note)} is the note of another team; only they can retire it.")
    retired = notes.retire(note.ref)
    if retired is None:
        raise Conflict(f"{_name(note)} is not there any more.")
    return f"{note.ref} is {retired} now; no search finds it."


def _name(note: KeptNote) -> str:
    return note.ref.removeprefix("memory/").removesuffix(".md")
