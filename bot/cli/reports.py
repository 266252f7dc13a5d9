"""`triage metrics`, `open`, `approve-list` and `brief`: how things stand, and what is promised, measured.

They work beside a running bot and without one. Of `triage metrics`, `--autonomy` says what would have been sent without
a human, by the type of question; `--sample` prints messages to judge, and `--marks` records what somebody marked.
"""

from __future__ import annotations

import getpass
import json
import sys
import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import click

from bot.adapters.clocks import local_zone
from bot.casework.reports.answers import approvers_answer, metrics_answer, open_answer, status_answer
from bot.casework.reports.answers_autonomy import autonomy_answer
from bot.casework.reports.answers_brief import brief_answer
from bot.casework.reports.autonomy_metrics import read_case
from bot.casework.reports.classifier_samples import Judgement, Sample, draw_sample, read_marks
from bot.casework.reports.daily_brief import WINDOW, build_brief
from bot.casework.reports.journal_history import PastThreads
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import DAYS, MetricsReport, read_metrics
from bot.casework.reports.status_overview import overview
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import codebases_at, environment_at, names_at, reading, replicas_at, settings_at, store_at
from bot.cli.options import json_option
from bot.cli.output import WIDTH
from bot.config.home import find_config, process_home
from bot.domain.answers import Answer
from bot.domain.questions.autonomy_record import AutonomyMode
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import strip_hidden
from bot.errors import ConfigError, InputError
from bot.intake.presence import connection_state, read_presence
from bot.ports.collections import CLASSIFIED, JUDGEMENTS

_COUNT: Final = click.IntRange(1, 520)


@click.command("metrics", help="The measured value of each target.")
@click.option(
    "--days", type=click.IntRange(1, 3_660), metavar="DAYS", default=DAYS, help=f"how far back (default {DAYS})"
)
@click.option("--json", "as_json", is_flag=True, help="one JSON object; with --sample one line for each message")
@click.option(
    "--sample", type=_COUNT, metavar="N", help="messages to judge: half that were ignored, half that were not"
)
@click.option("--seed", metavar="TEXT", help="seed of the random choice (default: the date)")
@click.option("--marks", metavar="FILE", help="record what the page of a backtest saved, or --sample filled in")
@click.option("--autonomy", is_flag=True, help="what would have been sent without a human, and was it right")
@scoped
def metrics_command(
    scope: Scope,
    days: int,
    as_json: bool,
    sample: int | None,
    seed: str | None,
    marks: str | None,
    autonomy: bool,
) -> int:
    """Print the report, the case for automatic replies or a sample, or record marks; exit code 0.

    Raises:
        ConfigError: the data directory cannot be read, or for `--autonomy` triage.yml.
        InputError: a mark cannot be read.
        StoreError: a mark cannot be written.
    """
    now = datetime.now(UTC)
    if autonomy:
        return scope.answer_each(lambda of_team: case_at(scope, of_team, now), as_json=as_json)
    if not (marks or sample):

        def report(of_team: Path) -> Answer:
            return metrics_answer(_report(of_team, Window.last(days, now), _baseline(scope.config, of_team)))

        return scope.answer_each(report, as_json=as_json)

    home, seed, since = scope.one_team(), seed or f"{now:%Y-%m-%d}", now - timedelta(days=days)
    if marks:
        print(record_marks(home, marks))
    if sample:
        print(show_sample(home, sample_at(home, sample, seed=seed, since=since), as_json=as_json))
    return 0


def _report(home: Path, window: Window, baseline_reply_s: float | None) -> MetricsReport:
    with reading(home) as store:
        return read_metrics(store, PastThreads(store), window, baseline_reply_s=baseline_reply_s)


def _baseline(config: Path | None, home: Path) -> float | None:
    """Return what the config says a reply took before; a home without one can still be measured."""
    try:
        path = find_config(config, process_home(home))
    except ConfigError:
        if config is not None:
            raise
        return None
    return settings_at(path, home).baseline_reply_s


def case_at(scope: Scope, of_team: Path, now: datetime) -> Answer:
    """Return the case of a team; raises ConfigError where triage.yml or the data directory cannot be read."""
    settings, wanted = scope.settings(of_team), scope.settings(of_team).working_hours
    hours = None
    if wanted is not None:
        variables = environment_at(scope.home).variables
        hours = wanted.in_zone(local_zone(variables) if wanted.timezone == "local" else wanted.timezone)
    with reading(of_team) as store:
        case = read_case(store, PastThreads(store), now, AutonomyMode(settings.autonomy), hours)
    return autonomy_answer(case, may_see_drafts=True)


