"""`/triage notes list | show <note> | retire <note>`: what is kept in memory/; for approvers, others hear how many."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block

from blocks.views.answers import answer_blocks, message_blocks
from blocks.views.help_view import unknown_verb
from bot.casework.approvers import Approvers
from bot.casework.note_commands import answer_notes
from bot.domain.commands.command_specs import command_names
from bot.domain.text.humanize import counted
from bot.ports import NoteStore
from handlers.commands.casework_commands import ONLY_APPROVERS, WHO_APPROVES
from handlers.commands.dispatcher import Command, TypedCommand, reject_extra_words

NAME: Final = "notes"


def notes_command(notes: NoteStore, approvers: Approvers) -> Command:
    """Return the command; a note may hold what was said where few can read."""

    def command(typed: TypedCommand) -> list[Block]:
        verb, named = typed.line.word(1) or "list", " ".join(typed.line.words[2:3])
        if verb not in command_names(NAME):
            return unknown_verb(NAME, verb)
        if verb == "list" and not approvers.allow(*typed.who):
            return message_blocks(f"{counted(len(notes.all()), 'note')}, for approvers to read. {WHO_APPROVES}")
        if verb != "list":
            approvers.require(*typed.who, ONLY_APPROVERS, next_step=WHO_APPROVES)
            reject_extra_words(f"{NAME} {verb}", typed.line.words[2:])
        return answer_blocks(answer_notes(notes, verb, named))

    return command
