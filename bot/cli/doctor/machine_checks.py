"""The checks of `triage doctor` about this machine: settings, programs, disk, sessions. They write nothing.

The checks of `triage doctor` about the bot itself, from what it left in its data directory.

They need neither the network nor a bot that runs, and write nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.file_documents import ALL_COLLECTIONS
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.terminals import has_room_for_socket
from bot.casework.pause import read_pause
from bot.casework.reports.measures import time_of
from bot.casework.reports.status_overview import tail
from bot.cli.doctor.context import PATIENCE_S, DoctorContext, HealthCheck, NotReady, well, wrong
from bot.config.environment import process_home
from bot.config.heartbeat_settings import SessionSettings, unreachable
from bot.config.home import find_config
from bot.domain.events import record_key
from bot.domain.text.humanize import counted, time_ago
from bot.errors import ConfigError
from bot.heartbeat.playbook_file import PlaybookFile
from bot.heartbeat.scheduler import TRACKED
from bot.heartbeat.session_controls import playbook_faults
from bot.heartbeat.session_registry import resolve_session
from bot.intake.presence import connection_state, describe_presence, read_presence
from bot.ports import Store, collections, feature_collections
from bot.ports.collections import CLASSIFIED, EVENTS, HOME, Collection, CollectionSpec
from bot.ports.migrations import SCHEMA_VERSION, refuse_newer
from bot.release import program_version

LOW_BYTES: Final = 1024**3


def release(context: DoctorContext) -> HealthCheck:
    """Whether this release can read what is stored; raises StoreError where it cannot."""
    refuse_newer(context.store().documents, ALL_COLLECTIONS)
    return well(f"triage {program_version()}, which writes schema {SCHEMA_VERSION}")


def config(context: DoctorContext) -> HealthCheck:
    """Whether triage.yml can be used, and which of its keys are ignored because they were removed."""
    try:
        settings = context.settings()
    except NotReady as error:
        fix = "fix that, or write a new one with `triage init`"
        return wrong("; ".join(error.problems), fix)
    by_team = settings.by_team().values()
    chats, sessions = sum(len(team.watched_chats) for team in by_team), len(settings.sessions)
    teams = f"{counted(len(by_team), 'team')}, " if settings.teams else ""
    path = find_config(context.config, process_home(context.home))
    found = f"{path}: {teams}{counted(chats, 'watched chat')}, {counted(sessions, 'session')}"
    return well("; ".join([found, *settings.removed_keys]))


def modes(context: DoctorContext) -> HealthCheck:
    """Whether nobody else reads .env or the data directory, or may change triage.yml, a group included."""
    closed = {Path(".env"): 0o077, context.home: 0o077}
    with suppress(ConfigError):  # another check says so
        closed[find_config(context.config, process_home(context.home))] = 0o022
    open_ = [path for path, forbidden in closed.items() if path.exists() and path.stat().st_mode & forbidden]
    if not open_:
        return well("nobody else can read .env and the data directory, or change triage.yml")
    fixes = [f"chmod {'go-rwx' if closed[path] == 0o077 else 'go-w'} {path}" for path in open_]
    return wrong(f"open to other users of this machine: {', '.join(map(str, open_))}", " && ".join(fixes))


def lock(context: DoctorContext) -> HealthCheck:
    """Whether the process that has locked the data directory is the bot that says it runs."""
    store = context.store()
    if context.environment.database_url is not None:
        return well("not needed: replicas share a database")
    holder = FileLeases(process_home(context.home)).holder(HOME)
    is_up = connection_state(read_presence(store.machine), context.now) in ("up", "down")
    if holder is None:
        return well("free")
    if is_up:
        return well(f"held by the bot, process {holder}")
    return wrong(f"held by process {holder}, which does not work as a bot", f"see what it is: ps -fp {holder}")


def tmux(context: DoctorContext) -> HealthCheck:
    """Whether long investigations can be attached to; without tmux they are followed with `tail -f`."""
    if shutil.which("tmux") is None:
        return well("not installed; long investigations run as plain processes (tail -f)")
    if not has_room_for_socket(context.home):
        return well("TRIAGE_HOME's path is too long for its socket; plain processes are used")
    done = _run("tmux", "-V")
    fix = "reinstall tmux, or remove it: plain processes work too"
    return HealthCheck(ok=done is not None, says=done or "tmux does not start", fix="" if done else fix)


def disk(context: DoctorContext) -> HealthCheck:
    """Whether the data directory can be written, has room for bytes and files."""
    home = next(path for path in (context.home, *context.home.parents) if path.exists())
    system = os.statvfs(home)
    if system.f_flag & os.ST_RDONLY:
        return wrong(f"the file system of {home} is read-only", "make it writable; `dmesg` may say why it is not")
    if system.f_files and not system.f_favail:
        return wrong(
            f"no inode is free at {home}: no file can be made", "remove files; `df -i` shows how many there are"
        )
    if not os.access(home, os.W_OK | os.X_OK):
        return wrong(f"cannot write to {home}", "run this, and the bot, as its owner")
    free = shutil.disk_usage(home).free
    says = f"{free / 1024**3:.2f} GiB free at {home}"
    if free < LOW_BYTES:
        fix = "free space; a shorter `keep_runs_for` removes old records of runs, and index/ is a cache"
        return wrong(says, fix)
    return well(says)


def sessions(context: DoctorContext) -> HealthCheck:
    """Whether every session has its folder and a playbook that can be read."""
    watched = context.settings().sessions
    has_telegram = context.environment.telegram_bot_token is not None
    problems = list(filter(None, (_session_problem(*one, has_telegram=has_telegram) for one in watched.items())))
    if problems:
        return wrong("; ".join(problems), "fix that; triage heartbeat list shows the sessions")
    waiting = [name for name, one in watched.items() if PlaybookFile(one.cwd).peek() is None]
    new = f"; the first check writes a playbook for {', '.join(waiting)}" if waiting else ""
    return well(f"{counted(len(watched), 'session')}{new}" if watched else "none are configured: no heartbeats")


def _session_problem(name: str, session: SessionSettings, *, has_telegram: bool) -> str | None:
    if not session.cwd.is_dir():
        return f"{name}: {session.cwd} is no folder"
    if session.heartbeat.enabled and session.heartbeat.deliver.mode == "last" and session.owner is None:
        return f"{name}: it has no `owner`, so its checks are skipped"
    if (why := unreachable(name, session.heartbeat.deliver, has_telegram=has_telegram)) is not None:
        return f"{name}: {why}"
    if not session.heartbeat.allow_tracked_playbook and PlaybookFile(session.cwd).is_tracked():
        return f"{name}: {TRACKED}"
    found = playbook_faults(resolve_session(name, session)).values()
    return next((f"{name}: {fault}" for fault in found), None)


def _run(*argv: str) -> str | None:
    """Return what a program says, None where it fails or takes too long."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed argument lists
            argv, capture_output=True, text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip() or argv[0]


