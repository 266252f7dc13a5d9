"""`triage replay`: today's rules over past events, and drafts of what would have been asked. Nothing is posted.

No Slack client is built and no model is called, whatever keys there are: drafts (`--shadow`) are the offline
investigator's. Each leaves its record under runs/, as `triage investigate` does.
"""

from __future__ import annotations

import dataclasses
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click
from pydantic import ValidationError

from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.evaluation.question_run import QuestionRun
from bot.casework.reports.acceptance import ACTIONABLE_AT_MOST
from bot.casework.reports.measures import percent
from bot.cli.data_directory import environment_at
from bot.cli.investigate.local_investigation import investigate_locally, open_sources, without_model
from bot.cli.options import FILE, config_option
from bot.cli.output import WIDTH
from bot.config.environment import Environment
from bot.config.home import find_config
from bot.config.settings import Settings, load_settings
from bot.domain.events import Event
from bot.domain.questions.approval_basis import SEARCH_RESULT
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.errors import ConfigError, InputError, TriageError
from bot.intake.classifier.rules import Rules
from bot.intake.rule_replay import ReplayedEvent, ReplayReport, likely_bot_id, replay_events, replay_thresholds
from bot.intake.slack_export import SlackExport

DRAFT_LINES: Final = 4
DRAFT_CHARS: Final = 2_000
REFS: Final = 3

MAX_DRAFTS: Final = 100


def draft_past_questions(questions: Sequence[Event], settings: Settings, environment: Environment) -> list[str]:
    """Return a draft for each question; one that fails says why and stops no other.

    Raises:
        ConfigError: the codebase is no git checkout.
    """
    sources = without_model(open_sources(settings, environment))
    drafts = []
    for number, event in enumerate(questions, 1):
        print(f"drafting {number} of {len(questions)} …", file=sys.stderr)
        try:
            found = investigate_locally(event.content, sources, say=lambda _: None)
        except TriageError as error:
            drafts.append(f"{_head(event)}\n  failed: {one_line(str(error), WIDTH - 10)}")
            continue
        drafts.append(_shown(event, found))
    return drafts


def _shown(event: Event, found: QuestionRun) -> str:
    ret = found.found.ret
    mark = f"would be shown as: {SEARCH_RESULT}" if found.validation.passed else "✗ would be shown with objections"
    words = one_line(ret.draft_reply, DRAFT_CHARS)
    said = textwrap.wrap(words, WIDTH - 4, max_lines=DRAFT_LINES, placeholder=" …")
    refs = [one_line(ref.ref, WIDTH - 4) for ref in ret.evidence_refs[:REFS]]
    return "\n".join([_head(event), f"  {mark}", *(f"    {line}" for line in (*said, *refs))])


def _head(event: Event) -> str:
    return f"\n{event.chat_name or event.chat_id} {event.message_id} {one_line(event.content, 46)}"


@click.command("replay", help="Apply today's rules to past events; nothing is posted.")
@click.argument(
    "events",
    type=FILE,
    required=False,
    help="an events.ndjson (or -classified), a data directory or a Slack export (default: TRIAGE_HOME)",
)
@click.option(
    "--shadow",
    type=click.IntRange(1, MAX_DRAFTS),
    metavar="N",
    help=f"draft the first N questions, at most {MAX_DRAFTS}, offline",
)
@click.option("--bot-id", metavar="U…", help="the bot's user id (default: classifier.bot_id, else as recorded)")
@config_option
def command(events: Path | None, shadow: int | None, bot_id: str | None, config: Path | None) -> int:
    """Print what would be actionable, what changed, and drafts; exit code 0.

    Raises:
        ConfigError: drafts are wanted, or a config is given, and it cannot be used.
        InputError: the events cannot be read.
    """
    environment = environment_at(None)
    settings = _settings(config, environment.home, is_needed=bool(config or shadow))
    if events is None and not (environment.home / "events-classified.ndjson").is_file():
        raise InputError(f"no message was recorded in {environment.home} yet; name an events.ndjson or a Slack export")
    heard, bad = _heard(events or environment.home, bot_id)
    bot_id = bot_id or (settings.classifier.bot_id if settings else None) or likely_bot_id(heard)
    rules = Rules(**settings.classifier.model_dump()) if settings else Rules()
    allowed = settings.watcher.allow_bots if settings else ()
    rules = dataclasses.replace(rules, bot_id=bot_id)
    done = replay_events(heard, rules, allow_bots=allowed)
    others = replay_thresholds(heard, rules, allow_bots=allowed)
    drafts = []
    if settings and shadow:
        drafts = draft_past_questions(done.questions[:shadow], settings, environment)
    print("\n".join([render(done, rules, bad), *_threshold_lines(others, rules), *drafts]))
    return 0


