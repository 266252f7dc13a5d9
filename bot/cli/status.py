"""`triage status`: how things stand, from the data directory alone; works beside a running bot and without one."""

from __future__ import annotations

import argparse
import textwrap
from datetime import UTC, datetime
from pathlib import Path

from bot.adapters.storage.files.retention import disk_used
from bot.casework.reports.open_findings import count_findings, sessions_in_words
from bot.casework.reports.status_overview import Overview, overview
from bot.cli.output import CommandParser
from bot.config.environment import read_environment
from bot.domain.text.humanize import time_ago
from bot.domain.text.sanitize import one_line
from bot.intake.presence import connection_state, read_presence


def main(argv: list[str]) -> int:
    """Print counts and open threads; exit code 0, and with `--check` 1 unless the bot runs and hears Slack.

    Raises:
        ConfigError: TRIAGE_HOME leads nowhere, or the data directory cannot be read.
    """
    args = parser().parse_args(argv)
    home = args.home or read_environment(dotenv=Path(".env")).home
    now = datetime.now(UTC)
    disk = "" if args.check else disk_used(home)  # who checks every few seconds wants an exit code
    print(render(overview(home, now), home, now, disk))
    return 1 if args.check and connection_state(read_presence(home), now) != "up" else 0


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    found = CommandParser(prog="triage status", description="What waits, what runs.")
    found.add_argument("--home", type=Path, help="data directory (default: TRIAGE_HOME, then ~/.triage)")
    found.add_argument("--check", action="store_true", help="exit code 1 unless the bot runs and hears Slack")
    return found


def render(seen: Overview, home: Path, now: datetime, disk: str = "") -> str:
    """Return the report, at most 80 columns wide but for paths; `disk` is what the data directory uses."""
    replies = f"{seen.posted_today} repl{'y' if seen.posted_today == 1 else 'ies'}"
    lines = [
        f"triage at {home}",
        f"  {seen.waiting} waiting for a decision, {seen.running} being investigated",
        f"  {seen.queued} queued, {seen.failed} given up, {replies} posted today",
        f"  {seen.connection}",
        f"  {seen.last_event}",
    ]
    lines += [f"  {disk} on disk"] if disk else []
    lines += [f"  {seen.paused}; to go on: /triage resume"] if seen.paused else []
    if seen.open_findings:
        named = f"{count_findings(seen.open_findings)}: {sessions_in_words(seen.open_findings, at_most=20)}"
        lines += textwrap.wrap(named, 80, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    if seen.threads:
        lines.append("")
    for thread in seen.threads:
        lines.append(f"  {thread.status:<24} {time_ago(now, thread.started_at):>10}  {one_line(thread.question, 40)}")
        lines += [f"    {thread.watch}"] if thread.watch else []
    for name in seen.unreadable:
        lines.append(f"  ! {name} in state/ cannot be read; look at it, then remove it")
    return "\n".join(lines)
