"""`triage status`: how things stand, from the data directory alone; works beside a running bot and without one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from bot.adapters.storage.files.retention import disk_used
from bot.casework.reports.open_findings import count_findings, sessions_in_words
from bot.casework.reports.status_overview import Overview, overview
from bot.cli.arguments import home_option
from bot.cli.data_directory import home_of
from bot.cli.output import wrapped
from bot.cli.records import reading
from bot.domain.text.humanize import time_ago
from bot.domain.text.sanitize import one_line
from bot.intake.presence import connection_state, read_presence
from bot.release import program_version


@click.command("status", help="Open questions, queue, connection to Slack.")
@home_option
@click.option("--check", is_flag=True, help="exit code 1 unless the bot runs and is connected")
def command(home: Path | None, check: bool) -> int:
    """Print counts and open threads; exit code 0, and with `--check` 1 unless the bot runs and hears Slack.

    Raises:
        ConfigError: TRIAGE_HOME leads nowhere, or the data directory cannot be read.
    """
    home, now = home_of(home), datetime.now(UTC)
    disk = "" if check else disk_used(home)  # who checks every few seconds wants an exit code
    with reading(home) as store:
        print(render(overview(store, now), home, now, disk))
        return 1 if check and connection_state(read_presence(store.documents), now) != "up" else 0


def render(seen: Overview, home: Path, now: datetime, disk: str = "") -> str:
    """Return the report, at most 80 columns wide but for paths; `disk` is what the data directory uses."""
    replies = f"{seen.posted_today} repl{'y' if seen.posted_today == 1 else 'ies'}"
    lines = [
        f"triage {program_version()} at {home}",
        f"  {seen.waiting} waiting for a decision, {seen.running} being investigated",
        f"  {seen.queued} queued, {seen.failed} failed, {replies} posted today",
        f"  {seen.connection}",
        f"  {seen.last_event}",
    ]
    lines += [f"  {disk} on disk"] if disk else []
    lines += [f"  {seen.paused}; to resume: /triage resume"] if seen.paused else []
    if seen.open_findings:
        named = f"{count_findings(seen.open_findings)}: {sessions_in_words(seen.open_findings, at_most=20)}"
        lines.append(wrapped(named, lead="  ", indent="    "))
    if seen.threads:
        lines.append("")
    for thread in seen.threads:
        lines.append(
            f"  {thread.status_words:<24} {time_ago(now, thread.started_at):>10}  {one_line(thread.question, 40)}"
        )
        lines += [f"    {thread.watch}"] if thread.watch else []
    for name in seen.unreadable:
        lines.append(f"  ! {name} in state/ cannot be read; look at it, then remove it")
    return "\n".join(lines)
