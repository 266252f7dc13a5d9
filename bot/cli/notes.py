"""`triage notes …`: what `/triage notes` does, from the data directory; works beside a running bot."""

from __future__ import annotations

from bot.casework.note_commands import answer_notes
from bot.cli.arguments import Scope, arguments_of, scoped, words_of
from bot.cli.data_directory import store_at
from bot.cli.output import show
from bot.cli.verb_group import VerbGroup
from bot.domain.commands.command_specs import NOTHING, CommandSpec, manual, subcommands

command = VerbGroup("notes", help=manual()["notes"].does)


def _add_verb(entry: CommandSpec) -> None:
    """Add a verb with the words that follow it."""
    verb, is_reader = entry.path.partition(" ")[2], entry.changes == NOTHING

    def run(scope: Scope, /, **given: str) -> int:
        notes = store_at(scope.one_team(), is_reader=is_reader).notes
        print(show(answer_notes(notes, verb, "".join(words_of(given)))))
        return 0

    command.command(verb, help=entry.does)(scoped(run)).params += arguments_of(entry)


for _entry in subcommands(str(command.name)):
    _add_verb(_entry)
