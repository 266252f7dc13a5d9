"""`triage metrics`: what is promised, measured from the journals; works beside a running bot and without one.

`--autonomy` is in bot/cli/reports/autonomy.py, `--sample` and `--marks` in bot/cli/reports/samples.py.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import click

from bot.casework.reports.answers import metrics_answer
from bot.casework.reports.journal_history import PastThreads
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import DAYS, MetricsReport, read_metrics
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import reading, settings_at
from bot.config.home import find_config, process_home
from bot.domain.answers import Answer
from bot.errors import ConfigError

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
def command(
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
        from bot.cli.reports.autonomy import case_at  # here: who asks for figures needs no triage.yml

        return scope.answer_each(lambda of_team: case_at(scope, of_team, now), as_json=as_json)
    if not (marks or sample):

        def report(of_team: Path) -> Answer:
            return metrics_answer(_report(of_team, Window.last(days, now), _baseline(scope.config, of_team)))

        return scope.answer_each(report, as_json=as_json)
    from bot.cli.reports.samples import record_marks, sample_at, show_sample  # here: for these two options alone

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
