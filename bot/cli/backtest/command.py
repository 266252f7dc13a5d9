"""`triage backtest`: what the bot would have done on a past channel, and how often it would have been right.

Reads a Slack export, an events.ndjson or a data directory. Nothing is posted, no Slack is needed, and without
`--model` no model is asked. Each result is written to a journal at once, and a second run goes on from there.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import click
from pydantic import ValidationError

from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.backtest.past_threads import OwnRecord, PastQuestion, hear, likely_bot_id, own_history, questions_in
from bot.casework.backtest.results import Backtest, PastDraft, marks_of
from bot.cli.arguments import Scope, scoped
from bot.cli.backtest.page import write_page
from bot.cli.backtest.table import render
from bot.cli.backtest.worker import Plan, Task, investigate_all
from bot.cli.data_directory import store_at
from bot.cli.options import FILE, json_option
from bot.cli.output import to_json
from bot.cli.reports.samples import marks_in
from bot.composition.investigators import InvestigationInputs
from bot.composition.model_access import uses_models
from bot.config.settings import Settings
from bot.domain.events import Event, record_key
from bot.errors import ConfigError, InputError
from bot.intake.classifier.rules import Rules
from bot.intake.slack_export import SlackExport
from bot.ports import Journal
from bot.ports.collections import CLASSIFIED

OFFLINE: Final = "search and code checks, no model"


class _Source(NamedTuple):
    """Past messages, how many could not be read, who the bot was, names of people, and the data directory it is."""

    events: Sequence[Event]
    unreadable: int
    bot_id: str | None = None
    names: Mapping[str, str] = {}
    home: Path | None = None


@click.command("backtest", help="What the bot would have answered on a past channel. Posts nothing.")
@click.argument("file", type=FILE, help="a Slack export (zip or folder), an events.ndjson or a data directory")
@click.option("--codebase", type=FILE, metavar="DIR", help="a git checkout (default: those of triage.yml)")
@click.option("--limit", type=click.IntRange(1, 100_000), metavar="N", help="the newest N questions")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="questions from this day on (UTC)")
@click.option("--model", metavar="M", help="draft and check with this model; costs money")
@click.option(
    "--max-usd", type=click.FloatRange(0, min_open=True), metavar="X", help="with --model: all of it together"
)
@click.option("--html", type=FILE, metavar="OUT", help="write a page; the journal lies beside it")
@click.option("--marks", metavar="FILE", help="marks that the page saved, to be counted")
@json_option
@scoped
def command(
    scope: Scope,
    file: Path,
    codebase: Path | None,
    limit: int | None,
    since: datetime | None,
    model: str | None,
    max_usd: float | None,
    html: Path | None,
    marks: str | None,
    as_json: bool,
) -> int:
    """Print what would have been heard, drafted and right; exit code 0.

    Raises:
        ConfigError: the config or the codebase cannot be used, or there is no model to ask.
        InputError: the file cannot be read.
        StoreError: the journal cannot be written.
    """
    plan = Plan(scope=scope, codebase=codebase, model=model, max_usd=max_usd)
    sources = _usable(plan)
    past = _read(file, sources.settings)
    rules = _rules(sources.settings, past.bot_id)
    heard = hear(past.events, rules)
    questions = questions_in(heard, since=since and since.replace(tzinfo=UTC))[-limit if limit else 0 :]
    own = own_history(store_at(past.home), {one.thread_id for one in questions}) if past.home else {}
    heads = [one.repo.head() for one in sources.code.codebases]
    tasks = [Task(_key(one, own, heads, plan), one, own.get(one.thread_id)) for one in questions]
    kept = html or sources.environment.home / "backtest" / file.resolve().name
    done = Backtest(
        title=file.name,
        investigator=model or OFFLINE,
        unreadable=past.unreadable,
        heard=heard,
        drafts=list(_drafts(plan, tasks, NdjsonJournal(kept.with_suffix(".backtest.ndjson")))),
        own=own,
        marks=marks_of(heard, marks_in(marks) if marks else ()),
    )
    if html:
        write_page(html, done, past.names, rules.version)
    print(to_json(done.as_json()) if as_json else render(done, html))
    return 0


def _usable(plan: Plan) -> InvestigationInputs:
    """Return codebases and settings; raises ConfigError where a model is asked that cannot be."""
    if (plan.model is None) != (plan.max_usd is None):
        raise ConfigError("--model and --max-usd go together: name the model, and what all of it may cost")
    sources = plan.sources()
    if plan.model and not uses_models(sources.settings, sources.environment):
        raise ConfigError("no model is configured; set ANTHROPIC_API_KEY, or leave out --model")
    return sources


def _rules(settings: Settings, bot_id: str | None) -> Rules:
    given = settings.classifier.model_dump()
    return Rules(**{**given, "bot_id": given["bot_id"] or bot_id})


def _read(path: Path, settings: Settings) -> _Source:
    """Return what a file holds, whose form its name and content say; raises InputError where there is no message."""
    if path.is_dir() and not (path / "channels.json").is_file():
        found = _events_of(store_at(path).journal(CLASSIFIED))._replace(home=path)
    elif path.is_dir() or path.suffix == ".zip":
        export = SlackExport(path, bot_id=settings.classifier.bot_id, watcher=settings.watcher)
        found = _Source(export.events(), export.bad, names=export.names())
    else:
        found = _events_of(NdjsonJournal(path))
    if not found.events:
        raise InputError(f"there is no message in {path}; give a Slack export, an events.ndjson or a data directory")
    return found


def _events_of(journal: Journal) -> _Source:
    """Return the messages of a journal, each once and in the order of their times."""
    records, found, bad = list(journal.records()), dict[object, Event](), 0
    for record in records:
        try:
            found.setdefault(record_key(record)[:4], Event.model_validate(record))
        except ValidationError:
            bad += 1
    events = sorted(found.values(), key=lambda one: one.create_time)
    return _Source(events, bad + journal.bad_lines, likely_bot_id(records))


def _key(question: PastQuestion, own: Mapping[str, OwnRecord], heads: Sequence[str], plan: Plan) -> str:
    """Return what tells whether an earlier result is still one: question, answers, code and investigator."""
    said = [one.content for one in (*question.earlier, question.event, *question.answers)]
    whole = repr([question.thread_id, said, own.get(question.thread_id), heads, plan.model])
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()


def _drafts(plan: Plan, tasks: Sequence[Task], kept: Journal) -> Iterator[PastDraft]:
    """Yield the result of each task, those of an earlier run first; ends where the money is spent."""
    known = {one.key: one for one in map(PastDraft.read, kept.records()) if one is not None}
    rest = [one for one in tasks if one.key not in known]
    if len(rest) < len(tasks):
        _tell(f"going on: {len(tasks) - len(rest)} of {len(tasks)} questions are done")
    before = [known[one.key] for one in tasks if one.key in known]
    yield from before
    spent = sum(one.cost_usd or 0.0 for one in before)
    left = plan.max_usd and max(plan.max_usd - spent, 0.0)
    if not rest or left == 0.0:
        return
    for number, row in enumerate(investigate_all(replace(plan, max_usd=left), rest), 1):
        _tell(f"\r{number} of {len(rest)} questions … ", end="" if number < len(rest) else "\n")
        if row.is_spent:
            _tell(f"\nstopped: {row.problem}; the same command with a higher --max-usd goes on")
            return
        if not row.problem:
            kept.append(row.model_dump(mode="json"))
        yield row


def _tell(line: str, end: str = "\n") -> None:
    print(line, file=sys.stderr, flush=True, end=end)
