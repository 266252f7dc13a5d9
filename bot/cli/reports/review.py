"""`triage review`: the week, and what to do about it; works beside a running bot and without one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from bot.casework.reports.classifier_samples import error_words
from bot.casework.reports.rollups import Rollups
from bot.casework.reports.weekly_review import WeeklyReview, build_review
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import reading, settings_at
from bot.cli.options import json_option
from bot.cli.output import to_json, wrapped
from bot.errors import ConfigError


@click.command("review", help="The last 7 days: what went wrong, where, and what to do about it.")
@json_option
@scoped
def command(scope: Scope, as_json: bool) -> int:
    """Print the review; exit code 0.

    Raises:
        ConfigError: the data directory, or a triage.yml that was named, cannot be read.
        InputError: there is no such team.
    """

    def report(of_team: Path) -> str:
        with reading(of_team) as store:
            codebases = _codebases(scope.config, of_team)
            review = build_review(store, Rollups(store, saves=False), datetime.now(UTC), codebases)
        return review_json(review) if as_json else "\n".join(render(review))

    return scope.print_each(report, as_json=as_json)


def _codebases(config: Path | None, home: Path) -> list[str]:
    """Return the codebases that the config gives a team; a home without one can still be reviewed."""
    try:
        return list(settings_at(config, home).all_codebases)
    except ConfigError:
        if config is not None:
            raise
        return []


def review_json(review: WeeklyReview) -> str:
    """Return the review as one JSON object."""
    facts: dict[str, Any] = {
        "since": review.window.start,
        "until": review.window.end,
        "counts": asdict(review.tally),
        "parts": [asdict(part) for part in review.parts],
        "misclassified": [{"ignored": one[0]._asdict(), "taken": one[1]._asdict()} for one in review.errors],
        "unread": review.unread,
        "uncounted": review.uncounted,
    }
    return to_json(facts)


def render(review: WeeklyReview) -> Iterator[str]:
    """Yield the lines of the review: the week in a sentence, then each part with its links and what to do."""
    yield f"The week to {review.window.end:%Y-%m-%d %H:%M} UTC"
    yield wrapped(review.summary, lead="  ")
    for part in review.parts:
        yield from ("", wrapped(f"{part.title}: {part.count:,}"), wrapped(f"→ {part.todo}", lead="  "))
        for line in part.lines:
            yield wrapped(f"- {line.text}", lead="  ", indent="    ")
            yield f"    {line.link}"
        if part.count > len(part.lines):
            yield f"  … and {part.count - len(part.lines):,} more"
    if not review.parts:
        yield from ("", "Nothing to do.")
    yield from ("", "Misclassified messages, week by week, the latest first [AC-11]:")
    yield from (wrapped(f"- {error_words(week)}", lead="  ", indent="    ") for week in review.errors)
    if review.unread:
        yield f"  ! {review.unread:,} closed threads were not read"
    if review.uncounted:
        yield wrapped(f"! {review.uncounted}", lead="  ")
    yield from ("", "Next: triage metrics --weeks, triage metrics --sample 20 --judge")
