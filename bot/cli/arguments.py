"""Which data a command is about: the teams and the data directories that its options mean."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.data_directory import home_of, names_at, settings_at
from bot.cli.options import config_option, home_option, team_option
from bot.cli.output import show, to_json
from bot.config.home import DEFAULT_TEAM, TEAMS, find_config, process_home, team_home
from bot.errors import ConfigError, InputError

if TYPE_CHECKING:  # reading triage.yml takes longer than a command may take to start
    from bot.config.settings import Settings
    from bot.domain.answers import Answer
    from bot.domain.command_specs import CommandSpec


@dataclass(frozen=True, slots=True)
class Scope:
    """Which data a command is about, as its options say; None where one was not given."""

    home: Path | None
    team: str | None
    config: Path | None

    def teams(self) -> dict[str, Path]:
        """Return the teams by name, each with its data directory: the one of `--team`, else all of triage.yml.

        Without a triage.yml that can be used, those that left something.

        Raises:
            ConfigError: TRIAGE_HOME leads nowhere.
            InputError: there is no such team.
        """
        here = home_of(self.home)
        base = process_home(here)
        try:
            names = _teams_in(find_config(self.config, base))
        except ConfigError:
            names = sorted(path.name for path in (base / TEAMS).glob("*") if path.is_dir())
        teams = {here.name: here} if here != base else {name: team_home(base, name) for name in names}
        teams = teams or {DEFAULT_TEAM: here}
        if self.team is None:
            return teams
        if self.team not in teams:
            verb = "is" if len(teams) == 1 else "are"
            raise InputError(f"there is no team {self.team[:60]!r}; there {verb} {', '.join(teams)}")
        return {self.team: teams[self.team]}

    def one_team(self, session: str | None = None) -> Path:
        """Return the data directory of the only team, of that of `--team`, or of the one that a session belongs to.

        Raises:
            InputError: it is not said which.
        """
        teams = self.teams()
        if len(teams) == 1:
            return next(iter(teams.values()))
        name = (session or "").lower()
        for of_team in teams.values() if name else ():
            if name in self.settings(of_team).sessions:
                return of_team
        raise InputError(f"for which team? Nothing was done. Add --team with one of {', '.join(teams)}")

    def settings(self, of_team: Path) -> Settings:
        """Return the settings of a team; raises ConfigError."""
        return settings_at(self.config, of_team)

    def answer_each(
        self, answer_of: Callable[[Path], Answer], *, of_team: Path | None = None, as_json: bool = False
    ) -> int:
        """Print what each team or one is answered; returns the exit code 0.

        Raises:
            InputError: nothing was done; it is raised below what is shown instead.
        """
        problems = []

        def report(home: Path) -> str:
            answer = answer_of(home)
            problems.append(answer.problem)
            return to_json(answer.data) if as_json else show(answer)

        code = self.print_each(report, of_team=of_team, as_json=as_json)
        if any(problems):
            raise InputError(problems[0])
        return code

    def print_each(self, report: Callable[[Path], str], *, of_team: Path | None = None, as_json: bool = False) -> int:
        """Print a report of each team or of one, made of its data directory, under its name; returns the exit code 0.

        Of one team it stands alone, else as JSON an object has a key for each. In what people read, ids are names.
        """
        teams = {"": of_team} if of_team else self.teams()
        said = {name: _with_names(report(home), home, as_json) for name, home in teams.items()}
        if len(teams) == 1:
            print(*said.values())
        elif as_json:
            print(to_json({name: json.loads(text) for name, text in said.items()}))
        else:
            print("\n\n".join(f"Team {name}\n{text}" for name, text in said.items()))
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


def arguments_of(entry: CommandSpec) -> list[click.Parameter]:
    """Return the arguments that the form of a subcommand names after its verb.

    The last of several takes every word that is left, unless the manual says how many there may be.
    """
    form = entry.form.partition(f" {entry.path.partition(' ')[2]} ")[2]
    names = re.findall(r"[<\[](\w+)[>\]]", form)
    has_rest = len(names) > 1 and entry.extra_words is None
    return [
        click.Argument([name], nargs=-1 if has_rest and name == names[-1] else 1, required=f"<{name}>" in form)
        for name in names
    ]


def words_of(given: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Return the words that those arguments were given, in order."""
    return [word for each in given.values() for word in ([each] if isinstance(each, str) else each)]


def _teams_in(config: Path) -> list[str]:
    """Return the teams of a triage.yml; one without the word has one team, and is not read any further."""
    if not config.is_file() or b"teams" not in config.read_bytes():
        return []
    from bot.config.settings import load_settings

    return list(load_settings(config).teams)


def _with_names(said: str, of_team: Path, as_json: bool) -> str:
    return said if as_json else names_at(of_team).text(said)
