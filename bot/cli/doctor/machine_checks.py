"""The checks of `triage doctor` about this machine: settings, programs, disk, sessions. They write nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from bot.adapters.process.terminals import has_room_for_socket
from bot.adapters.storage.files.file_documents import ALL_COLLECTIONS
from bot.adapters.storage.files.file_leases import FileLeases
from bot.cli.doctor.context import PATIENCE_S, DoctorContext, HealthCheck, NotReady, well, wrong
from bot.config.environment import process_home
from bot.config.home import find_config
from bot.config.session_settings import SessionSettings, unreachable
from bot.domain.text.humanize import counted
from bot.errors import ConfigError
from bot.heartbeat.playbooks.playbook_file import PlaybookFile
from bot.heartbeat.schedule.scheduler import TRACKED
from bot.heartbeat.schedule.session_controls import playbook_faults
from bot.heartbeat.session_registry import resolve_session
from bot.intake.presence import connection_state, read_presence
from bot.ports.collections import HOME
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
