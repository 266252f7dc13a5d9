"""The options that several commands share. It imports nothing but Click: `triage classify` has to start quickly."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

FILE: Final = click.Path(path_type=Path)
"""A path of a file or folder; whether it is there is for the command to say."""

home_option = click.option(
    "--home", type=FILE, metavar="DIR", help="data directory (default: TRIAGE_HOME, then ~/.triage)"
)
config_option = click.option(
    "--config", type=FILE, metavar="FILE", help="default: ./triage.yml, then triage.yml in the data directory"
)
team_option = click.option("--team", metavar="NAME", help="where several teams share the bot: the one that is meant")
json_option = click.option("--json", "as_json", is_flag=True, help="for programs: JSON on stdout")
