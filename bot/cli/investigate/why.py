"""`triage why <permalink or thread id>`: from the message to the reply, or why there is none; needs no running bot.

Reads the journals and the thread's file, and writes nothing. A message that no thread came of is explained as well.
With `--run` it prints the record of one run, from a disk or a database.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import click

from bot.casework.reports.past_thread import find_message, why_answer
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import (
    environment_at,
    in_its_team,
    names_at,
    settings_at,
    store_at,
)
from bot.cli.options import json_option
from bot.cli.output import show, to_json
from bot.composition.codebases import open_team_code
from bot.domain.citations.links import LinkTo, code_links
from bot.domain.text.sanitize import strip_hidden
from bot.errors import CodebaseUnreadable, ConfigError, InputError, ProviderError
from bot.intake.classifier.rules import Rules
from bot.ports import Store

Record = dict[str, Any]
MAX_NAMED = 8
_LISTS = "`triage status` lists the open threads"


@click.command("why", help="From the message to the reply, step by step.")
@click.argument("thread", required=False, help="a Slack link to a message, or a thread id (T01.C01.1700000000.000100)")
@click.option("--run", metavar="ID", help="print the record of a run instead; with --json its trace")
@json_option
@scoped
def command(scope: Scope, thread: str | None, run: str | None, as_json: bool) -> int:
    """Print the chain, or the record of a run; exit code 0. Of several teams it is the one that has it.

    Raises:
        InputError: there is no such thread, message or run.
        StoreError: a file cannot be read.
    """
    if (thread is None) == (run is None):
        raise click.UsageError("give a thread, or --run ID; `triage open` lists the threads that wait")
    if run is not None:
        _, _, record = in_its_team(scope.teams(), lambda at: read_record(store_at(at), run, as_json=as_json))
        print(record)
        return 0
    assert thread is not None
    name, home, _ = in_its_team(scope.teams(), lambda at: find_message(store_at(at), thread))
    links = code_links(None) if as_json else _links(home, scope.config)
    answer = why_answer(store_at(home), thread, _rules(home, scope.config), links, names_at(home))
    print(to_json({"team": name, **dict(answer.data)}) if as_json else show(answer))
    return 0


def read_record(store: Store, run: str, *, as_json: bool) -> str:
    """Return the transcript and the log of a run, or its trace; raises InputError where nothing was kept of it."""
    name = PurePosixPath(run.strip().removeprefix("runs/")).name
    folder = store.runs.fetch(f"runs/{name}") if name not in ("", "..") else None
    files = [folder / one for one in (("trace.json",) if as_json else ("transcript.md", "run.log"))] if folder else []
    kept = [one.read_text(encoding="utf-8", errors="replace") for one in files if one.is_file()]
    if not kept:
        of_that_name = [one.partition("/")[2] for one in store.runs.folders() if name and name in one][-MAX_NAMED:]
        known = f"; there are {', '.join(of_that_name)}" if of_that_name else ""
        raise InputError(f"nothing was kept of a run {run[:80]!r}{known}")
    text = "\n\n".join(one.rstrip() for one in kept)
    return text if as_json else strip_hidden(text)[0]


def _rules(home: Path, config: Path | None) -> Rules:
    """Return the team's rules; the shipped ones where there is no config that can be read."""
    try:
        return Rules(**settings_at(config, home).classifier.model_dump())
    except ConfigError:
        return Rules()


def _links(home: Path, config: Path | None) -> LinkTo:
    """Return the links to the code host; none where config or codebase cannot be read, for nothing else needs them."""
    try:
        settings = settings_at(config, home)
        return open_team_code(settings, environment_at(home)).link_to
    except (ConfigError, ProviderError, CodebaseUnreadable):
        return code_links(None)