NEXT: Final = (
    "To judge them: triage metrics --sample 20 --json > marks.ndjson, set `right`,\n"
    "then triage metrics --marks marks.ndjson"
)


def show_sample(home: Path, found: Sequence[Sample], *, as_json: bool) -> str:
    """Return messages to judge, for people or a line of JSON for each."""
    return _sample_lines(found) if as_json else names_at(home).text(render_sample(found))


def sample_at(home: Path, count: int, *, seed: str, since: datetime) -> list[Sample]:
    """Return messages of a data directory that nobody has judged."""
    store = store_at(home)
    known = {found.place for record in store.journal(JUDGEMENTS).records() if (found := Judgement.read(record))}
    return draw_sample(store.journal(CLASSIFIED).records(), count, seed=seed, since=since, but=known)


def render_sample(found: Sequence[Sample]) -> str:
    """Return the messages for people to read."""
    if not found:
        return "Nothing left to judge: no message was recorded, or all are judged."
    lines = [line for number, each in enumerate(found, 1) for line in (*_shown(each, number), "")]
    return "\n".join([*lines, NEXT])


def record_marks(home: Path, path: str) -> str:
    """Record the marks of a file, `-` for stdin, in the data directory, and say so.

    Raises:
        InputError: it cannot be read.
        StoreError: a mark cannot be written.
    """
    marks = marks_in(path)
    log = store_at(home, is_reader=False).journal(JUDGEMENTS)
    for each in marks:
        log.append(each.model_dump(mode="json"))
    wrong = sum(not each.right for each in marks)
    return f"{counted(len(marks), 'mark')} recorded, {wrong} of them wrong. Next: triage metrics"


def marks_in(path: str) -> list[Judgement]:
    """Return the marks of a file, `-` for stdin; raises InputError."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}; give the file of marks that the page of a backtest saved") from error
    return read_marks(text, at=datetime.now(UTC).isoformat(), by=getpass.getuser())


def _shown(each: Sample, number: int) -> list[str]:
    """Return a message that nothing in it can turn into a terminal's command."""
    text = " ".join(strip_hidden(each.content)[0].split()) or "(no text)"
    said = textwrap.wrap(textwrap.shorten(text, 400, placeholder=" …"), WIDTH - 4) or ["(no text)"]
    return [
        f"{number:>2}. {each.classification}, <#{each.chat_id}> {each.message_id}",
        *(f"    {line}" for line in said),
    ]


def _sample_lines(found: Iterable[Sample]) -> str:
    return "\n".join(json.dumps({**each._asdict(), "right": None}) for each in found)


def print_status(scope: Scope, *, as_json: bool) -> int:
    """Print counts and open threads; exit code 0.

    Raises:
        ConfigError: TRIAGE_HOME leads nowhere, or the data directory cannot be read.
    """
    now = datetime.now(UTC)

    def report(of_team: Path) -> Answer:
        with reading(of_team) as store:
            seen = overview(store, now, codebases_at(of_team, scope.config), replicas=replicas_at(of_team))
            facts = {"home": str(of_team), "connection": connection_state(read_presence(store.machine), now)}
            return status_answer(seen, now, may_see_drafts=True, facts=facts)

    return scope.answer_each(report, as_json=as_json)


@click.command("open")
@json_option
@scoped
def open_command(scope: Scope, as_json: bool) -> int:
    """Print a line for each draft that waits; raises ConfigError where the data directory cannot be read."""
    now = datetime.now(UTC)

    def report(of_team: Path) -> Answer:
        with reading(of_team) as store:
            return open_answer(overview(store, now), now, may_see_drafts=True)

    return scope.answer_each(report, as_json=as_json)


@click.command("approve-list")
@json_option
@scoped
def approve_list_command(scope: Scope, as_json: bool) -> int:
    """Print who is named as an approver; who is in a group or a channel only Slack can say."""
    from bot.casework.approvers import ApproverList  # here: the other commands of this module need no chat

    def report(of_team: Path) -> Answer:
        settings = scope.settings(of_team)
        people = frozenset(one for one in settings.approvers or () if one[:1] in "UW")
        listed = tuple(settings.approvers) if settings.approvers is not None else None
        return approvers_answer(ApproverList(people=people, configured=listed, ops_channel=settings.ops_channel))

    return scope.answer_each(report, as_json=as_json)


@click.command("brief")
@scoped
def brief_command(scope: Scope) -> int:
    """Print the brief; raises ConfigError where the data directory cannot be read."""
    now = datetime.now(UTC)

    def report(of_team: Path) -> Answer:
        with reading(of_team) as store:
            return brief_answer(build_brief(store, now - WINDOW, now), "Brief", may_see_drafts=True)

    return scope.answer_each(report)
