"""Which data a command is about: the teams and the data directories that its options mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from bot.cli.data_directory import each_team, names_at, session_team_at, settings_at, teams_at
from bot.cli.options import config_option, home_option, team_option
from bot.cli.output import terminal_words
from bot.config.settings import Settings


@dataclass(frozen=True, slots=True)
class Scope:
    """Which data a command is about, as its options say; None where one was not given."""

    home: Path | None
    team: str | None
    config: Path | None

    def teams(self) -> dict[str, Path]:
        """Return the teams by name, each with its data directory; raises InputError where there is no such team."""
        return teams_at(self.home, self.config, self.team)

    def one_team(self, session: str | None = None) -> Path:
        """Return the data directory of the one team that is meant, if only by its session; raises InputError."""
        return session_team_at(self.home, self.config, self.team, session)

    def settings(self, of_team: Path) -> Settings:
        """Return the settings of a team; raises ConfigError."""
        return settings_at(self.config, of_team)

    def print_each(self, report: Callable[[Path], str], *, as_json: bool = False) -> int:
        """Print a report of each team, made of its data directory; returns the exit code 0.

        In what people read, ids stand as names.
        """

        def named(of_team: Path) -> str:
            said = report(of_team)
            return said if as_json else names_at(of_team).text(said)

        print(each_team(self.teams(), named, as_json=as_json))
        return 0


def scoped(command: Callable[..., int]) -> Callable[..., int]:
    """Decorate a command about a data directory: --home, --team and --config come as one Scope, its first argument."""

    @home_option
    @team_option
    @config_option
    @wraps(command)
    def with_scope(home: Path | None, team: str | None, config: Path | None, **arguments: Any) -> int:
        return command(Scope(home, team, config), **arguments)

    return with_scope


def prints(make: Callable[[Path | None, Path | None], object]) -> Callable[[Callable[..., str]], Callable[..., int]]:
    """Decorate what returns a command's answer: it is given what --home and --config make, and is printed.

    Of several teams it is the one of `--team`, else the one whose session is named; a list is made for each, and
    anything else needs the team's name.
    """

    def decorated(answer: Callable[..., str]) -> Callable[..., int]:
        @scoped
        @wraps(answer)
        def command(scope: Scope, **arguments: Any) -> int:
            as_json = bool(arguments.get("as_json"))

            def report(of_team: Path) -> str:
                return terminal_words(answer(make(of_team, scope.config), **arguments))

            if answer.__name__.startswith("list_"):
                return scope.print_each(report, as_json=as_json)
            of_team = scope.one_team(arguments.get("session"))
            said = report(of_team)
            print(said if as_json else names_at(of_team).text(said))
            return 0

        return command

    return decorated
