"""`triage tiers …`: what `/triage tiers` does, from the data directory; works beside a running bot and without one."""

from __future__ import annotations

import getpass
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from bot.cli.arguments import Scope, scoped
from bot.cli.heartbeat.command import WatchedSessions
from bot.cli.options import json_option
from bot.cli.output import terminal_words, to_json, wrapped
from bot.cli.verb_group import VerbGroup
from bot.domain.playbooks.playbook_edits import ListChanged
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import Tier
from bot.heartbeat.playbooks.playbook_file import Removals
from bot.heartbeat.playbooks.task_commands import TaskAnswer, TaskCommands
from bot.heartbeat.playbooks.task_list import (
    TaskList,
    due_lines,
    parse_number,
    parse_tier,
    refused_lines,
    task_line,
    tier_heading,
)
from bot.ports.collections import REMOVED_CHECKS, TASK_LISTS, SingleDocument


class TiersCli:
    """The tasks of one session."""

    def __init__(self, session: str, home: Path | None, config: Path | None) -> None:
        watched, self.session = WatchedSessions(home, config), session.lower()
        listed, removed = (SingleDocument(watched.documents, name) for name in (TASK_LISTS, REMOVED_CHECKS))
        self.by = f"terminal:{getpass.getuser()}"
        self.commands = TaskCommands(
            watched.registry, watched.states, watched.zones, watched.clock, listed, Removals(removed)
        )

    def listed(self) -> TaskList:
        """Return the list, and remember that it was shown; raises InputError if there is no such session."""
        return self.commands.listed(self.session, self.by)

    @contextmanager
    def same_list(self) -> Iterator[None]:
        """Print the list where it is not the one that was shown last; raises ListChanged then."""
        try:
            yield
        except ListChanged:
            print(render_list(self.listed()))
            raise


@click.group(
    "tiers",
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
    ctx.obj = TiersCli(session, scope.one_team(session), config)
    if ctx.invoked_subcommand is None:
        seen = ctx.obj.listed()
        print(to_json(list_json(seen)) if as_json else render_list(seen))
    return 0


def _session_ids(home: Path, config: Path | None) -> list[str]:
    return [each.id for each in WatchedSessions(home, config).registry.all()]


def _named(sessions: list[str], as_json: bool) -> str:
    return to_json(sessions) if as_json else wrapped(f"Sessions: {', '.join(sessions) or 'none'}")


@command.command("add", help="add a task; TIER is quick, hourly or daily")
@click.argument("tier")
@click.argument("task", nargs=-1, required=True)
@click.pass_obj
def add(tiers: TiersCli, tier: str, task: tuple[str, ...]) -> int:
    """Add and print the list."""
    return _done(tiers.commands.add(tiers.session, parse_tier(tier, tiers.session), " ".join(task), tiers.by))


@command.command("remove", help="remove the task of that number")
@click.argument("number")
@click.pass_obj
def remove(tiers: TiersCli, number: str) -> int:
    """Remove and print the list."""
    with tiers.same_list():
        return _done(tiers.commands.remove(tiers.session, parse_number(number, tiers.session), tiers.by))


@command.command("move", help="move the task of that number to another tier")
@click.argument("number")
@click.argument("tier")
@click.pass_obj
def move(tiers: TiersCli, number: str, tier: str) -> int:
    """Move and print the list."""
    wanted = parse_tier(tier, tiers.session)
    with tiers.same_list():
        return _done(tiers.commands.move(tiers.session, parse_number(number, tiers.session), wanted, tiers.by))


@command.command("due", help="which tier is due, and when the next one is")
@click.pass_context
def due(ctx: click.Context) -> int:
    """Print what is due; with --json the whole list."""
    assert ctx.parent is not None
    tiers: TiersCli = ctx.obj
    if ctx.parent.params["as_json"]:
        print(to_json(list_json(tiers.listed())))
    else:
        print("\n".join(due_lines(tiers.commands.list_tasks(tiers.session))))
    return 0


def _done(answer: TaskAnswer) -> int:
    print(terminal_words(render_answer(answer)))
    return 0


def render_list(seen: TaskList) -> str:
    """Return the list, at most 80 columns wide; nothing is cut."""
    lines: list[str] = []
    for tier in Tier:
        tasks = [_item(task_line(seen, one.number)) for one in seen.in_tier(tier)]
        lines += [tier_heading(seen, tier), *(tasks or ["  no task"]), ""]
    refused = [_item(line) for line in refused_lines(seen)]
    lines += ["Not among `commands` in triage.yml, so never run:", *refused, ""] if refused else []
    return "\n".join([*lines, f"Next: triage tiers {seen.session.id} add hourly <task>"])


def render_answer(answer: TaskAnswer) -> str:
    """Return what changed and how to undo it, what was taken out, and the list as it is now."""
    kept = ["", *(f"  {one_line(line)}" for line in answer.kept.splitlines())] if answer.kept else []
    # Quoted, for a task may hold backticks.
    undo = [f"To undo: triage {one_line(shlex.join(answer.undo))}"] if answer.undo else []
    return "\n".join([wrapped(one_line(answer.text)), *kept, *undo, "", render_list(answer.tasks)])


def list_json(seen: TaskList) -> dict[str, Any]:
    """Return the list for programs."""
    tiers = {
        tier: {"last": seen.stamps.stamp_of(tier), "due": seen.is_due(tier), "next_beat": seen.beats[tier]}
        for tier in Tier
    }
    tasks = [
        {
            "number": one.number,
            "tier": one.tier,
            "id": one.task.id,
            "text": one_line(one.task.text),
            "details": [one_line(line) for line in one.task.details],
            "last_ok": one.task.checked,
            "not_allowed": [list(argv) for argv in seen.refused.get(one.number, ())],
        }
        for one in seen.tasks
    ]
    return {"session": seen.session.id, "at": seen.at, "due": seen.due, "tiers": tiers, "tasks": tasks}


def _item(line: str) -> str:
    return wrapped(line, lead="  ", indent="    ")
