"""`triage migrate`: all state into PostgreSQL, back into a directory, or to the form of an earlier release."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import click

from bot.adapters.storage.files.file_engine import FileEngine
from bot.adapters.storage.files.file_leases import FileLeases
from bot.cli.data_directory import environment_at
from bot.cli.options import home_option
from bot.cli.output import wrapped
from bot.composition.state_move import Counted, Side, move, preview, rewrite
from bot.composition.storage_engine import look_at_url, open_database, open_engine
from bot.config.environment import Environment, process_home
from bot.errors import ConfigError, InputError
from bot.ports.collections import HOME
from bot.ports.migrations import SCHEMA_VERSION
from bot.release import program_version

DATABASE: Final = ("postgresql", "postgres")
MADE_ANEW: Final = "Made anew on each machine: the code index, clones, and what reports count."


@click.command(
    "migrate",
    help="Move all state into PostgreSQL or back into a directory, or to the form of an earlier release; "
    "the bot must be stopped.",
)
@home_option
@click.option(
    "--to",
    metavar="WHERE",
    help="postgresql (the database of TRIAGE_DATABASE_URL), its address without a password, or a new directory",
)
@click.option("--dry-run", "is_dry", is_flag=True, help="with --to: say what would be copied or refused; write nothing")
@click.option("--schema", type=int, metavar="N", help="rewrite what has a later schema, where it is")
def command(home: Path | None, to: str | None, schema: int | None, is_dry: bool) -> int:
    """Move or rewrite, and print what was counted; exit code 0, and 1 for a dry run of what would be refused.

    Raises:
        ConfigError: the bot runs on one side, or TRIAGE_DATABASE_URL is missing or its driver is.
        InputError: one side holds what it must not hold, or there is no such schema; nothing was changed.
        StoreError: one side cannot be used; of a move nothing was changed.
    """
    environment = environment_at(home)
    if to is not None and schema is None:
        side = _other_side(environment, to)
        if is_dry:
            return _looked(side)
        print(_moved(side))
    elif to is None and schema is not None and not is_dry:
        print(_rewritten(environment, schema))
    else:
        raise InputError("give --to WHERE to move the state, or --schema N before an earlier release is installed")
    return 0


class _Way(NamedTuple):
    """Which way the state moves: up into the database at `url`, or down into the new directory `home`."""

    is_up: bool
    url: str
    home: Path


def _other_side(environment: Environment, to: str) -> _Way:
    """Return what `--to` means; raises InputError, ConfigError for what cannot be."""
    if not to.strip():
        raise InputError("--to names no directory; give a new one, or postgresql, and nothing was changed")
    is_up = urlsplit(to).scheme in DATABASE or to in DATABASE
    url = to if is_up and to not in DATABASE else _url(environment)
    home = _existing(environment) if is_up else Path(to).expanduser().absolute()
    refuse_password(to)
    if not is_up and home.exists() and any(path.name != "lock" for path in home.iterdir()):
        raise InputError(f"{home} is not empty, and nothing was changed; name a new directory")
    return _Way(is_up, url, home)


def _looked(way: _Way) -> int:
    """Print what would be copied and what would be refused; return the exit code."""
    report = look_at_url(way.url)
    refused = [f"triage runs on the database: {one.name}" for one in report.replicas if one.is_alive]
    directory = Side(FileEngine(way.home), str(way.home))
    if way.is_up and (holder := FileLeases(way.home).holder(HOME)) is not None:
        refused.append(f"triage runs on {way.home}: process {holder}")
    with ExitStack() as at_end:
        database = None
        if not way.is_up or not report.missing:  # a database without tables holds nothing
            engine = at_end.enter_context(closing(open_database(way.url, way.home, migrates=False)))
            database = Side(engine, engine.database.place())
        if way.is_up:
            counted, more = preview(directory, database, way.home)
        else:
            assert database is not None
            counted, more = preview(database, None, way.home)
    print(_table(counted, "would move"))
    for line in (refused := [*refused, *more]):
        print(wrapped(line, lead="refused: "))
    print("Nothing was written. " + ("It would be refused." if refused else "Without --dry-run this moves it."))
    return 1 if refused else 0


def _moved(way: _Way) -> str:
    """Move, and return what is said of it."""
    is_up, url, home = way
    with closing(open_database(url, home)) as engine:
        directory, database = Side(FileEngine(home), str(home)), Side(engine, engine.database.place())
        if is_up:
            moved, sides = move(directory, database, home, _say), ("directory", "database")
            following = f"TRIAGE_DATABASE_URL; {home} keeps the old copy."
        else:
            moved, sides = move(database, directory, home, _say), ("database", "directory")
            following = f"TRIAGE_HOME={home} and without TRIAGE_DATABASE_URL."
    stays = [f"Set aside before, and left where they are: {', '.join(moved.stays)}"] if moved.stays else []
    return "\n".join(
        [_table(moved.counted, *sides), *stays, MADE_ANEW, wrapped(f"From now on start triage with {following}")]
    )


def _rewritten(environment: Environment, schema: int) -> str:
    """Lead back to a schema, and return what is said of it."""
    if not 1 <= schema <= SCHEMA_VERSION:
        raise InputError(f"--schema {schema}: triage {program_version()} knows the schemas 1 to {SCHEMA_VERSION}")
    home = process_home(_existing(environment))
    with closing(open_engine(environment)) as engine:
        changed = rewrite(engine, home, schema)
    counts = ", ".join(f"{count} {name}" for name, count in sorted(changed.items())) or "nothing"
    return f"A release of schema {schema} can read what is there; rewritten: {counts}."


def _existing(environment: Environment) -> Path:
    if not environment.home.is_dir():
        raise InputError(f"there is no data directory {environment.home}; name it with --home or TRIAGE_HOME")
    return environment.home


def refuse_password(to: str) -> None:
    """Raise InputError for an address with a password in it: every user of the machine sees it in the process list."""
    parts = urlsplit(to)
    if parts.scheme in DATABASE and (parts.password or "password" in parse_qs(parts.query)):
        raise InputError(
            "a password in --to can be read by every user of this machine, in the process list; put the address into "
            "TRIAGE_DATABASE_URL (.env) and type `triage migrate --to postgresql`, or the password into ~/.pgpass"
        )


def _url(environment: Environment) -> str:
    if environment.database_url is None:
        raise ConfigError("TRIAGE_DATABASE_URL is not set; put the database's address there, or into .env")
    return environment.database_url.get_secret_value()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _table(counted: Sequence[Counted], *sides: str) -> str:
    """Return what there is on both sides, or on the first; the namespace is said where there are several."""
    several = len({one.namespace for one in counted}) > 1
    names = [f"{one.namespace}: {one.what}" if several else one.what for one in counted]
    width = max(map(len, [*names, "what"]))
    lines = [f"{'what':{width}}{''.join(f'  {side:>12}' for side in sides)}"]
    for name, one in zip(names, counted, strict=True):
        numbers = (one.before, one.after)[: len(sides)]
        lines.append(f"{name:{width}}{''.join(f'  {number:>12,}' for number in numbers)}")
    return "\n".join(lines)
