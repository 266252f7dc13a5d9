"""`triage metrics`: what SPEC §8 promises, measured from the journals; works beside a running bot and without one.

`--sample` and `--judge` are the aid of AC-11, see bot/cli/metrics_samples.py; `--picture` is a week as a PNG, see
week_file.py.

`triage metrics --picture FILE`: the last seven days as a PNG, replaced as a whole.

An older picture of the same name makes way; anything else is left alone, for the name was a slip.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import replace_bytes
from bot.casework.reports.autonomy_metrics import LIMIT, WEEKS, AutonomyMetrics
from bot.casework.reports.journal_history import read_past
from bot.casework.reports.measures import Measure, Window, dollars, percent, seconds
from bot.casework.reports.metrics_report import MetricsReport, Tally, build_metrics
from bot.casework.reports.week_report import read_week
from bot.cli import metrics_samples
from bot.cli.output import CommandParser
from bot.config.environment import read_environment
from bot.config.settings import find_config, load_settings
from bot.errors import ConfigError, InputError

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


def write_week(home: Path, path: Path, now: datetime) -> str:
    """Write the picture and return a line that says where it is.

    Raises:
        ConfigError: the data directory cannot be read.
        InputError: something that is no picture stands there.
        StoreError: it cannot be written.
    """
    from bot.casework.reports.week_picture import draw_week  # 12 MB that only the picture needs

    _refuse_to_replace(path)
    week = read_week(home, now, UTC)
    replace_bytes(path, draw_week(week))
    return f"{path.absolute()}: the last 7 days, to {week.until}"


def _refuse_to_replace(path: Path) -> None:
    try:
        with path.open("rb") as file:
            is_picture = file.read(len(_SIGNATURE)) == _SIGNATURE
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{path} cannot be replaced: {error.strerror}; give another name") from error
    if not is_picture:
        raise InputError(f"{path} is no PNG and stays as it is; give another name, such as week.png")


WIDTH: Final = 80
MARKS: Final = {True: "✓", False: "✗", None: "?"}


def main(argv: list[str]) -> int:
    """Print the report, or a sample, or record judgements, or write a picture; exit code 0.

    Raises:
        ConfigError: the data directory cannot be read.
        InputError: a judgement cannot be read, or a picture would replace something else.
        StoreError: a judgement or a picture cannot be written.
    """
    args = _parse(argv)
    home = args.home or read_environment(dotenv=Path(".env")).home
    now = datetime.now(UTC)
    if args.picture:
        pass  # draws with a library that the report does without

        print(write_week(home, args.picture, now))
        return 0
    wants_report = args.sample is None and args.judge is None
    print(_report(home, args, now) if wants_report else metrics_samples.run_sampling(home, args, now))
    return 0


def _report(home: Path, args: argparse.Namespace, now: datetime) -> str:
    since = now - timedelta(days=max(args.days, 7 * WEEKS, 7 * args.weeks) + 1)
    window = Window.last(args.days, now)
    done = build_metrics(
        read_past(home, since), window, weeks=args.weeks, baseline_reply_s=_baseline(args.config, home)
    )
    return as_json(done) if args.json else render(done)


def _baseline(config: Path | None, home: Path) -> float | None:
    """Return what the config says a reply took before; a home without one can still be measured."""
    try:
        path = find_config(config, home)
    except ConfigError:
        if config is not None:
            raise
        return None
    return load_settings(path).baseline_reply_s


def render(done: MetricsReport) -> str:
    """Return the report, one screen of at most 80 columns."""
    lines = [f"The last {done.window.days:.0f} days, to {done.window.end:%Y-%m-%d %H:%M} UTC", ""]
    lines += [line for each in done.criteria for line in _criterion(each)]
    lines += ["", *_tally(done.tally), *_unattended(done.unattended)]
    if done.weeks:
        lines += ["", *_weeks(done.weeks)]
    if done.unreadable:
        lines.append(f"  ! {done.unreadable} thread files cannot be read and are not counted; see triage status")
    return "\n".join(lines)


def as_json(done: MetricsReport) -> str:
    """Return the report as one JSON object."""
    loose = done.unattended
    facts: dict[str, Any] = {
        "since": done.window.start.isoformat(),
        "until": done.window.end.isoformat(),
        "criteria": {each.name: asdict(each) for each in done.criteria},
        "counts": _facts(done.tally),
        "unattended": {**asdict(loose), "rate": loose.rate, "ok": loose.ok},
        "weeks": [{"until": week.end.isoformat(), **_facts(tally)} for week, tally in done.weeks],
        "unreadable": done.unreadable,
    }
    return json.dumps(facts, ensure_ascii=False, indent=1)


def _facts(tally: Tally) -> dict[str, Any]:
    shares = {name: getattr(tally, name) for name in ("actionable_share", "first_pass_share", "cost_per_reply_usd")}
    return {**asdict(tally), **shares}


def _criterion(each: Measure) -> list[str]:
    lines = [f"{MARKS[each.ok]} {each.name}  {each.what:<29}{each.shown:>9}  n {each.n:<7,}{each.target}".rstrip()]
    said = f"not enough data: {each.missing}" if each.missing else each.note
    return lines + textwrap.wrap(said, WIDTH, initial_indent=" " * 9, subsequent_indent=" " * 9)


def _tally(tally: Tally) -> list[str]:
    of = tally.verdicts
    return [
        f"  messages {tally.messages:,}, threads {tally.threads:,}, long runs {tally.long_runs}",
        f"  drafts: {of['pass']} pass, {of['bounce']} bounce, {of['escalate']} escalate;"
        f" {tally.fabricated} fabricated references caught",
        f"  {tally.approved} approved, {tally.edited} edited, {tally.dismissed} dismissed; replies {tally.replies}",
        f"  median to the click {seconds(tally.to_approve_s)}, to the reply {seconds(tally.to_reply_s)};"
        f" an accepted reply cost {dollars(tally.cost_per_reply_usd)}",
    ]


def _unattended(loose: AutonomyMetrics) -> list[str]:
    risky = f", {loose.risky_false} of them risky" if loose.risky_false else ""
    said = f"not enough data: {loose.missing}" if loose.missing else f"the limit is {percent(LIMIT)}"
    return [
        f"{MARKS[loose.ok]} replies without a human (off): {loose.qualified} drafts of {WEEKS} weeks would qualify,",
        f"  {loose.false} were changed or dismissed{risky} ({percent(loose.rate)});",
        f"  {said}",
    ]


def _weeks(weeks: Sequence[tuple[Window, Tally]]) -> list[str]:
    head = f"{'week to':<11}{'messages':>9}{'action.':>8}{'drafts':>7}{'pass':>6}{'bounce':>7}{'long':>5}{'replies':>8}"
    lines = [f"{head}{'to reply':>10}{'cost':>9}"]
    for week, tally in weeks:
        lines.append(
            f"{week.end:%Y-%m-%d} {tally.messages:>9,}{percent(tally.actionable_share):>8}{tally.first_rounds:>7}"
            f"{percent(tally.first_pass_share):>6}{tally.verdicts['bounce']:>7}{tally.long_runs:>5}{tally.replies:>8}"
            f"{seconds(tally.to_reply_s):>10}{dollars(tally.cost_usd):>9}"
        )
    return lines


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = 0.0
    if not 0 < days <= 3_660:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of days; give one up to 3660")
    return days


def _count(text: str) -> int:
    number = int(text) if text.isdecimal() and len(text) < 5 else 0
    if not 0 < number <= 520:
        raise argparse.ArgumentTypeError(f"{text!r} is no count; give a whole number up to 520")
    return number


def _parse(argv: list[str]) -> argparse.Namespace:
    known = parser()
    args = known.parse_args(argv)
    beside = {name for name, value in vars(args).items() if value != known.get_default(name)}
    beside -= {"home", "config", "picture"}
    if args.picture and beside:
        known.error(f"--picture shows the last 7 days and nothing else; leave out --{min(beside)}")
    return args


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    found = CommandParser(prog="triage metrics", description="What is promised, measured.")
    found.add_argument("--days", type=_days, default=7.0, help="how far back (default 7)")
    found.add_argument("--weeks", type=_count, nargs="?", const=8, default=0, help="a line for each week (default 8)")
    found.add_argument("--json", action="store_true", help="one JSON object; with --sample one line for each message")
    found.add_argument("--sample", type=_count, metavar="N", help="messages the rules left alone, to judge")
    found.add_argument("--seed", help="what the choice hangs on (default: the date)")
    found.add_argument("--judge", nargs="?", const="ask", metavar="FILE", help="judge: asked here, or from FILE or -")
    found.add_argument("--picture", type=Path, metavar="FILE", help="write the last 7 days to FILE as a PNG")
    found.add_argument("--config", type=Path, help="default: ./triage.yml, then triage.yml in TRIAGE_HOME")
    found.add_argument("--home", type=Path, help="data directory (default: TRIAGE_HOME, then ~/.triage)")
    return found
