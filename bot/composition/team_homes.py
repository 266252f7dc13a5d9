"""Assigns data directories: a single team's data goes to the first of several; nobody's goes to a renamed one."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import list_files
from bot.config.environment import TEAMS, team_home
from bot.config.home import DEFAULT_TEAM
from bot.config.settings import Settings
from bot.errors import ConfigError, refused
from bot.ports import Engine, Store
from bot.ports.collections import EVENTS, HANDED_OVER, THREADS, SingleDocument
from bot.ports.threads import Threads
from bot.runtime.config_reload import rename_refused

_HANDED_OVER: Final = "There are several teams now; what was known until today belongs to {team}."


def refuse_renamed(home: Path, settings: Settings, engine: Engine) -> None:
    """Return unless a new team has the ops channel where a team that is gone left open threads; raises ConfigError."""
    known = engine.teams()
    new = {name: one.ops_channel for name, one in settings.teams.items() if name not in known}
    left = set(teams_left(known, home, settings.by_team())) - {DEFAULT_TEAM} if new else ()
    problems = []
    for old in sorted(left):
        threads = Threads(engine.store(team_home(home, old), is_reader=True).documents).open_threads()
        channels = {state.card_channel for state in threads}
        problems += [rename_refused(old, name) for name, ops_channel in new.items() if ops_channel in channels]
    if problems:
        raise ConfigError(*problems)


def hand_over(engine: Engine, home: Path, settings: Settings) -> str | None:
    """Give what one team left in the data directory to the first of several; return what is said of it.

    Done once, by a link `teams/<first>` to the directory itself, and for good: teams may change their order. Where
    replicas share what it left, each makes the link that the first one wrote down.

    Raises:
        StoreError: the link cannot be made, or the database does not answer.
    """
    folder, first = home / TEAMS, next(iter(settings.teams), None)
    if first is None:
        return None
    if engine.is_shared:
        return _hand_over_once(engine.store(home), folder, first)
    if folder.exists() or not _was_used(home):
        return None
    new = home / f".{TEAMS}.new"
    with refused(f"cannot make {folder}", "check the disk and the folder's owner"):
        shutil.rmtree(new, ignore_errors=True)  # of a start that was killed here
        new.mkdir(mode=0o700)
        (new / first).symlink_to("..", target_is_directory=True)
        new.rename(folder)
    return _HANDED_OVER.format(team=first)


def _hand_over_once(store: Store, folder: Path, first: str) -> str | None:
    written, is_news = SingleDocument(store.documents, HANDED_OVER), False
    if "to" not in written.read():
        was_used = any(True for _ in store.journal(EVENTS).newest_first()) or bool(store.documents.list(THREADS.name))

        def note(known: Mapping[str, Any]) -> Mapping[str, Any]:
            nonlocal is_news
            is_news = "to" not in known and was_used
            return known if "to" in known else {**known, "to": first if was_used else ""}

        written.change(note)
    to = str(written.read()["to"])
    if to and not (folder / to).exists():
        with refused(f"cannot make {folder / to}", "check the disk and the folder's owner"):
            folder.mkdir(mode=0o700, exist_ok=True)
            (folder / to).symlink_to("..", target_is_directory=True)
    return _HANDED_OVER.format(team=to) if is_news else None


def _was_used(home: Path) -> bool:
    return (home / "events.ndjson").exists() or bool(list_files(home / "state", "*.json"))


def teams_left(known: Sequence[str], home: Path, teams: Collection[str]) -> list[str]:
    """Return the teams that left something and are not in the file; what the link leads to may be the one team's.

    The one team of a file without `teams` is among them where it worked in between: then nothing was handed over.
    """
    folder, found = home / TEAMS, list(known)
    if home.resolve() not in {(folder / name).resolve() for name in found}:
        found += [DEFAULT_TEAM] * _was_used(home)
    in_use = {name for name in found if (folder / name).is_symlink() and DEFAULT_TEAM in teams}
    return [name for name in found if name not in teams and name not in in_use]
