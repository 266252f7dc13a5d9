"""`triage why <permalink or thread id>`: from the message to the reply, or why there is none; needs no running bot.

Reads the journals and the thread's file, and writes nothing. A message that no thread came of is explained as well.
With `--run` it prints the record of one run, from a disk or a database.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import click

from bot.casework.posting.feedback import read_feedback
from bot.casework.reports.status_overview import overview
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import (
    environment_at,
    find_thread,
    in_its_team,
    name_pattern,
    names_at,
    settings_at,
    store_at,
)
from bot.cli.investigate.timeline import render_timeline, render_unanswered
from bot.cli.options import json_option
from bot.cli.output import to_json
from bot.composition.codebases import open_team_code
from bot.domain.citations.links import LinkTo, code_links
from bot.domain.questions.feedback import Feedback
from bot.domain.text.sanitize import strip_hidden
from bot.domain.threads import ThreadState
from bot.errors import CodebaseUnreadable, ConfigError, InputError, ProviderError
from bot.intake.classifier.rules import Rules
from bot.ports import Store
from bot.ports.collections import CLASSIFIED, REPLIES

Record = dict[str, Any]
MAX_NAMED = 8
_LISTS = "`triage status` lists the open threads"


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadLocation:
    """A message: its channel and its ts."""

    chat_id: str
    ts: str


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
    name, home, found_there = in_its_team(scope.teams(), lambda at: find_message(store_at(at), thread))
    store, (events, state, replies) = store_at(home), found_there
    votes = _feedback(store, state)
    if as_json:
        found = state.model_dump(mode="json") if state else None
        said = [one.model_dump(mode="json") for one in votes]
        print(to_json({"team": name, "events": events, "thread": found, "replies": replies, "feedback": said}))
    else:
        rules, links = _rules(home, scope.config), _links(home, scope.config)
        names = names_at(home)
        if state is None:
            unreadable = _unreadable_thread(store, events)
            print(render_unanswered(events, rules, unreadable=unreadable, names=names))
        else:
            print(render_timeline(state, events, replies, links, rules, names=names, feedback=votes))
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


def _feedback(store: Store, state: ThreadState | None) -> list[Feedback]:
    return [one for one in read_feedback(store) if state and one.thread_id == state.thread_id]


def _unreadable_thread(store: Store, said: list[Record]) -> str:
    """Return the name of the thread's file where it is there and cannot be read."""
    roots = {(one.get("chat_id"), one.get("thread_id") or one.get("message_id")) for one in said}
    known = overview(store, datetime.now(UTC)).unreadable
    return next((name for name in known if any(f".{chat}.{ts}." in name for chat, ts in roots)), "")


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


def find_message(store: Store, asked: str) -> tuple[list[Record], ThreadState | None, list[Record]]:
    """Return the thread's messages as classified, its state if it has one, and its lines of the reply log.

    Raises:
        InputError: nothing was recorded.
        StoreError: something cannot be read.
    """
    place = _place(asked)
    said = _said(store, place)
    if said and said[0].get("thread_id") and all(record.get("message_id") != record["thread_id"] for record in said):
        root = ThreadLocation(
            chat_id=place.chat_id, ts=str(said[0]["thread_id"])
        )  # a link to a reply that names no thread
        said = _said(store, root) if root != place else said
        place = root
    state = _state(store, asked, place, said)
    if state is None and not said:
        raise InputError(f"there is no record of {asked[:200]!r} in {store.files}; {_LISTS}")
    thread_id = state.thread_id if state else None
    replies = [
        r
        for r in store.journal(REPLIES).records(containing=thread_id or "")
        if thread_id and r.get("thread_id") == thread_id
    ]
    return said, state, replies


def _place(asked: str) -> ThreadLocation:
    try:
        _, chat_id, ts = name_pattern(asked).split(".", 2)
    except InputError as error:
        raise InputError(f"{error}, or is a link copied from Slack; {_LISTS}") from error
    return ThreadLocation(chat_id=chat_id, ts=ts)


def _said(store: Store, place: ThreadLocation) -> list[Record]:
    """Return every message of a thread as the rules saw it, each once."""
    found = {}
    for record in store.journal(CLASSIFIED).records(containing=place.ts):
        if record.get("chat_id") == place.chat_id and place.ts in (record.get("message_id"), record.get("thread_id")):
            found[record.get("message_id"), record.get("msg_type")] = record
    return list(found.values())


def _state(store: Store, asked: str, place: ThreadLocation, said: list[Record]) -> ThreadState | None:
    team = next((record.get("team_id") for record in said), None)
    for name in (asked, f"{team}.{place.chat_id}.{place.ts}"):
        try:
            return find_thread(store, name)
        except InputError:
            continue
    return None
