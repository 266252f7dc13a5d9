"""The data directory and triage.yml as a command finds them: in its options, else where the environment says.

Where several teams share a bot each has a data directory of its own inside: a command looks into one, or into each. It
does so beside a running bot and without one; what only looks changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from bot.composition.storage_engine import open_files, open_replicas, open_store
from bot.config.home import find_config, home_variable, process_home, team_home, variable
from bot.errors import ConfigError, InputError, StoreError

if TYPE_CHECKING:  # reading triage.yml takes longer than a command may take to start
    from bot.config.environment import Environment
    from bot.config.settings import Settings
    from bot.domain.text.humanize import Names
    from bot.ports import Store
    from bot.ports.system import Replicas

Found = TypeVar("Found")
_DOTENV: Final = Path(".env")


def home_of(home: Path | None) -> Path:
    """Return the data directory: `--home`, else the environment's; raises ConfigError if that one leads nowhere."""
    return home or home_variable(_DOTENV)


def environment_at(home: Path | None) -> Environment:
    """Return the environment, with `--home` in it if that was given; raises ConfigError if it cannot be used."""
    from bot.config.environment import read_environment

    return read_environment(dotenv=_DOTENV, home=home)


def settings_at(config: Path | None, home: Path) -> Settings:
    """Return the settings of `--config`, else of the first triage.yml there is: those of the team whose `home` it is.

    Raises:
        ConfigError: there is none, or it cannot be used.
    """
    from bot.config.settings import load_settings

    base, here = process_home(home), home.resolve()
    settings = load_settings(find_config(config, base))
    above = (base, home.parent.parent)  # before the first start nothing tells whose a team's directory is
    teams = settings.by_team() if settings.teams else {}
    own = (team for name, team in teams.items() if here in {team_home(one, name) for one in above})
    return next(own, settings)


def codebases_at(home: Path, config: Path | None) -> Collection[str] | None:
    """Return the ids of the codebases that the team of a data directory sees; None: all there are.

    Without a triage.yml that can be used it is not known which of several teams sees what, so none is named.
    """
    if process_home(home) == home:
        return None
    try:
        return settings_at(config, home).all_codebases
    except ConfigError:
        return ()


def store_at(home: Path, *, is_reader: bool = True) -> Store:
    """Return what a data directory holds, wherever it is kept; with `is_reader` nothing of it is changed.

    Raises:
        ConfigError: the environment cannot be used.
        StoreError: it cannot be read.
    """
    if not variable("TRIAGE_DATABASE_URL", _DOTENV):
        return open_files(home, is_reader=is_reader)
    return open_store(environment_at(home), is_reader=is_reader)


def replicas_at(home: Path) -> Replicas | None:
    """Return who works on the same state, which only a database can say; raises as `store_at` does."""
    return open_replicas(environment_at(home)) if variable("TRIAGE_DATABASE_URL", _DOTENV) else None


@contextmanager
def reading(home: Path) -> Iterator[Store]:
    """Enter with what a data directory holds.

    Raises:
        ConfigError: it cannot be read: another directory is meant, or another user must ask.
    """
    try:
        yield store_at(home)
    except StoreError as error:
        raise ConfigError(str(error)) from error


def names_at(home: Path) -> Names:
    """Return what people and channels are called, as far as the bot has learned it."""
    from handlers.transport.name_book import NameBook

    return NameBook(store_at(home).documents).names()


def in_its_team(teams: Mapping[str, Path], look: Callable[[Path], Found]) -> tuple[str, Path, Found]:
    """Return the team in whose data directory `look` finds what is asked for, that directory, and what it found.

    Raises:
        InputError: it is in none; what each says.
    """
    missing = []
    for name, home in teams.items():
        try:
            return name, home, look(home)
        except InputError as error:
            missing.append(str(error))
    raise InputError("\n".join(missing))