def _settings(config: Path | None, home: Path, *, is_needed: bool) -> Settings | None:
    """Return the settings; rules alone can do without, unless a file was named or drafts are wanted."""
    try:
        path = find_config(config, home)
    except ConfigError:
        if is_needed:
            raise
        return None
    return load_settings(path)


def _heard(path: Path, bot_id: str | None) -> tuple[list[ReplayedEvent], int]:
    """Return past events and how many lines were none."""
    if (path / "events-classified.ndjson").is_file():  # a data directory
        path /= "events-classified.ndjson"
    if path.is_dir():
        export = SlackExport(path, bot_id=bot_id)
        return [ReplayedEvent(event=event) for event in export.events()], export.bad
    beside = path.with_name("events-classified.ndjson")
    journal = NdjsonJournal(beside if path.name == "events.ndjson" and beside.is_file() else path)
    heard, bad = [], 0
    for record in journal.records():
        try:
            event = Event.model_validate(record)
        except ValidationError:
            bad += 1
            continue
        heard.append(ReplayedEvent(event=event, recorded=record))
    if not heard and not path.is_file():
        raise InputError(f"there is no {path}; give an events.ndjson or the folder of a Slack export")
    return heard, bad + journal.bad_lines


def render(done: ReplayReport, rules: Rules, bad: int) -> str:
    """Return the comparison, 80 columns wide."""
    today, share = done.today, done.actionable_share
    lines = [
        f"{counted(done.total, 'event')}, {done.ignored:,} from bots or edits ignored, {bad:,} unreadable;"
        f" rules {rules.version}",
        f"  {today['actionable']:,} actionable ({percent(share)}; target at most {percent(ACTIONABLE_AT_MOST)}),"
        f" {today['ack']:,} ack, {today['ambient']:,} ambient",
        f"  {counted(len(done.questions), 'question')} would open a thread",
        "",
    ]
    if not done.compared:
        return "\n".join([*lines, "no recorded classification to compare with"])
    versions = ", ".join(sorted(done.versions))
    lines.append(
        f"{done.counts.total():,} of {done.compared:,} would be classified differently than recorded (rules {versions})"
    )
    for (before, now), count in done.counts.most_common():
        lines.append(f"  {before} → {now}: {count:,}")
        lines += [
            f"    {event.chat_name or event.chat_id} {event.message_id} {one_line(event.content, 42)}"
            for event in done.changes[before, now]
        ]
    return "\n".join(lines)


def _threshold_lines(others: Mapping[float, ReplayReport], rules: Rules) -> list[str]:
    """Return what each threshold would have woken, the one in use marked."""
    if not others or rules.threshold is None:
        return []
    lines = ["", "What classifier.threshold would have done:"]
    for threshold, done in others.items():
        used = "  (in use)" if threshold == rules.threshold else ""
        questions = counted(len(done.questions), "question")
        lines.append(
            f"  {threshold:.2f}: {done.today['actionable']:,} actionable ({percent(done.actionable_share)}),"
            f" {questions}{used}"
        )
    return lines
