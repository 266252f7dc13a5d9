"""The data directories of teams: what one team left becomes the first team's, and what a removed team left is ended."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.atomic_write import list_files
from bot.casework.team_ending import end_threads
from bot.composition.process_services import ProcessServices
from bot.composition.shared_services import open_shared_services
from bot.config.environment import TEAMS
from bot.config.settings import Settings
from bot.config.team_settings import DEFAULT_TEAM
from bot.errors import ConfigError, ProviderError, StoreError, refusal
from bot.ports.threads import Threads

log = logging.getLogger(__name__)

REMOVED: Final = "the team {team} is no longer in triage.yml"
"""Why a thread of a team that is gone was closed."""


def hand_over(home: Path, settings: Settings) -> str | None:
    """Give what one team left in the data directory to the first of several; return what is said of it.

    Done once, by a link `teams/<first>` to the directory itself, and for good: teams may change their order.

    Raises:
        StoreError: the link cannot be made.
    """
    folder, first = home / TEAMS, next(iter(settings.teams), None)
    if first is None or folder.exists() or not _was_used(home):
        return None
    new = home / f".{TEAMS}.new"
    try:
        shutil.rmtree(new, ignore_errors=True)  # of a start that was killed here
        new.mkdir(mode=0o700)
        (new / first).symlink_to("..", target_is_directory=True)
        new.rename(folder)
    except OSError as error:
        raise refusal(f"cannot make {folder}", error, "check the disk and the folder's owner") from error
    return f"There are several teams now; what was known until today belongs to {first}."


def _was_used(home: Path) -> bool:
    return (home / "events.ndjson").exists() or bool(list_files(home / "state", "*.json"))


def end_removed(process: ProcessServices) -> list[str]:
    """Close the open threads of teams that are not in triage.yml any more; return what is said of it."""
    said = []
    for team in _left(process.environment.home, process.settings.by_team()):
        try:
            said += [line] if (line := _end(process, team)) else []
        except (ConfigError, ProviderError, StoreError) as error:
            said.append(f"The open threads of the removed team {team} could not be closed: {error}")
    return said


def _left(home: Path, teams: Collection[str]) -> list[str]:
    """Return the teams that have a directory and are not in the file; what the link leads to may be the one team's.

    The one team of a file without `teams` is among them where it worked in between: then nothing was handed over.
    """
    folder = home / TEAMS
    found = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if home.resolve() not in {(folder / name).resolve() for name in found}:
        found.append(DEFAULT_TEAM)
    in_use = {name for name in found if (folder / name).is_symlink() and DEFAULT_TEAM in teams}
    return [name for name in found if name not in teams and name not in in_use]


def _end(process: ProcessServices, team: str) -> str | None:
    """Close what a team left open; its cards are changed where they stand."""
    threads = Threads(process.engine.store(process.environment.of_team(team).home).documents).open_threads()
    if not threads:
        return None
    place = next((state.card_channel for state in threads if state.card_channel), process.settings.ops_channel)
    settings = process.settings.model_copy(
        update={"teams": {}, "sessions": {}, "watched_chats": (), "approvers": (), "ops_channel": place}
    )
    shared = open_shared_services(process, team, settings)
    closed, behind = end_threads(shared.desk, REMOVED.format(team=team))
    late = f"; {behind} of their cards could not be changed" if behind else ""
    return f"The team {team} is no longer in triage.yml: {closed} open threads of it were closed{late}."
