"""`triage status`: how things stand, from the data directory alone; works beside a running bot and without one."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from bot.adapters.storage.files.retention import disk_used
from bot.casework.reports.status_overview import Overview, count_findings, overview, sessions_in_words
from bot.cli.arguments import home_option, json_option, team_option
from bot.cli.data_directory import codebases_at, each_team, environment_at, home_of, teams_at
from bot.cli.drafts import thread_json
from bot.cli.output import to_json, wrapped
from bot.cli.records import names_at, reading
from bot.composition.storage_engine import open_replicas
from bot.domain.text.humanize import time_ago
from bot.domain.text.sanitize import one_line
from bot.intake.presence import connection_state, read_presence
from bot.ports.replicas import Replica
from bot.release import program_version


@click.command("status", help="Open questions, queue, connection to Slack.")
@home_option
@team_option
@json_option
@click.option("--check", is_flag=True, help="exit code 1 unless the bot runs and is connected")
def command(home: Path | None, team: str | None, as_json: bool, check: bool) -> int:
    """Print counts and open threads; exit code 0, and with `--check` 1 unless the bot runs and hears Slack.

    Raises:
        ConfigError: TRIAGE_HOME leads nowhere, or the data directory cannot be read.
    """
    now = datetime.now(UTC)

    def report(of_team: Path) -> str:
        disk = "" if check else disk_used(of_team)  # who checks every few seconds wants an exit code
        with reading(of_team) as store:
            seen = overview(store, now, codebases_at(of_team), replicas=open_replicas(environment_at(of_team)))
            if as_json:
                return status_json(seen, of_team, connection_state(read_presence(store.documents), now))
            return names_at(of_team).text(render(seen, of_team, now, disk))

    print(each_team(teams_at(home, None, team), report, as_json=as_json))
    with reading(home_of(home)) as store:
        return 1 if check and connection_state(read_presence(store.documents), now) != "up" else 0


def status_json(seen: Overview, home: Path, state: str) -> str:
    """Return the report as one JSON object; `connection` is up, down, stuck (no answer), dead (stopped) or never."""
    facts = {
        "version": program_version(),
        "home": str(home),
        "connection": state,
        "connection_text": seen.connection,
        "last_event_at": seen.last_event_at.isoformat() if seen.last_event_at else None,
        "paused": seen.paused,
        "waiting": seen.waiting,
        "running": seen.running,
        "queued": seen.queued,
        "failed": seen.failed,
        "posted_today": seen.posted_today,
        "threads": [thread_json(line) for line in seen.threads],
        "codebases": list(seen.codebases),
        "clones": list(seen.clones),
        "replicas": [_replica_json(replica) for replica in seen.replicas],
        "open_findings": [asdict(line) for line in seen.open_findings],
        "unreadable": list(seen.unreadable),
    }
    return to_json(facts)


def _replica_json(replica: Replica) -> dict[str, object]:
    return {
        "host": replica.host,
        "pid": replica.pid,
        "version": replica.version,
        "role": replica.role,
        "is_alive": replica.is_alive,
        "runs_for_s": replica.runs_for.total_seconds(),
        "silent_for_s": replica.silent_for.total_seconds(),
        "clock_ahead_s": replica.clock_ahead.total_seconds(),
    }


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
    lines += [f"  {seen.paused}; to resume: triage resume"] if seen.paused else []
    about = seen.codebases or ((seen.index,) if seen.index else ())
    lines += [wrapped(line, lead="  ", indent="    ") for line in about]
    lines += [wrapped(line, lead="  ", indent="    ") for line in seen.clones]
    lines += [wrapped(replica.line, lead="  ", indent="    ") for replica in seen.replicas]
    if seen.open_findings:
        named = f"{count_findings(seen.open_findings)}: {sessions_in_words(seen.open_findings, at_most=20)}"
        lines.append(wrapped(named, lead="  ", indent="    "))
    if seen.threads:
        lines.append("")
    width = max((len(thread.status_words) for thread in seen.threads), default=0)
    for thread in seen.threads:
        lines.append(
            f"  {thread.status_words:<{width}} {time_ago(now, thread.started_at):>10}  {one_line(thread.question, 40)}"
        )
        lines += [f"    {thread.watch}"] if thread.watch else []
    for name in seen.unreadable:
        lines.append(f"  ! {name} in state/ cannot be read; look at it, then remove it")
    return "\n".join(lines)
