"""Assigns data directories: a single team's data goes to the first team; a removed team's open work is ended."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bot.adapters.process.terminals import choose_terminal
from bot.adapters.storage.files.atomic_write import list_files
from bot.casework.team_ending import TeamEnd, drop_jobs, end_team, opening, waiting_questions
from bot.composition.process_services import ProcessServices
from bot.composition.shared_services import SharedServices
from bot.config.environment import TEAMS, team_home
from bot.config.settings import Settings
from bot.config.team_settings import DEFAULT_TEAM
from bot.errors import ConfigError, ProviderError, StoreError, refusal, refused
from bot.ports import Engine, Store
from bot.ports.collections import EVENTS, FIXES, HANDED_OVER, THREADS, SingleDocument
from bot.ports.collections import Collection as Stored
from bot.ports.threads import Threads
from bot.runtime.config_reload import rename_refused

log = logging.getLogger(__name__)

REMOVED: Final = "the team {team} is no longer in triage.yml"
"""Why a thread of a team that is gone was closed."""

_HANDED_OVER: Final = "There are several teams now; what was known until today belongs to {team}."


def check_team_folders(home: Path, teams: Iterable[str]) -> None:
    """Return if the folder of the teams, and those of these teams, can be used or do not exist yet.

    Raises:
        StoreError: one is no folder, cannot be read, or belongs to another user.
    """
    folder = home / TEAMS
    for path in (folder, *(folder / team for team in teams)):
        if not os.path.lexists(path):
            continue
        try:
            owner = path.stat().st_uid
            list(path.iterdir())
        except NotADirectoryError as error:
            raise StoreError(f"{path} is no folder; move it away: `mv {path} {path}.old`") from error
        except OSError as error:
            raise refusal(f"cannot read {path}", error, "make it a folder of the user who runs triage") from error
        if owner != os.geteuid():
            raise StoreError(
                f"{path} belongs to another user (uid {owner}); run triage as that user, or give it to the one who"
                f" runs triage: `chown -R {os.geteuid()} {path}`"
            )


def refuse_renamed(home: Path, settings: Settings, engine: Engine) -> None:
    """Return unless a new team has the ops channel where a team that is gone left open threads; raises ConfigError."""
    known = engine.teams()
    new = {name: one.ops_channel for name, one in settings.teams.items() if name not in known}
    left = set(_left(known, home, settings.by_team())) - {DEFAULT_TEAM} if new else ()
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


def end_removed(process: ProcessServices) -> list[str]:
    """Close the open threads of teams that are not in triage.yml any more; return what is said of it."""
    said = []
    for team in _left(process.engine.teams(), process.environment.home, process.settings.by_team()):
        if _is_elsewhere(process, team):  # a replica with another triage.yml works for it
            continue
        try:
            said += [line] if (line := _end(process, team)) else []
        except (ConfigError, ProviderError, StoreError) as error:
            said.append(f"The open threads of the removed team {team} could not be closed: {error}")
    return said


def _is_elsewhere(process: ProcessServices, team: str) -> bool:
    leases = process.engine.leases(process.environment.of_team(team).home)
    return process.engine.is_shared and leases.holder("duty.questions") is not None


def _left(known: Sequence[str], home: Path, teams: Collection[str]) -> list[str]:
    """Return the teams that left something and are not in the file; what the link leads to may be the one team's.

    The one team of a file without `teams` is among them where it worked in between: then nothing was handed over.
    """
    folder, found = home / TEAMS, list(known)
    if home.resolve() not in {(folder / name).resolve() for name in found}:
        found += [DEFAULT_TEAM] * _was_used(home)
    in_use = {name for name in found if (folder / name).is_symlink() and DEFAULT_TEAM in teams}
    return [name for name in found if name not in teams and name not in in_use]


def _end(process: ProcessServices, team: str) -> str | None:
    """Close what a team left open; its cards are changed where they stand."""
    home = process.environment.of_team(team).home
    documents = process.engine.store(home).documents
    known = Threads(documents)
    threads = known.open_threads()
    ended = (known.last_closed(fix.thread_id) for fix in opening(Stored(documents, FIXES)))
    left = [*threads, *(state for state in ended if state is not None)]
    terminal = choose_terminal(home)
    for session in terminal.sessions():
        terminal.end(session)  # nobody waits for it any more
    if not left:
        return _drop_queue(process, team)
    place = next((state.card_channel for state in left if state.card_channel), process.settings.ops_channel)
    settings = process.settings.model_copy(
        update={"teams": {}, "sessions": {}, "watched_chats": (), "approvers": (), "ops_channel": place}
    )
    shared = SharedServices(process, team, settings)
    try:
        return end_team(shared.service, shared.fixes.store, REMOVED.format(team=team)).words(team)
    finally:
        shared.jobs.close()


def _drop_queue(process: ProcessServices, team: str) -> str | None:
    """Drop what waits for a team without an open thread: nobody knows its ops channel, and no other may see more."""
    jobs = process.engine.jobs(process.environment.of_team(team).home, process.clock, changed=process.jobs_changed)
    try:
        asked = waiting_questions(jobs, set())
        drop_jobs(jobs)
    finally:
        jobs.close()
    return TeamEnd(dropped=len(asked)).words(team) if asked else None
