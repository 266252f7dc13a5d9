"""`triage status`: how things stand, and with `--check` only whether the bot runs and hears Slack.

The check is asked every few seconds by containers: it reads one small file, and loads neither settings nor stores.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from bot.cli.options import config_option, home_option, json_option, team_option
from bot.cli.output import wrapped
from bot.config.home import home_variable, process_home


@click.command("status", help="Open questions, queue, connection to Slack.")
@json_option
@click.option("--check", is_flag=True, help="only the connection; exit code 1 unless the bot runs and is connected")
@home_option
@team_option
@config_option
def command(home: Path | None, team: str | None, config: Path | None, as_json: bool, check: bool) -> int:
    """Print counts and open threads; exit code 0. With `--check` print the connection, and 1 unless Slack is heard.

    Raises:
        ConfigError: TRIAGE_HOME leads nowhere, or the data directory cannot be read.
    """
    if check:
        return print_connection(home or home_variable(Path(".env")))
    from bot.cli.arguments import Scope
    from bot.cli.reports import print_status

    return print_status(Scope(home, team, config), as_json=as_json)


def print_connection(home: Path) -> int:
    """Print one line on the bot of a data directory; exit code 0 if it runs and hears Slack, else 1."""
    from bot.intake.presence import CONNECTION_FILE, Presence, connection_state, describe_presence

    now = datetime.now(UTC)
    try:
        seen = Presence.model_validate_json((process_home(home) / CONNECTION_FILE).read_bytes())
    except FileNotFoundError:
        seen = None
    except (OSError, ValueError) as error:
        print(wrapped(f"{CONNECTION_FILE} cannot be read: {str(error).splitlines()[0]}"))
        return 1
    print(wrapped(describe_presence(seen, now)))
    return 0 if connection_state(seen, now) == "up" else 1
