"""`triage tiers …`: what `/triage tiers` does, from the data directory; works beside a running bot and without one."""

from __future__ import annotations

import argparse
import difflib
import getpass
import json
import shlex
import sys
import textwrap
from pathlib import Path
from typing import Any, Final

from bot.adapters.process.system_clock import SystemClock, local_zone
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.session_files import SessionFiles
from bot.cli.output import CommandParser
from bot.config.environment import Environment, read_environment
from bot.config.settings import find_config, load_settings
from bot.domain.playbooks.playbook_edits import ListChanged
from bot.domain.tiers import Tier
from bot.errors import InputError
from bot.heartbeat.playbooks.removed_checks import Removals
from bot.heartbeat.playbooks.task_commands import TaskAnswer, TaskCommands
from bot.heartbeat.playbooks.task_list import (
    TaskList,
    due_lines,
    one_line_text,
    parse_number,
    parse_tier,
    refused_lines,
    task_line,
    tier_heading,
)
from bot.heartbeat.sessions.owner_zones import OwnerZones
from bot.heartbeat.sessions.session_registry import SessionRegistry
from bot.ports.collections import OVERRIDES, REMOVED_CHECKS, TASK_LISTS, Collection, SingleDocument

WIDTH: Final = 80
VERBS: Final = ("add", "remove", "move", "due")
_EPILOG: Final = """\
triage tiers SESSION                    its tasks, numbered, and what is due
triage tiers SESSION add TIER TASK…     one more; TIER is quick, hourly, daily
triage tiers SESSION remove N           the task of that number
triage tiers SESSION move N TIER        to another tier
triage tiers SESSION due                which tier is due, and the next one when"""


def main(argv: list[str]) -> int:
    """Carry out one verb and print what came of it; exit code 0.

    Raises:
        ConfigError: triage.yml or the environment cannot be used.
        InputError: there is no such session, verb, tier or task, or the list changed since it was shown.
        StoreError: a playbook or the data directory cannot be read or written.
    """
    args = parser().parse_args(argv)
    environment = read_environment(dotenv=Path(".env"))
    if args.home:
        environment = environment.model_copy(update={"home": args.home})
    desk, by = _desk(environment, args.config), f"terminal:{getpass.getuser()}"
    try:
        print(_here(_said(desk, args, by)))
    except ListChanged as changed:
        print(render_list(desk.listed(args.session.lower(), by)))
        raise InputError(str(changed)) from changed
    except InputError as error:
        raise InputError(_here(str(error))) from error
    return 0


def _here(text: str) -> str:
    """Return a hint as it is typed on the terminal."""
    return text.replace("/triage ", "triage ")


def _desk(environment: Environment, config: Path | None) -> TaskCommands:
    home, clock = environment.home, SystemClock()
    settings = load_settings(find_config(config, home))
    documents = FileDocuments(home)
    sessions = SessionRegistry(settings.sessions, Collection(documents, OVERRIDES, on_damage=_report))
    zones = OwnerZones(None, clock, local=local_zone(environment.variables))
    store = SessionFiles(home, on_damage=_report)
    shown, removals = (SingleDocument(documents, name) for name in (TASK_LISTS, REMOVED_CHECKS))
    return TaskCommands(sessions, store, zones, clock, shown, Removals(removals))


def _said(desk: TaskCommands, args: argparse.Namespace, by: str) -> str:
    session, words = args.session.lower(), list(args.words)
    if not words or words == ["due"]:
        if words and not args.json:
            return "\n".join(due_lines(desk.list_tasks(session)))
        seen = desk.listed(session, by)
        if args.json:
            return json.dumps(list_json(seen), ensure_ascii=False, indent=1, default=str)
        return render_list(seen)
    verb, first, *rest = [*words, ""]
    if verb not in VERBS:
        near = difflib.get_close_matches(verb, VERBS, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(VERBS)}"
        raise InputError(f"there is no triage tiers {session} {verb[:40]}; {hint}")
    return render_answer(_done(desk, session, verb, first, [word for word in rest if word], by))


def _done(desk: TaskCommands, session: str, verb: str, first: str, rest: list[str], by: str) -> TaskAnswer:
    if verb == "add":
        return desk.add(session, parse_tier(first, session), " ".join(rest), by)
    number = parse_number(first, session)
    if verb == "remove":
        return desk.remove(session, number, by)
    return desk.move(session, number, parse_tier(rest[0] if rest else "", session), by)


def render_list(seen: TaskList) -> str:
    """Return the list, at most 80 columns wide; nothing is cut."""
    lines: list[str] = []
    for tier in Tier:
        tasks = [_wrapped(task_line(seen, one.number), "    ") for one in seen.in_tier(tier)]
        lines += [tier_heading(seen, tier), *(tasks or ["  no task"]), ""]
    refused = [_wrapped(line, "    ") for line in refused_lines(seen)]
    lines += ["Not among `commands` in triage.yml, so never run:", *refused, ""] if refused else []
    return "\n".join([*lines, f"Next: triage tiers {seen.session.id} add hourly <task>"])


def render_answer(answer: TaskAnswer) -> str:
    """Return what changed and how to undo it, what was taken out, and the list as it is now."""
    said = textwrap.fill(one_line_text(answer.text), WIDTH, break_long_words=False, break_on_hyphens=False)
    kept = ["", *(f"  {one_line_text(line)}" for line in answer.kept.splitlines())] if answer.kept else []
    # Quoted, for a task may hold backticks.
    undo = [f"To undo: triage {one_line_text(shlex.join(answer.undo))}"] if answer.undo else []
    return "\n".join([said, *kept, *undo, "", render_list(answer.tasks)])


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
            "text": one_line_text(one.task.text),
            "details": [one_line_text(line) for line in one.task.details],
            "last_ok": one.task.checked,
            "not_allowed": [list(argv) for argv in seen.refused.get(one.number, ())],
        }
        for one in seen.tasks
    ]
    return {"session": seen.session.id, "at": seen.at, "due": seen.due, "tiers": tiers, "tasks": tasks}


def _wrapped(line: str, indent: str) -> str:
    return textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent=indent, break_on_hyphens=False)


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    found = CommandParser(
        prog="triage tiers",
        description="A session's tasks and when they are due.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("--home", type=Path, help="data directory (default: TRIAGE_HOME, then ~/.triage)")
    found.add_argument("--config", type=Path, help="default: ./triage.yml, then triage.yml in the data directory")
    found.add_argument("--json", action="store_true", help="the list, for programs")
    found.add_argument("session", nargs="?", default="")
    found.add_argument("words", nargs="*", metavar="VERB …")
    return found


def _report(where: str) -> None:
    path = Path(where)
    print(f"triage: {path.parent} held a file that could not be read; it was set aside as {path.name}", file=sys.stderr)
