"""`/triage notes list | show <note> | retire <note>`: what is kept in memory/; for approvers, others hear how many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.mrkdwn import to_mrkdwn
from blocks.text.outgoing_text import context, escape, inline_code, section, verbatim
from blocks.text.splitting import SECTION_CHARS, lines_that_fit, split
from blocks.views.answers import message_blocks
from blocks.views.help_view import unknown_verb
from bot.casework.approvers import Approvers
from bot.casework.note_commands import find_note, note_lines, retire_note
from bot.domain.commands.command_specs import command_names
from bot.domain.notes import KeptNote
from bot.domain.text.humanize import counted
from bot.ports import NoteStore
from handlers.commands.casework_commands import ONLY_APPROVERS, WHO_APPROVES
from handlers.commands.dispatcher import Command, TypedCommand, reject_extra_words

NAME: Final = "notes"
REF_CHARS: Final = 120

MAX_LISTED: Final = 100


def notes_command(notes: NoteStore, approvers: Approvers) -> Command:
    """Return the command; a note may hold what was said where few can read."""

    def command(typed: TypedCommand) -> list[Block]:
        verb, named = typed.line.word(1) or "list", " ".join(typed.line.words[2:3])
        if verb not in command_names(NAME):
            return unknown_verb(NAME, verb)
        if verb == "list":
            return note_list(note_lines(notes), may_read=approvers.allow(*typed.who))
        approvers.require(*typed.who, ONLY_APPROVERS, next_step=WHO_APPROVES)
        reject_extra_words(f"{NAME} {verb}", typed.line.words[2:])
        return note_blocks(find_note(notes, named)) if verb == "show" else message_blocks(retire_note(notes, named))

    return command


def note_list(lines: Sequence[str], *, may_read: bool) -> list[Block]:
    """Return the list, or how many there are; where there is none, how one is saved."""
    if not lines:
        return message_blocks("There are no notes. To save one: Remember this, in the menu of a card or a message.")
    if not may_read:
        return message_blocks(f"{counted(len(lines), 'note')}, for approvers to read. {WHO_APPROVES}")
    listed = lines_that_fit([escape(line) for line in lines], MAX_LISTED)
    return [section(listed), context(f"{counted(len(lines), 'note')} · Next: `/triage notes show <note>`")]


def note_blocks(note: KeptNote) -> list[Block]:
    """Return a note's words, and the lines of code that it rests on."""
    words = [verbatim(part) for part in split(to_mrkdwn(note.text), SECTION_CHARS)]
    cites = ", ".join(inline_code(cite.ref, REF_CHARS) for cite in note.cites)
    return [section(f"*{escape(note.ref)}*"), *words, *([context(f"Rests on {cites}")] if cites else [])]
