"""`triage schema`: in which form a data directory is, and back to the form of an earlier release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import click

from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.schema_rewrite import rewrite, schemas_in
from bot.cli.arguments import home_option
from bot.cli.data_directory import home_of
from bot.cli.records import reading
from bot.config.environment import TEAMS, team_home
from bot.errors import InputError
from bot.ports.collections import HOME
from bot.ports.migrations import SCHEMA_VERSION
from bot.release import program_version


@click.command("schema", help="The form of the stored files; --to leads them back before an earlier release runs.")
@home_option
@click.option("--to", type=int, metavar="N", help="rewrite what has a later schema; the bot must be stopped")
def command(home: Path | None, to: int | None) -> int:
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
    held = ", ".join(f"{count} file{'s' * (count > 1)} of schema {number}" for number, count in sorted(schemas.items()))
    return (
        f"triage {program_version()} writes schema {SCHEMA_VERSION}; {home} holds {held or 'no files with a schema'}."
    )
