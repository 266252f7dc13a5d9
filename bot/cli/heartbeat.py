"""`triage heartbeat …`: what `/triage heartbeat` does, from the data directory; works beside a running bot.

Switches are read by the bot at its next tick; `run`, `wake` and `assign` leave a wake that the bot finds, or that
waits for it.
"""

from __future__ import annotations

import argparse
import getpass
import json
import sys
import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bot.adapters.process.system_clock import SystemClock, local_zone
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_leases import running_process
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.session_files import SessionFiles
from bot.cli.output import WIDTH, CommandParser, wrapped
from bot.config.environment import Environment, read_environment
from bot.config.settings import find_config, load_settings
from bot.domain.heartbeats.beats import Envelope, Wake
from bot.domain.heartbeats.session_state import ChangedBy
from bot.heartbeat.schedule.beat_log import BeatLog
from bot.heartbeat.schedule.session_controls import SessionControls
from bot.heartbeat.schedule.session_overview import SessionRow, rows
from bot.heartbeat.schedule.session_wording import (
    beat_line,
    beside_ok_lines,
    describe_session,
    heading,
    midnight_in,
    path_lines,
    status_of,
)
from bot.heartbeat.schedule.wake_box import WakeBox
from bot.heartbeat.sessions.assignments import Assigning
from bot.heartbeat.sessions.owner_zones import OwnerZones
from bot.heartbeat.sessions.session_inbox import SessionInbox
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from bot.ports.collections import OVERRIDES, Collection

LOG_LINES: Final = 20
_STEP_COLUMN: Final = 13
"""Where the detail of a step begins."""
EARLIER: Final = 4
_HELP: Final = {
    "list": "every session: how often, how it stands",
    "on": "switch a session on",
    "off": "switch a session off",
    "every": "how often a session beats: 15m, 2h, or default for what triage.yml says",
    "run": "a beat now, as if you asked for it",
    "wake": "a beat now, as if a machine asked for it",
    "assign": "give a session something to look into, now",
    "log": "a session's latest beats",
    "why": "the way a session's latest beat went",
}


class HeartbeatCli:
    """The sessions of one data directory, without the bot."""

    def __init__(self, environment: Environment, config: Path | None) -> None:
        self.home = environment.home
        settings = load_settings(find_config(config, self.home))
        self.documents = FileDocuments(self.home)
        self.overrides = Collection(self.documents, OVERRIDES, on_damage=_report)
        self.sessions = SessionRegistry(settings.sessions, self.overrides)
        self.store = SessionFiles(self.home, on_damage=_report)
        self.record = BeatLog(NdjsonJournal(self.home / "heartbeats.ndjson"))
        self.zones = OwnerZones(None, SystemClock(), local=local_zone(environment.variables))
        self.controls = SessionControls(self.sessions, self.overrides, self.drop, cancel=lambda _: False)
        self.assigning = Assigning(
            self.sessions, SessionInbox(self.sessions, self.store, self.drop), environment.secrets()
        )

    def drop(self, session_id: str, wake: Wake) -> str:
        """Leave a wake for the bot; return what becomes of it."""
        WakeBox(self.documents).drop(session_id, wake)
        process = running_process(self.home)
        if process is None:
            return f"No triage runs on {self.home}; the beat of {session_id} starts when one does: triage run"
        return f"triage (process {process}) starts it in a few seconds. Next: triage heartbeat why {session_id}"


def main(argv: list[str]) -> int:
    """Carry out one verb and print what came of it; exit code 0.

    Raises:
        ConfigError: triage.yml or the environment cannot be used.
        InputError: there is no such session, or no such interval.
        StoreError: the data directory cannot be read or written.
    """
    args = parser().parse_args(argv)
    environment = read_environment(dotenv=Path(".env"))
    if args.home:
        environment = environment.model_copy(update={"home": args.home})
    bench = HeartbeatCli(environment, args.config)
    now = datetime.now(UTC)
    if args.verb in ("list", "log", "why"):
        print(_shown(bench, args, now))
        return 0
    by = ChangedBy(id="terminal", name=getpass.getuser(), at=now)
    print(_done(bench, args, by).replace("/triage", "triage"))
    return 0


