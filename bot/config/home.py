"""Where the data directory is, without reading the rest of the environment: a health check asks this every 30 s."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from bot.errors import ConfigError

HOME: Final = "~/.triage"
TEAMS: Final = "teams"
"""The folder of the data directory that holds those of the teams."""


def process_home(home: Path) -> Path:
    """Return the data directory of the process that looks after a team's, or after this one.

    It holds the lease, and before the first start at most triage.yml.
    """
    above = home.parent.parent
    is_ours = home.parent.name == TEAMS and any((above / name).is_file() for name in ("lock", "triage.yml"))
    return above if is_ours else home


def home_variable(dotenv: Path) -> Path:
    """Return the data directory that TRIAGE_HOME names, in the environment or in a .env, else the usual one.

    Raises:
        ConfigError: it begins with a `~` that leads to no home folder.
    """
    found = os.environ.get("TRIAGE_HOME")
    if found is None and dotenv.is_file():
        from dotenv import dotenv_values  # here: where the variable is set nothing waits for it

        found = dotenv_values(dotenv, encoding="utf-8").get("TRIAGE_HOME")
    try:
        return Path(found or HOME).expanduser().absolute()
    except RuntimeError as error:
        raise ConfigError("TRIAGE_HOME is not a usable path; set it to the data directory's full path") from error
