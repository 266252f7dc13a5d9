"""The data directory and triage.yml as a command finds them: in its options, else where the environment says.

Where several teams share a bot each has a data directory of its own inside: a command looks into one, or into each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path

from bot.cli.output import to_json
from bot.config.environment import TEAMS, Environment, process_home, read_environment, team_home
from bot.config.settings import Settings, find_config, load_settings
from bot.config.team_settings import DEFAULT_TEAM
from bot.errors import ConfigError, InputError


def home_of(home: Path | None) -> Path:
    """Return the data directory: `--home`, else the environment's; raises ConfigError if that one leads nowhere."""
    return home or read_environment(dotenv=Path(".env")).home


def environment_at(home: Path | None) -> Environment:
    """Return the environment, with `--home` in it if that was given; raises ConfigError if it cannot be used."""
    return read_environment(dotenv=Path(".env"), home=home)


def settings_at(config: Path | None, home: Path) -> Settings:
    """Return the settings of `--config`, else of the first triage.yml there is: those of the team whose `home` it is.

    Raises:
        ConfigError: there is none, or it cannot be used.
    """
    base, here = process_home(home), home.resolve()
    settings = load_settings(find_config(config, base))
    above = (base, home.parent.parent)  # before the first start nothing tells whose a team's directory is
    teams = settings.by_team() if settings.teams else {}
    own = (team for name, team in teams.items() if here in {team_home(one, name) for one in above})
    return next(own, settings)


def codebases_at(home: Path) -> Collection[str] | None:
    """Return the ids of the codebases that the team of a data directory sees; None: all there are.

    Without a triage.yml that can be used it is not known which of several teams sees what, so none is named.
    """
    try:
        return settings_at(None, home).all_codebases
    except ConfigError:
        return None if process_home(home) == home else ()


def teams_at(home: Path | None, config: Path | None = None, team: str | None = None) -> dict[str, Path]:
    """Return the teams by name, each with its data directory: the one of `--team`, else all of triage.yml.

    Without a triage.yml that can be used, those that left something.

    Raises:
        ConfigError: TRIAGE_HOME leads nowhere.
        InputError: there is no such team.
    """
    here = home_of(home)
    base = process_home(here)
    try:
        names = list(load_settings(find_config(config, base)).teams)
    except ConfigError:
        names = sorted(path.name for path in (base / TEAMS).glob("*") if path.is_dir())
    teams = {here.name: here} if here != base else {name: team_home(base, name) for name in names}
    teams = teams or {DEFAULT_TEAM: here}
    if team is None:
        return teams
    if team not in teams:
        raise InputError(
            f"there is no team {team[:60]!r}; there {'is' if len(teams) == 1 else 'are'} {', '.join(teams)}"
        )
    return {team: teams[team]}


def one_team_at(home: Path | None, config: Path | None, team: str | None) -> Path:
    """Return the data directory of the only team, or of that of `--team`; raises InputError where it is not said."""
    teams = teams_at(home, config, team)
    if len(teams) > 1:
        raise InputError(f"for which team? Nothing was done. Add --team with one of {', '.join(teams)}")
    return next(iter(teams.values()))


def session_team_at(home: Path | None, config: Path | None, team: str | None, session: str | None) -> Path:
    """Return the data directory of the team that a session belongs to, else what `one_team_at` does."""
    teams = teams_at(home, config, team)
    if len(teams) > 1 and session:
        for of_team in teams.values():
            if session.lower() in settings_at(config, of_team).sessions:
                return of_team
    return one_team_at(home, config, team)


def each_team(teams: dict[str, Path], report: Callable[[Path], str], *, as_json: bool = False) -> str:
    """Return a report of each team under its name, as JSON an object with a key for each; of one team it alone."""
    if len(teams) == 1:
        return report(next(iter(teams.values())))
    if as_json:
        return to_json({name: json.loads(report(home)) for name, home in teams.items()})
    return "\n\n".join(f"Team {name}\n{report(home)}" for name, home in teams.items())