def _done(bench: HeartbeatCli, args: argparse.Namespace, by: ChangedBy) -> str:
    controls = bench.controls
    if args.verb == "assign":
        return wrapped(bench.assigning.assign(args.session, " ".join(args.text), by))
    if args.verb == "every":
        return controls.pace(args.session, args.interval, by)
    if args.verb in ("run", "wake"):
        return controls.run(args.session, Wake(args.reason) if args.verb == "wake" else Wake.ON_DEMAND)
    return controls.switch(args.session, by, on=args.verb == "on")


def _shown(bench: HeartbeatCli, args: argparse.Namespace, now: datetime) -> str:
    if args.verb == "list":
        found = rows(bench.sessions, bench.store, bench.zones, bench.record, now)
        return _json([_row_json(row) for row in found]) if args.json else render_list(found, now)
    session = bench.sessions.get(args.session)
    beats = bench.record.recent(session.id, LOG_LINES if args.verb == "log" else 1 + EARLIER)
    if args.json:
        return _json([beat.model_dump(mode="json") for beat in beats])
    if not beats:
        return f"{session.id} has no beat on record yet. Next: triage heartbeat run {session.id}"
    return render_log(beats) if args.verb == "log" else render_why(beats, _beside_ok(bench, session, now))


def _beside_ok(bench: HeartbeatCli, session: Session, now: datetime) -> list[str]:
    """Return what stood beside OK since midnight, in the session's zone as far as it is known here."""
    zone = bench.zones.name(session)
    return beside_ok_lines(bench.record.since(session.id, midnight_in(zone, now)), now, zone, may_read=True)


def render_list(found: Sequence[SessionRow], now: datetime) -> str:
    """Return the sessions, at most 80 columns wide."""
    if not found:
        return "No sessions are configured; add one under sessions: in triage.yml."
    width = min(24, max(len(row.id) for row in found))
    lines: list[str] = []
    for row in found:
        lead, indent = f"{row.id:<{width}} {status_of(row):<6} ", " " * (width + 8)
        said = "\n".join(textwrap.fill(line, WIDTH - len(indent)) for line in describe_session(row, now))
        lines.append(lead + textwrap.indent(said, indent).removeprefix(indent))
    return "\n".join([*lines, "", f"Next: triage heartbeat why {found[0].id}"])


def render_log(beats: Sequence[Envelope]) -> str:
    """Return the latest beats, newest first, a line of at most 80 columns each; times are UTC."""
    return "\n".join(_cut(beat_line(beat, may_read=True)) for beat in beats)


def render_why(beats: Sequence[Envelope], beside_ok: Sequence[str] = ()) -> str:
    """Return the way of the latest beat, on a line each the ones before it, and what stood beside OK."""
    latest, *earlier = beats
    before = ["", "before it:", *(_cut(beat_line(beat, may_read=True)) for beat in earlier)] if earlier else []
    way = map(_wrapped_step, path_lines(latest, may_read=True))
    remarks = ["", *map(wrapped, beside_ok)] if beside_ok else []
    return "\n".join([wrapped(heading(latest)), *way, *before, *remarks])


def _wrapped_step(line: str) -> str:
    """Return a step of the way, its detail kept in its column."""
    lead, detail = line[:_STEP_COLUMN], line[_STEP_COLUMN:]
    return wrapped(detail, lead=lead) if len(line) > WIDTH else line


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    shared = CommandParser(add_help=False)
    shared.add_argument("--home", type=Path, help="data directory (default: TRIAGE_HOME, then ~/.triage)")
    shared.add_argument("--config", type=Path, help="default: ./triage.yml, then triage.yml in the data directory")
    found = CommandParser(prog="triage heartbeat", description="Sessions and their beats.")
    verbs = found.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, what in _HELP.items():
        verb = verbs.add_parser(name, help=what, description=what, parents=[shared])
        if name != "list":
            verb.add_argument("session")
        if name == "every":
            verb.add_argument("interval")
        if name == "assign":
            verb.add_argument("text", nargs="+", help="what to look into, at most 2,000 characters")
        if name == "wake":
            reasons = [Wake.AUTOMATION.value, Wake.ON_DEMAND.value]
            verb.add_argument("--reason", choices=reasons, default=Wake.AUTOMATION.value)
        if name in ("list", "log", "why"):
            verb.add_argument("--json", action="store_true", help="for programs")
    return found


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


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def _report(where: str) -> None:
    path = Path(where)
    print(f"triage: {path.parent} held a file that could not be read; it was set aside as {path.name}", file=sys.stderr)
