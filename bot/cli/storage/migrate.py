"""`triage migrate`: all state from the data directory into PostgreSQL, and back.

`triage schema`: in which form a data directory is, and back to the form of an earlier release.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

import click

from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.schema_rewrite import rewrite, schemas_in
from bot.cli.data_directory import environment_at, home_of, reading
from bot.cli.options import home_option
from bot.cli.output import wrapped
from bot.config.environment import TEAMS, Environment, team_home
from bot.domain.text.humanize import counted
from bot.errors import ConfigError, InputError
from bot.ports.collections import HOME
from bot.ports.migrations import SCHEMA_VERSION
from bot.release import program_version

if TYPE_CHECKING:
    from bot.composition.state_move import Counted


DATABASE: Final = ("postgresql", "postgres")
MADE_ANEW: Final = "Made anew on each machine: the code index, clones, and what reports count."


@click.command("migrate", help="Move all state into PostgreSQL, or back into a directory; the bot must be stopped.")
@home_option
@click.option(
    "--to",
    required=True,
    metavar="WHERE",
    help="postgresql (the database of TRIAGE_DATABASE_URL), its address without a password, or a new directory",
)
def migrate_command(home: Path | None, to: str) -> int:
    """Move, and print what was counted on both sides; exit code 0.

    Raises:
        ConfigError: the bot runs on one side, or TRIAGE_DATABASE_URL is missing or its driver is.
        InputError: one side holds what it must not hold; nothing was changed.
        StoreError: one side cannot be used; nothing was changed.
    """
    environment = environment_at(home)
    is_up = urlsplit(to).scheme in DATABASE or to in DATABASE
    url = to if is_up and to not in DATABASE else _url(environment)
    if is_up and not environment.home.is_dir():
        raise InputError(f"there is no data directory {environment.home}; name it with --home or TRIAGE_HOME")
    refuse_password(to)
    try:
        from bot.adapters.storage.postgres.database import Database
        from bot.composition.state_move import to_database, to_directory
    except ImportError as error:
        pip = f"{sys.executable} -m pip"  # that of this installation: no index has a package of that name
        raise ConfigError(f"{error.name} is not installed; type `{pip} install 'triage-bot[postgres]'`") from error
    database = Database(url)
    try:
        if is_up:
            said = _table(to_database(environment.home, database, _say), "directory", "database")
            following = f"TRIAGE_DATABASE_URL; {environment.home} keeps the old copy."
        else:
            target = Path(to).expanduser().absolute()
            said = _table(to_directory(database, target, _say), "database", "directory")
            following = f"TRIAGE_HOME={target} and without TRIAGE_DATABASE_URL."
    finally:
        database.close()
    print("\n".join([said, MADE_ANEW, wrapped(f"From now on start triage with {following}")]))
    return 0


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


def _table(counted: Sequence[Counted], before: str, after: str) -> str:
    """Return what there is on both sides; the namespace is said where there are several."""
    several = len({one.namespace for one in counted}) > 1
    names = [f"{one.namespace}: {one.what}" if several else one.what for one in counted]
    width = max(map(len, [*names, "what"]))
    lines = [f"{'what':{width}}  {before:>12}  {after:>12}"]
    lines += [f"{name:{width}}  {one.before:>12,}  {one.after:>12,}" for name, one in zip(names, counted, strict=True)]
    return "\n".join(lines)


@click.command("schema", help="The form of the stored files; --to leads them back before an earlier release runs.")
@home_option
@click.option("--to", type=int, metavar="N", help="rewrite what has a later schema; the bot must be stopped")
def schema_command(home: Path | None, to: int | None) -> int:
    """Print what was found or changed; exit code 0.

    Raises:
        ConfigError: the bot runs, or the data directory cannot be read.
        InputError: there is no such schema.
        StoreError: the disk refuses.
    """
    home = home_of(home)
    if to is None:
        with reading(home):
            print("\n".join(_found(one, schemas_in(one)) for one in _homes(home)))
        return 0
    if not 1 <= to <= SCHEMA_VERSION:
        raise InputError(f"--to {to}: triage {program_version()} knows the schemas 1 to {SCHEMA_VERSION}")
    with reading(home):
        pass
    lease = FileLeases(home).take(HOME)
    try:
        changed = sum((rewrite(one, to) for one in _homes(home)), Counter[str]())
    finally:
        lease.release()
    counts = ", ".join(f"{count} {name}" for name, count in sorted(changed.items())) or "nothing"
    print(f"{home} can be read by a release of schema {to}; rewritten: {counts}.")
    return 0


def _homes(home: Path) -> list[Path]:
    """Return a data directory, and those of the teams inside."""
    return list(dict.fromkeys([home, *(team_home(home, path.name) for path in sorted((home / TEAMS).glob("*")))]))


def _found(home: Path, schemas: Mapping[int, int]) -> str:
    held = ", ".join(f"{counted(count, 'file')} of schema {number}" for number, count in sorted(schemas.items()))
    return (
        f"triage {program_version()} writes schema {SCHEMA_VERSION}; {home} holds {held or 'no files with a schema'}."
    )
