"""`triage heartbeat`, `tiers` and `pollinate`: as `/triage` does them.

They work from the data directory, beside a running bot, which follows within 5 s.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from bot.adapters.clocks import SystemClock, local_zone
from bot.adapters.storage.files.file_leases import FileLeases
from bot.cli.arguments import Scope, arguments_of, scoped, words_of
from bot.cli.data_directory import environment_at, store_at
from bot.cli.options import VerbGroup, json_option
from bot.composition.sessions import Sessions
from bot.config.home import process_home
from bot.config.settings import Settings
from bot.domain.answers import Answer
from bot.domain.command_specs import NOTHING, CommandLine, CommandSpec, subcommands
from bot.domain.heartbeats.beats import Wake
from bot.heartbeat.session_registry import Asker, Owners
from bot.ports.collections import HOME


def report_damage(where: str) -> None:
    """Say on stderr that a file could not be read and where it lies now."""
    path = Path(where)
    print(f"triage: {path.parent} held a file that could not be read; it was set aside as {path.name}", file=sys.stderr)


def answer_at(home: Path, settings: Settings, line: CommandLine) -> Answer:
    """Return what the sessions of a data directory answer; raises TriageError for what cannot be done."""
    environment, clock = environment_at(home), SystemClock()
    of = Sessions(
        store_at(home, is_reader=False),
        settings.sessions,
        Owners(None, clock, local=local_zone(environment.variables)),
        clock,
        on_damage=report_damage,
        known_secrets=environment.secrets(),
    )

    def drop(session_id: str, wake: Wake) -> str:
        """Leave a wake for the bot; return what becomes of it."""
        of.wakes.drop(session_id, wake)
        process = FileLeases(process_home(home)).holder(HOME)
        if process is None:
            return f"triage is not running on {home}; the check of {session_id} starts when it does: `triage run`"
        return f"triage (process {process}) starts it in a few seconds. Next: `triage heartbeat why {session_id}`"

    by = Asker(f"terminal:{getpass.getuser()}", f"{getpass.getuser()} at the terminal")
    return of.answering(drop, lambda _: False)[line.word(0)](line, by)


def _type(scope: Scope, *words: str, as_json: bool) -> int:
    """Print what a line is answered; raises InputError, below what is shown, where nothing was done.

    Of several teams a list is made for each; anything else is about the one of `--team`, or whose session is named.
    """
    line = CommandLine(text=" ".join(words), words=words)
    of_each = words[1:] in ((), ("list",), ("",))
    session = line.word(1 if line.word(0) == tiers.name else 2)
    of_team = None if of_each else scope.one_team(session)
    return scope.answer_each(lambda home: answer_at(home, scope.settings(home), line), of_team=of_team, as_json=as_json)


heartbeat = VerbGroup("heartbeat", help="Watched folders and their checks.")
pollinate = VerbGroup("pollinate", help="Checks suggested from one session to another.")


@click.group(
    cls=VerbGroup,
    invoke_without_command=True,
    context_settings={"allow_interspersed_args": True},
    help="A session's tasks, numbered, and when they are due.",
)
@click.argument("session", default="")
@scoped
@json_option
@click.pass_context
def tiers(ctx: click.Context, scope: Scope, session: str, as_json: bool) -> int:
    """Print the list where no verb follows, and the sessions where nothing does."""
    ctx.obj = partial(_type, scope, "tiers", session, as_json=as_json)
    return 0 if ctx.invoked_subcommand else ctx.obj()


def _add_verb(group: click.Group, entry: CommandSpec) -> None:
    """Add a verb with the words that follow it; what changes nothing prints JSON, too."""
    name, _, verb = entry.path.partition(" ")

    def run(scope: Scope, /, as_json: bool = False, **given: str | tuple[str, ...]) -> int:
        return _type(scope, name, verb, *words_of(given), as_json=as_json)

    @click.pass_obj
    def run_on_session(typed: Callable[..., int], /, **given: str | tuple[str, ...]) -> int:
        return typed(verb, *words_of(given))

    added = group.command(verb, help=entry.does)(run_on_session if group is tiers else scoped(run))
    added.params += arguments_of(entry)
    if group is not tiers and entry.changes == NOTHING:
        json_option(added)


for _group in (heartbeat, tiers, pollinate):
    for _entry in subcommands(str(_group.name)):
        _add_verb(_group, _entry)
