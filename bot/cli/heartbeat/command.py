"""`triage heartbeat …`: what `/triage heartbeat` does, from the data directory; works beside a running bot.

Switches are read by the bot at its next tick; `run`, `wake` and `assign` leave a wake that the bot finds, or that
waits for it. Also the sessions of one data directory, for all commands that list and change them.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from bot.adapters.process.clocks import SystemClock, local_zone
from bot.adapters.storage.files.file_leases import FileLeases
from bot.cli.arguments import prints
from bot.cli.data_directory import environment_at, settings_at, store_at
from bot.cli.options import json_option
from bot.cli.output import WIDTH, cut, to_json, wrapped
from bot.cli.verb_group import VerbGroup
from bot.config.environment import process_home
from bot.domain.heartbeats.beats import Envelope, Wake
from bot.domain.heartbeats.session_state import ChangedBy
from bot.heartbeat.schedule.session_controls import SessionControls, SessionRow, rows
from bot.heartbeat.schedule.session_wording import (
    NO_BEAT,
    NO_SESSIONS,
    beat_words,
    beside_ok_today,
    describe_session,
    heading,
    path_lines,
    status_of,
)
from bot.heartbeat.sessions.owners import OwnerZones
from bot.heartbeat.sessions.session_inbox import SessionInbox, WakeBox
from bot.heartbeat.sessions.session_registry import BeatLog, Session, SessionMemory, SessionRegistry
from bot.ports.collections import HEARTBEATS, HOME, OVERRIDES, Collection

LOG_LINES: Final = 20
EARLIER: Final = 4
_STEP_COLUMN: Final = 14
"""Where the detail of a step begins."""

session_argument = click.argument("session")


class WatchedSessions:
    """The sessions of one data directory and what is stored of them, without the bot and beside it.

    Raises ConfigError where triage.yml or the environment cannot be used.
    """

    def __init__(self, home: Path | None, config: Path | None) -> None:
        self.environment = environment_at(home)
        self.home, self.clock = self.environment.home, SystemClock()
        self.storage = store_at(self.home, is_reader=False)
        self.documents = self.storage.documents
        self.overrides = Collection(self.documents, OVERRIDES, on_damage=report_damage)
        self.registry = SessionRegistry(settings_at(config, self.home).sessions, self.overrides)
        self.states = SessionMemory(self.storage, on_damage=report_damage)
        self.zones = OwnerZones(None, self.clock, local=local_zone(self.environment.variables))


def report_damage(where: str) -> None:
    """Say on stderr that a file could not be read and where it lies now."""
    path = Path(where)
    print(f"triage: {path.parent} held a file that could not be read; it was set aside as {path.name}", file=sys.stderr)


class HeartbeatCli(WatchedSessions):
    """The sessions' beats and switches."""

    def __init__(self, home: Path | None, config: Path | None) -> None:
        super().__init__(home, config)
        self.now = datetime.now(UTC)
        self.by = ChangedBy(id="terminal", name=getpass.getuser(), at=self.now)
        self.record = BeatLog(self.storage.journal(HEARTBEATS))
        self.controls = SessionControls(self.registry, self.overrides, self.drop, cancel=lambda _: False)

    def drop(self, session_id: str, wake: Wake) -> str:
        """Leave a wake for the bot; return what becomes of it."""
        WakeBox(self.documents).drop(session_id, wake)
        process = FileLeases(process_home(self.home)).holder(HOME)
        if process is None:
            return f"triage is not running on {self.home}; the beat of {session_id} starts when it does: triage run"
        return f"triage (process {process}) starts it in a few seconds. Next: triage heartbeat why {session_id}"

    def beside_ok(self, session: Session) -> list[str]:
        """Return what stood with OK since midnight, in the session's zone as far as it is known here."""
        return beside_ok_today(self.record, session.id, self.now, self.zones.zone_name(session), may_read=True)


@click.group("heartbeat", cls=VerbGroup, help="Sessions and their beats.")
def command() -> None:
    """Hold the verbs."""


@command.command("list", help="every session: interval and status")
@json_option
@prints(HeartbeatCli)
def list_sessions(bench: HeartbeatCli, as_json: bool) -> str:
    """Return the sessions."""
    found = rows(bench.registry, bench.states, bench.zones, bench.record, bench.now)
    return to_json([_row_json(row) for row in found]) if as_json else render_list(found, bench.now)


@command.command("on", help="switch a session on")
@session_argument
@prints(HeartbeatCli)
def switch_on(bench: HeartbeatCli, session: str) -> str:
    """Switch on from the bot's next tick."""
    return bench.controls.switch(session, bench.by, on=True)


@command.command("off", help="switch a session off")
@session_argument
@prints(HeartbeatCli)
def switch_off(bench: HeartbeatCli, session: str) -> str:
    """Switch off from the bot's next tick."""
    return bench.controls.switch(session, bench.by, on=False)


