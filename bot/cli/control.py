"""`triage pause`, `resume` and `notes`: as `/triage` does them.

They work from the data directory, beside a running bot, which follows within 5 s.
"""

from __future__ import annotations

import getpass

import click

from bot.adapters.clocks import SystemClock
from bot.casework.pause import PauseSwitch, answer_pause, answer_resume
from bot.casework.reports.answers_notes import answer_notes
from bot.cli.arguments import Scope, arguments_of, scoped, words_of
from bot.cli.data_directory import store_at
from bot.cli.options import VerbGroup
from bot.cli.output import show
from bot.domain.command_specs import NOTHING, CommandSpec, manual, subcommands


@click.command("pause", help="Pause all work that costs money, until somebody resumes.")
@scoped
def pause_command(scope: Scope) -> int:
    """Pause; raises StoreError where the data directory cannot be written."""
    name = getpass.getuser()
    print(show(answer_pause(_switch(scope), by=f"terminal:{name}", name=name)))
    return 0


@click.command("resume", help="Resume after a pause; waiting work starts, oldest first.")
@scoped
def resume_command(scope: Scope) -> int:
    """Resume; raises StoreError where the data directory cannot be written, and then all stays paused."""
    print(show(answer_resume(_switch(scope), by=f"terminal:{getpass.getuser()}")[1]))
    return 0


def _switch(scope: Scope) -> PauseSwitch:
    return PauseSwitch(store_at(scope.one_team(), is_reader=False).documents, SystemClock())


notes_command = VerbGroup("notes", help=manual()["notes"].does)


def _add_notes_verb(entry: CommandSpec) -> None:
    """Add a verb with the words that follow it."""
    verb, is_reader = entry.path.partition(" ")[2], entry.changes == NOTHING

    def run(scope: Scope, /, **given: str) -> int:
        notes = store_at(scope.one_team(), is_reader=is_reader).notes
        print(show(answer_notes(notes, verb, "".join(words_of(given)))))
        return 0

    notes_command.command(verb, help=entry.does)(scoped(run)).params += arguments_of(entry)


for _notes_entry in subcommands(str(notes_command.name)):
    _add_notes_verb(_notes_entry)