SORTING_TAKES = timedelta(minutes=1)
"""How long a message may stand in the journal before the rules have looked at it."""

MAX_NAMED: Final = 5
_TYPED: Final[Mapping[str, CollectionSpec[Any]]] = {
    one.name: one
    for one in (vars(collections) | vars(feature_collections)).values()
    if isinstance(one, CollectionSpec) and one.name in ALL_COLLECTIONS
}


def process_check(store: Store, now: datetime) -> HealthCheck:
    """Whether a bot runs on this data directory."""
    seen = read_presence(store.machine)
    match connection_state(seen, now):
        case "up" | "down":
            assert seen is not None
            return well(f"process {seen.pid}, started {time_ago(now, seen.started_at)}")
        case "stuck":
            return wrong(describe_presence(seen, now), "restart it: kill the process, then `triage run`")
        case _:
            return wrong(describe_presence(seen, now), "start it with `triage run`, best as a service")


def connection_check(store: Store, now: datetime) -> HealthCheck:
    """Whether Slack is heard; only a living process can say."""
    seen = read_presence(store.machine)
    match connection_state(seen, now):
        case "up":
            return well(describe_presence(seen, now))
        case "down":
            fix = "see the reason given; check the network, SLACK_APP_TOKEN and that Socket Mode is on for the app"
            return wrong(describe_presence(seen, now), fix)
        case _:
            return wrong("not connected: the bot is not running", "start it with `triage run`")


def journal_check(store: Store, now: datetime) -> HealthCheck:
    """Whether the journals can be read, and what was heard has been sorted."""
    heard, sorted_ = tail(store, EVENTS), tail(store, CLASSIFIED)
    if not heard:
        return well("no message heard yet")
    last, done = heard[-1], {record_key(record) for record in sorted_}
    at = time_of(last.get("create_time"))
    says = f"last message written {time_ago(now, at)}" if at else "the last message has no time"
    if record_key(last) in done or (at is not None and now - at < SORTING_TAKES):
        classified = time_of(sorted_[-1].get("classified_at")) if sorted_ else None
        return well(f"{says}, last classified {time_ago(now, classified)}" if classified else says)
    fix = "restart the bot; if this happens again, look for `tick_waits` in its log and free disk space"
    return wrong(f"{says}, and it was not classified", fix)


def classifier_check(store: Store, now: datetime) -> HealthCheck:
    """When the rules last looked at a message."""
    sorted_ = [record for record in tail(store, CLASSIFIED) if record.get("classifier_version")]
    if not sorted_:
        return well("nothing classified yet")
    at, version = time_of(sorted_[-1].get("classified_at")), sorted_[-1].get("classifier_version")
    return well(f"version {version}, last classified {time_ago(now, at)}" if at else f"version {version}")


def records_check(store: Store) -> HealthCheck:
    """Whether every record can be read; what was set aside is named until somebody removes it."""
    documents = store.documents
    typed = {name: Collection(documents, spec).parsed() for name, spec in _TYPED.items()}
    plain = ((name, {one.id: one.value for one in documents.list(name)}) for name in ALL_COLLECTIONS - typed.keys())
    unread = [
        documents.place(name, doc_id)
        for name, held in (*typed.items(), *sorted(plain))
        for doc_id, value in held.items()
        if value is None
    ]
    if unread:
        fix = "put it back from a backup, or leave it: the bot sets it aside at its next start, or when it needs it"
        return wrong(f"cannot be read: {_named(unread)}", fix)
    aside = list(dict.fromkeys(one.name for name in ALL_COLLECTIONS for one in documents.damaged(name)))
    if aside:
        return HealthCheck(ok=True, says=f"set aside earlier: {_named(aside)}", fix="look at it, then remove it")
    return well("every record can be read")


def _named(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def pause_check(store: Store) -> HealthCheck:
    """Whether somebody paused the bot: on purpose, so nothing is wrong, but easily forgotten."""
    pause = read_pause(store.documents)
    if pause is None:
        return well("not paused")
    return HealthCheck(ok=True, says=f"{pause.words()}; questions wait", fix="to resume: `triage resume`")
