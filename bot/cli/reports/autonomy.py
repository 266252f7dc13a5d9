"""`triage metrics --autonomy`: the case for or against replies without a human; needs no running bot."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bot.adapters.process.clocks import local_zone
from bot.casework.reports.autonomy_metrics import AutonomyCase, next_words, read_case, standing_words, weeks_words
from bot.casework.reports.journal_history import PastThreads
from bot.cli.arguments import Scope
from bot.cli.data_directory import environment_at, reading
from bot.cli.output import MARKS, to_json, wrapped
from bot.config.settings import Settings
from bot.domain.hours import ActiveHours
from bot.domain.questions.autonomy_record import AutonomyMode
from bot.domain.text.humanize import utc_text
from bot.domain.text.sanitize import one_line


def print_case(scope: Scope, *, as_json: bool) -> int:
    """Print the case of each team; exit code 0.

    Raises:
        ConfigError: triage.yml or the data directory cannot be read.
        InputError: there is no such team.
    """
    variables = environment_at(scope.home).variables

    def report(of_team: Path) -> str:
        settings = scope.settings(of_team)
        mode, hours = AutonomyMode(settings.autonomy), _hours(settings, variables)
        with reading(of_team) as store:
            case = read_case(store, PastThreads(store), datetime.now(UTC), mode, hours)
        return case_json(case) if as_json else "\n".join(render(case))

    return scope.print_each(report, as_json=as_json)


def _hours(settings: Settings, variables: dict[str, str]) -> ActiveHours | None:
    wanted = settings.working_hours
    if wanted is None:
        return None
    return wanted.in_zone(local_zone(variables) if wanted.timezone == "local" else wanted.timezone)


def case_json(case: AutonomyCase) -> str:
    """Return the case as one JSON object."""
    facts = {
        "mode": case.mode,
        "armed_by": case.standing.armed_by,
        "armed_at": case.standing.armed_at,
        "disarmed_for": [one.said for one in case.standing.disarmed_for],
        "allowed": case.is_allowed,
        "weeks": [{**week._asdict(), "rate": week.rate} for week in case.weeks],
        "conditions": [one.model_dump() for one in case.conditions],
        "types": [one._asdict() for one in case.types],
        "false_positives": [one._asdict() for one in case.false],
        "sent": [one.model_dump(mode="json") for one in case.sent],
    }
    return to_json(facts)


def render(case: AutonomyCase) -> Iterator[str]:
    """Yield the lines of the case."""
    yield f"Automatic replies: {standing_words(case)}"
    yield ""
    yield from (wrapped(f"{one.question_type}: {one.words()}", indent="  ") for one in case.types)
    yield from map(wrapped, weeks_words(case).splitlines())
    yield ""
    yield from (wrapped(f"{MARKS[one.holds]} {one.said}", indent="  ") for one in case.conditions)
    for one in case.false:
        why = f" ({one.reason})" if one.reason else ""
        yield from (
            "",
            wrapped(f"{one.how}: {one_line(one.question, 70)}{why}"),
            f"  {one.permalink or one.thread_id}",
        )
    for sent in case.sent[:10]:
        back = f", taken back by <@{sent.taken_back_by}>" if sent.taken_back_by else ""
        yield from ("", wrapped(f"sent {utc_text(sent.at)}{back}: {one_line(sent.question, 60)}"))
    yield ""
    yield wrapped(next_words(case))