@command.command("every", help="set the interval: 15m, 2h, or default for the one in triage.yml")
@session_argument
@click.argument("interval")
@prints(HeartbeatCli)
def set_interval(bench: HeartbeatCli, session: str, interval: str) -> str:
    """Set an interval over the one of triage.yml."""
    return bench.controls.pace(session, interval, bench.by)


@command.command("run", help="run a beat now")
@session_argument
@prints(HeartbeatCli)
def run(bench: HeartbeatCli, session: str) -> str:
    """Leave a wake on demand."""
    return bench.controls.run(session, Wake.ON_DEMAND)


@command.command("wake", help="run a beat now, recorded as asked by a program")
@session_argument
@prints(HeartbeatCli)
def wake(bench: HeartbeatCli, session: str) -> str:
    """Leave a wake of a program."""
    return bench.controls.run(session, Wake.AUTOMATION)


@command.command("assign", help="give a session something to look into, now")
@session_argument
@click.argument("text", nargs=-1, required=True, help="what to look into, at most 2,000 characters")
@prints(HeartbeatCli)
def assign(bench: HeartbeatCli, session: str, text: tuple[str, ...]) -> str:
    """Leave a message in the inbox, and a wake."""
    inbox = SessionInbox(bench.registry, bench.states, bench.drop, bench.environment.secrets())
    return wrapped(inbox.assign(session, " ".join(text), bench.by))


@command.command("log", help="a session's latest beats")
@session_argument
@json_option
@prints(HeartbeatCli)
def log(bench: HeartbeatCli, session: str, as_json: bool) -> str:
    """Return the latest beats."""
    beats = bench.record.recent(bench.registry.get(session).id, LOG_LINES)
    return _beats_json(beats) if as_json else render_log(beats) if beats else _no_beat(session)


@command.command("why", help="a session's latest beat, step by step")
@session_argument
@json_option
@prints(HeartbeatCli)
def why(bench: HeartbeatCli, session: str, as_json: bool) -> str:
    """Return the steps of the latest beat."""
    found = bench.registry.get(session)
    beats = bench.record.recent(found.id, 1 + EARLIER)
    if as_json:
        return _beats_json(beats)
    return render_why(beats, bench.beside_ok(found)) if beats else _no_beat(session)


def _no_beat(session_id: str) -> str:
    return f"{session_id} {NO_BEAT} Next: triage heartbeat run {session_id}"


def _beats_json(beats: Sequence[Envelope]) -> str:
    return to_json([beat.model_dump(mode="json") for beat in beats])


def render_list(found: Sequence[SessionRow], now: datetime) -> str:
    """Return the sessions, at most 80 columns wide."""
    if not found:
        return wrapped(NO_SESSIONS)
    width = min(24, max(len(row.id) for row in found))
    lines: list[str] = []
    for row in found:
        lead, indent = f"{row.id:<{width}} {status_of(row):<6} ", " " * (width + 8)
        first, *rest = describe_session(row, now)
        lines += [wrapped(first, lead=lead), *(wrapped(line, lead=indent) for line in rest)]
    return "\n".join([*lines, "", f"Next: triage heartbeat why {found[0].id}"])


def render_log(beats: Sequence[Envelope]) -> str:
    """Return the latest beats, newest first, a line of at most 80 columns each; times are UTC."""
    return "\n".join(_beat_line(beat) for beat in beats)


def render_why(beats: Sequence[Envelope], beside_ok: Sequence[str]) -> str:
    """Return the way of the latest beat, on a line each the ones before it, and what stood with OK."""
    latest, *earlier = beats
    before = ["", "before it:", *map(_beat_line, earlier)] if earlier else []
    way = map(_wrapped_step, path_lines(latest, may_read=True))
    remarks = ["", *map(wrapped, beside_ok)] if beside_ok else []
    return "\n".join([wrapped(heading(latest)), *way, *before, *remarks])


def _beat_line(beat: Envelope) -> str:
    return cut(f"{beat.ts:%d %b %H:%M}  {beat_words(beat, may_read=True)}")


def _wrapped_step(line: str) -> str:
    """Return a step of the way, its detail kept in its column."""
    lead, detail = line[:_STEP_COLUMN], line[_STEP_COLUMN:]
    return wrapped(detail, lead=lead) if len(line) > WIDTH else line


def _row_json(row: SessionRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "owner": row.owner or None,
        "master": row.is_master,
        "status": status_of(row),
        "every": row.every,
        "hours": row.hours,
        "last": row.last.model_dump(mode="json") if row.last else None,
        "next_at": row.next_at,
        "open_findings": row.open_findings,
        "open_pages": row.open_pages,
        "notes": row.notes,
    }
