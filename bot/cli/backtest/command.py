"""`triage backtest`: what the bot would have done on a past channel, and how often it would have been right.

Reads a Slack export, an events.ndjson or a data directory. Nothing is posted, no Slack is needed, and without
`--model` no model is asked. Each result is written to a journal at once, and a second run goes on from there.

The result of a backtest as one HTML file that loads nothing: figures, the best and the worst, every message to mark.

All words of other people are data that the page's script shows as text; no other script runs in it.

The result of a backtest for a terminal, at most 80 columns wide.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from pydantic import ValidationError

from bot.adapters.storage.files.atomic_write import open_private
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.known_answers import Backtest, PastDraft, Share, Standing, marks_of
from bot.casework.past_threads import (
    HeardMessage,
    OwnRecord,
    PastQuestion,
    hear,
    likely_bot_id,
    own_history,
    questions_in,
)
from bot.casework.reports.measures import dollars, middle, percent, seconds
from bot.cli.arguments import Scope, scoped
from bot.cli.backtest.worker import Plan, Task, investigate_all
from bot.cli.data_directory import store_at
from bot.cli.options import FILE, json_option
from bot.cli.output import cut, to_json, wrapped
from bot.cli.reports import marks_in
from bot.composition.investigators import InvestigationInputs, uses_models
from bot.config.settings import Settings
from bot.domain.events import Event, record_key
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.errors import ConfigError, InputError, refused
from bot.intake.classifier.classification import Rules
from bot.intake.event_stream import SlackExport
from bot.ports import Journal
from bot.ports.collections import CLASSIFIED

TEXT_CHARS: Final = 1_500
_FILES: Final = Path(__file__).parent


def write_page(path: Path, done: Backtest, names: Mapping[str, str], rules_version: str) -> None:
    """Write the page, for its owner alone; raises StoreError where the disk refuses."""
    whole = page(done, names, rules_version).encode("utf-8", "replace")
    with (
        refused(f"cannot write {path}", "name a file in a folder that you may write to"),
        open_private(path, "wb") as file,
    ):
        file.write(whole)


def page(done: Backtest, names: Mapping[str, str], rules_version: str) -> str:
    """Return the page; `names` are those of people, by id."""
    script = (_FILES / "page.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = json.dumps(_data(done, names, rules_version), ensure_ascii=False, default=str).replace("<", "\\u003c")
    html = (_FILES / "page.html").read_text("utf-8")
    return html.replace("{{hash}}", digest).replace("{{script}}", script).replace("{{data}}", data)


def _data(done: Backtest, names: Mapping[str, str], rules_version: str) -> dict[str, Any]:
    drafts = {one.message_id: _draft(one) for one in done.drafts}
    marks = {f"{one.chat_id} {one.message_id}": one.right for one in done.marks}
    return {
        **{key: value for key, value in done.as_json().items() if key != "drafts"},
        "rules": rules_version,
        "names": names,
        "best": [one.message_id for one in done.best()],
        "worst": [one.message_id for one in done.worst()],
        "drafts": drafts,
        "marks": marks,
        "heard": [_message(one) for one in done.heard],
    }


def _message(one: HeardMessage) -> dict[str, Any]:
    event = one.event
    return {
        "chat": event.chat_id,
        "channel": event.chat_name or event.chat_id,
        "id": event.message_id,
        "at": f"{event.create_time:%Y-%m-%d %H:%M}",
        "who": event.sender.id,
        "text": _shown(event.content),
        "class": one.classification,
        "rule": one.rule,
        "asks": one.is_question,
        "thread": event.thread_id or event.message_id,
    }


def _draft(one: PastDraft) -> dict[str, Any]:
    return {**one.model_dump(mode="json", exclude={"key", "thread_id"}), "draft": _shown(one.draft)}


def _shown(text: str) -> str:
    return strip_hidden(text)[0][:TEXT_CHARS]


NAMED: Final = 3
"""So many of the best and the worst; the page has ten."""

_WHAT: Final = {
    "drafted": "questions with a draft",
    "passed": "drafts that passed all checks",
    "right": "right, of drafts whose answer is known",
    "found": "right, of questions whose answer is known",
    "wrongly_ignored": "marked: wrongly left alone",
    "wrongly_heard": "marked: wrongly taken for work",
}
_DECISIONS: Final = ("approved", "edited", "auto", "dismissed")


def render(done: Backtest, html: Path | None) -> str:
    """Return the table."""
    classes, standings = done.classes, done.standings
    bad = f", {done.unreadable:,} unreadable" if done.unreadable else ""
    heard = ", ".join(f"{classes[name]:,} {name}" for name in ("actionable", "ack", "ambient"))
    lines = [
        wrapped(f"{done.title}: {counted(len(done.heard), 'message')}{bad}; {heard}"),
        wrapped(f"{counted(len(done.drafts), 'question')} investigated at their time: {done.investigator}"),
        "",
        *(_figure(_WHAT[name], share) for name, share in done.shares.items() if share.of),
        f"  {'not known whether right':<42}{standings[Standing.UNKNOWN]:>6,}",
        *_own(done),
        f"  {'cost of all':<42}{dollars(done.cost_usd):>6}",
        f"  {'time of a question, the median':<42}{seconds(middle(one.seconds for one in done.drafts)):>6}",
    ]
    failed = [one for one in done.drafts if one.problem]
    lines += [wrapped(f"{counted(len(failed), 'question')} failed: {failed[0].problem}", lead="  ! ")] if failed else []
    lines += [*_list("Best", done.best(), done), *_list("Worst", done.worst(), done)]
    lines += ["", f"Page: {html}" if html else "Next: the same with --html OUT.html, to read and mark every message"]
    return "\n".join(lines)


def _figure(what: str, share: Share) -> str:
    low, high = share.interval
    said = f"{share.hits:>6,} of {share.of:,}  {percent(share.hits / share.of)} ({percent(low)} to {percent(high)})"
    return f"  {what:<42}{said}"


def _own(done: Backtest) -> Iterator[str]:
    """Yield what people made of the bot's own drafts of then."""
    counts = done.own_counts()
    yield from (f"  {f'its own drafts: {name}':<42}{counts[name]:>6,}" for name in _DECISIONS if name in counts)
    if counts["edited_share"] is not None:
        yield f"  {'words changed by an edit, the median':<42}{percent(counts['edited_share']):>6}"
    yield from (cut(f"    {count:,} × {one_line(why, 80)}") for why, count in counts["dismissed_because"].items())


def _list(title: str, drafts: Sequence[PastDraft], done: Backtest) -> Iterator[str]:
    asked = {one.event.message_id: one.question.content for one in done.heard if one.question}
    yield from ["", title] if drafts else []
    for one in drafts[:NAMED]:
        yield cut(f"  - {one_line(asked.get(one.message_id, one.thread_id), 80)}")
        cites = ", ".join(cite.ref for cite in one.cites[:2]) or "no draft"
        yield cut(f"    {cites}; known: {one.known[0][0]} ({one.known[0][1]})")


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
