"""`triage metrics`: what is promised, measured from the journals; works beside a running bot and without one.

`--sample` and `--judge` are in bot/cli/reports/judgements.py.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click

from bot.casework.reports.classifier_samples import error_words
from bot.casework.reports.journal_history import count_past
from bot.casework.reports.measures import Measure, Window, dollars, percent, seconds
from bot.casework.reports.metrics_report import MetricsReport, Tally, WeekFigures, build_metrics, tally_lines
from bot.casework.reports.rollups import Rollups
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import reading, settings_at, store_at
from bot.cli.output import MARKS, WIDTH, to_json, wrapped
from bot.cli.reports.judgements import ASK, COUNT, record_judgements, sample_at, show_sample
from bot.config.environment import process_home
from bot.config.settings import find_config
from bot.domain.text.humanize import counted
from bot.errors import ConfigError

_COUNT: Final = click.IntRange(1, 520)


@click.command("metrics", help="The measured value of each target.")
@click.option("--days", type=click.IntRange(1, 3_660), metavar="DAYS", default=7, help="how far back (default 7)")
@click.option("--weeks", type=_COUNT, metavar="N", is_flag=False, flag_value=8, help="a line for each week (default 8)")
@click.option("--json", "as_json", is_flag=True, help="one JSON object; with --sample one line for each message")
@click.option(
    "--sample", type=_COUNT, metavar="N", help="messages to judge: half that were ignored, half that were not"
)
@click.option("--seed", metavar="TEXT", help="seed of the random choice (default: the date)")
@click.option(
    "--judge", metavar="FILE", is_flag=False, flag_value=ASK, help="record judgements: asked here, or from FILE or -"
)
@click.option("--rebuild", is_flag=True, help="count everything anew, from the archive and the journals")
@scoped
def command(
    scope: Scope,
    days: int,
    weeks: int | None,
    as_json: bool,
    sample: int | None,
    seed: str | None,
    judge: str | None,
    rebuild: bool,
) -> int:
    """Print the report, or a sample, or record judgements; exit code 0.

    Raises:
        ConfigError: the data directory cannot be read.
        InputError: a judgement cannot be read.
        StoreError: a judgement cannot be written.
    """
    now = datetime.now(UTC)
    if not (rebuild or judge or sample):

        def report(of_team: Path) -> str:
            done = _report(of_team, Window.last(days, now), weeks or 0, _baseline(scope.config, of_team))
            return report_json(done) if as_json else render(done)

        return scope.print_each(report, as_json=as_json)
    home = scope.one_team()
    if rebuild:
        print(_rebuild(home))
    else:
        seed, since = seed or f"{now:%Y-%m-%d}", now - timedelta(days=days)
        found = sample_at(home, sample or COUNT, seed=seed, since=since) if judge in (None, ASK) else []
        print(show_sample(home, found, as_json=as_json) if judge is None else record_judgements(home, found, judge))
    return 0


def _report(home: Path, window: Window, weeks: int, baseline_reply_s: float | None) -> MetricsReport:
    since = min(window.start, window.end - timedelta(weeks=weeks))
    with reading(home) as store:
        past = count_past(store, Rollups(store, saves=False), since, datetime.now(UTC))
    return build_metrics(past, window, weeks=weeks, baseline_reply_s=baseline_reply_s)


def _rebuild(home: Path) -> str:
    """Count all closed threads anew and say how many there are; works beside a running bot."""
    rollups = Rollups(store_at(home, is_reader=False))
    rollups.rebuild()
    return f"counted anew: {rollups.threads_read:,} closed threads; days of journals follow when a report needs them"


def _baseline(config: Path | None, home: Path) -> float | None:
    """Return what the config says a reply took before; a home without one can still be measured."""
    try:
        path = find_config(config, process_home(home))
    except ConfigError:
        if config is not None:
            raise
        return None
    return settings_at(path, home).baseline_reply_s


def render(done: MetricsReport) -> str:
    """Return the report, one screen of at most 80 columns."""
    lines = [f"The last {counted(round(done.window.days), 'day')}, to {done.window.end:%Y-%m-%d %H:%M} UTC", ""]
    lines += [line for each in done.criteria for line in _criterion(each)]
    lines += ["", *(f"  {line}" for line in tally_lines(done.tally))]
    if done.weeks:
        lines += ["", *_weeks(done.weeks)]
    if done.uncounted:
        lines.append(f"  ! {done.uncounted}")
    if done.unreadable:
        lines.append(f"  ! {done.unreadable} thread files cannot be read and are not counted; see triage status")
    return "\n".join(lines)


def report_json(done: MetricsReport) -> str:
    """Return the report as one JSON object."""
    facts: dict[str, Any] = {
        "since": done.window.start.isoformat(),
        "until": done.window.end.isoformat(),
        "criteria": {each.name: asdict(each) for each in done.criteria},
        "counts": _facts(done.tally),
        "weeks": [_week_facts(one) for one in done.weeks],
        "unreadable": done.unreadable,
        "uncounted": done.uncounted,
    }
    return to_json(facts)


def _week_facts(week: WeekFigures) -> dict[str, Any]:
    ignored, taken = week.errors
    judged = {"ignored": ignored._asdict(), "taken": taken._asdict()}
    return {"until": week.window.end.isoformat(), **_facts(week.tally), "misclassified": judged}


def _facts(tally: Tally) -> dict[str, Any]:
    shares = {name: getattr(tally, name) for name in ("actionable_share", "first_pass_share", "cost_per_reply_usd")}
    return {**asdict(tally), **shares}


def _criterion(each: Measure) -> list[str]:
    lines = [f"{MARKS[each.ok]} {each.what:<29}{each.shown:>8}  target {each.target:<15} n {each.n:<6,} [{each.name}]"]
    said = [f"not enough data: {each.missing}"] * bool(each.missing) + [each.note] * bool(each.note)
    return lines + textwrap.wrap("; ".join(said), WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4)


def _weeks(weeks: Sequence[WeekFigures]) -> list[str]:
    head = f"{'week to':<11}{'messages':>9}{'action.':>8}{'drafts':>7}{'pass':>6}{'bounce':>7}{'long':>5}{'replies':>8}"
    lines = [f"{head}{'to reply':>10}{'cost':>9}"]
    for week, tally, _ in weeks:
        lines.append(
            f"{week.end:%Y-%m-%d} {tally.messages:>9,}{percent(tally.actionable_share):>8}{tally.first_rounds:>7}"
            f"{percent(tally.first_pass_share):>6}{tally.verdicts['bounce']:>7}{tally.long_runs:>5}{tally.replies:>8}"
            f"{seconds(tally.to_reply_s):>10}{dollars(tally.cost_usd):>9}"
        )
    lines += ["", "misclassified messages, by the week they were judged in [AC-11]:"]
    lines += [wrapped(f"{one.window.end:%Y-%m-%d} {error_words(one.errors)}", indent=" " * 11) for one in weeks]
    return lines
