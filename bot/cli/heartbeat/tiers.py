"""`triage tiers …`: what `/triage tiers` does, from the data directory; works beside a running bot and without one."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import click

from bot.cli.arguments import Scope, printed, scoped
from bot.cli.heartbeat.command import WatchedSessions
from bot.cli.options import json_option
from bot.cli.output import to_json, wrapped
from bot.cli.verb_group import VerbGroup
from bot.domain.commands.command_specs import CommandSpec, subcommands
from bot.errors import InputError
from bot.heartbeat.playbooks.playbook_file import Removals
from bot.heartbeat.playbooks.task_answers import TaskAnswers
from bot.heartbeat.playbooks.task_commands import TaskCommands
from bot.ports.collections import REMOVED_CHECKS, TASK_LISTS, SingleDocument

NAME: Final = "tiers"

Answering = Callable[[str, tuple[str, ...]], int]
"""Prints the answer to a verb and the words after it; returns the exit code."""


@click.group(
    NAME,
    cls=VerbGroup,
    invoke_without_command=True,
    context_settings={"allow_interspersed_args": True},
    help="A session's tasks, numbered, and when they are due.",
)
@click.argument("session", default="")
@scoped
@json_option
@click.pass_context
def command(ctx: click.Context, scope: Scope, session: str, as_json: bool) -> int:
    """Print the list where no verb follows, and the sessions where nothing does."""
    config = scope.config
    known = [] if session else [one for at in scope.teams().values() for one in _session_ids(at, config)]
    if known:
        scope.print_each(lambda at: _named(_session_ids(at, config), as_json), as_json=as_json)
        if not as_json:
            print(f"Next: triage tiers {known[0]}")
        return 0
    watched = WatchedSessions(scope.one_team(session), config)
    ctx.obj = partial(_print, _answers(watched), session.lower(), as_json)
    return ctx.obj("", ()) if ctx.invoked_subcommand is None else 0


def _answers(watched: WatchedSessions) -> TaskAnswers:
    listed, removed = (SingleDocument(watched.documents, name) for name in (TASK_LISTS, REMOVED_CHECKS))
    return TaskAnswers(
        TaskCommands(watched.registry, watched.states, watched.zones, watched.clock, listed, Removals(removed))
    )


def _print(answers: TaskAnswers, session: str, as_json: bool, verb: str, words: tuple[str, ...]) -> int:
    """Print an answer; raises InputError, below what it shows, where nothing was done."""
    answer = answers.answer(session, verb, words, " ".join(words[1:]), f"terminal:{getpass.getuser()}")
    print(printed(answer, as_json=as_json))
    if answer.problem:
        raise InputError(answer.problem)
    return 0


def _session_ids(home: Path, config: Path | None) -> list[str]:
    return [each.id for each in WatchedSessions(home, config).registry.all()]


def _named(sessions: list[str], as_json: bool) -> str:
    return to_json(sessions) if as_json else wrapped(f"Sessions: {', '.join(sessions) or 'none'}")


def _add_verb(entry: CommandSpec) -> None:
    """Add a verb with the words that follow it."""
    verb = entry.path.removeprefix(f"{NAME} ")
    words = entry.form.partition(f" {verb}")[2].split()

    @command.command(verb, help=entry.does)
    @click.pass_obj
    def run(answering: Answering, /, **given: str | tuple[str, ...]) -> int:
        typed = [one for word in given.values() for one in ([word] if isinstance(word, str) else word)]
        return answering(verb, tuple(typed))

    for word in words:
        is_last = word == "<task>"
        run.params.append(click.Argument([word.strip("<>")], nargs=-1 if is_last else 1, required=True))


for _entry in subcommands(NAME):
    _add_verb(_entry)
