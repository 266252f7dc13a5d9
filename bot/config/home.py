"""Where the data directory and triage.yml are, without reading them: a health check asks this every 30 s."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from bot.errors import ConfigError

HOME: Final = "~/.triage"
TEAMS: Final = "teams"
"""The folder of the data directory that holds those of the teams."""

DEFAULT_TEAM: Final = "default"
"""What the one team of a triage.yml without `teams` is called."""


def process_home(home: Path) -> Path:
    """Return the data directory of the process that looks after a team's, or after this one.

    It holds the lease, and before the first start at most triage.yml.
    """
    above = home.parent.parent
    is_ours = home.parent.name == TEAMS and any((above / name).is_file() for name in ("lock", "triage.yml"))
    return above if is_ours else home


def team_home(home: Path, team: str) -> Path:
    """Return a team's data directory; where one team became several, the first one's is a link to ours."""
    return (home / TEAMS / team).resolve()


def variable(name: str, dotenv: Path) -> str | None:
    """Return a variable of the environment, or else of a .env; raises ConfigError where that cannot be read."""
    found = os.environ.get(name)
    if found is not None or not dotenv.is_file():
        return found
    from dotenv import dotenv_values  # here: where the variable is set nothing waits for it

    try:
        return dotenv_values(dotenv, encoding="utf-8").get(name)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {dotenv}; make it yours, and UTF-8 text as .env.example is") from error


def home_variable(dotenv: Path) -> Path:
    """Return the data directory that TRIAGE_HOME names, in the environment or in a .env, else the usual one.

    Raises:
        ConfigError: it begins with a `~` that leads to no home folder.
    """
    try:
        return Path(variable("TRIAGE_HOME", dotenv) or HOME).expanduser().absolute()
    except RuntimeError as error:
        raise ConfigError("TRIAGE_HOME: is not a usable path; set it to the data directory's full path") from error


def find_config(given: Path | None, home: Path) -> Path:
    """Return the config file to read: the one given, else ./triage.yml, else triage.yml in the data directory.

    Raises:
        ConfigError: there is none, or the system does not say.
    """
    candidates = [given] if given else [Path("triage.yml"), home / "triage.yml"]
    for path in candidates:
        try:
            if path.exists() or path.is_symlink():  # also what cannot be read is meant
                return path
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror}; run this as the user who runs triage") from error
    places = " or ".join(map(str, candidates))
    raise ConfigError(f"no config at {places}; `triage init` writes one, or copy triage.example.yml there")
