"""`triage notes …`: what `/triage notes` does, from the data directory; works beside a running bot."""

from __future__ import annotations

import click

from bot.casework.note_commands import find_note, note_lines, retire_note
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import store_at
from bot.cli.output import terminal_words
from bot.cli.verb_group import VerbGroup
from bot.domain.notes import visible_words

note_argument = click.argument("note", help="its name, with or without memory/ and .md")


@click.group("notes", cls=VerbGroup, help="What was saved for later questions.")
def command() -> None:
    """Hold the verbs."""


@command.command("list", help="every note: its name and its title")
@scoped
def list_notes(scope: Scope) -> int:
    """Print a line for each note."""
    lines = note_lines(store_at(scope.one_team()).notes)
    print(terminal_words("\n".join(lines)) or "There are no notes. To save one: Remember this, in the menu of a card.")
    return 0


@command.command("show", help="its words, and the lines of code that it rests on")
@note_argument
@scoped
def show(scope: Scope, note: str) -> int:
    """Print a note; raises InputError where there is none."""
    found = find_note(store_at(scope.one_team()).notes, note)
    print(visible_words(found.text))
    if found.cites:
        print(terminal_words(f"\nRests on {', '.join(cite.ref for cite in found.cites)}."))
    return 0


@command.command("retire", help="put it where no search looks")
@note_argument
@scoped
def retire(scope: Scope, note: str) -> int:
    """Retire a note; raises InputError where there is none."""
    print(terminal_words(retire_note(store_at(scope.one_team(), is_reader=False).notes, note)))
    return 0
