"""Whether the bot runs and hears Slack: what its process writes down, and what others read out of it.

Never just "connected": the last sign of life is always named, and a file nobody renews is a bot that does not run.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from bot.domain.text.humanize import WRONG_CLOCK, clock_words, duration, time_ago, utc_text
from bot.errors import StoreError
from bot.ports import Clock, Documents, Store
from bot.ports.collections import PRESENCE, SingleDocument
from bot.ports.migrations import migrated

log = logging.getLogger(__name__)

WRITE_EVERY = timedelta(seconds=10)
OUTDATED = timedelta(seconds=45)
"""After how long without a line of life a process is taken for dead or stuck."""


class Presence(BaseModel):
    """One moment of the running bot."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    pid: int
    host: str
    at: AwareDatetime
    """When this was written."""
    started_at: AwareDatetime
    connected_since: AwareDatetime | None = None
    down_since: AwareDatetime | None = None
    last_event_at: AwareDatetime | None = None
    """When Slack last sent anything: a message, a click, a command."""
    reconnects_today: int = 0
    other_connections: int = 0
    """How many connections of the app Slack counted beside this process's, when it last connected."""
    clock_ahead_s: int = 0
    """How far this machine's clock is ahead of Slack's, as last compared; negative where it is behind."""
    hears: bool = True
    """Whether it is to have a connection: `--only work` leaves Slack to other replicas."""
    problem: str | None = None
    """Why there is no connection, if that is known."""
    stopped_at: AwareDatetime | None = None

    def with_clock(self, ahead: timedelta) -> Presence:
        """Return the same moment with how far this machine's clock is ahead of Slack's."""
        return self.model_copy(update={"clock_ahead_s": round(ahead.total_seconds())})


State = Literal["up", "down", "stuck", "dead", "never"]


def is_due(written_at: datetime | None, now: datetime) -> bool:
    """Whether a sign of life is to be written again; a clock may have gone back since the last one."""
    return written_at is None or not timedelta() <= now - written_at < WRITE_EVERY


def this_process() -> dict[str, Any]:
    """Return how this process is told from others."""
    return {"pid": os.getpid(), "host": socket.gethostname()}


def read_presence(documents: Documents) -> Presence | None:
    """Return what the bot of this data directory wrote last, or None; raises StoreError where it cannot be read."""
    document = documents.get(PRESENCE, PRESENCE)
    try:
        return None if document is None else Presence.model_validate(migrated(documents, PRESENCE, document))
    except ValidationError:
        return None


def own_presence(store: Store) -> Presence | None:
    """Return what the bot of this data directory wrote last, not another replica; raises StoreError.

    Connections that Slack counts beside its own are then those of the other replicas.
    """
    seen = read_presence(store.machine)
    return seen if seen is None or store.shared is None else seen.model_copy(update={"other_connections": 0})


class ReplicaPresence:
    """What replicas know of the last one that heard Slack, and what this one's machine knows of it."""

    def __init__(self, shared: SingleDocument, own: SingleDocument) -> None:
        self._shared, self._own = shared, own

    def read(self) -> Mapping[str, Any]:
        """Return what a replica wrote last, on whatever machine; raises StoreError."""
        return self._shared.read()

    def update(self, keys: Mapping[str, Any]) -> None:
        """Write for both; raises StoreError."""
        self._own.update(keys)
        self._shared.update(keys)


class NoConnection:
    """The line of a process that only works: Slack reaches other replicas. It writes down that it lives."""

    def __init__(self, own: SingleDocument, clock: Clock) -> None:
        now = clock.now()
        self._own, self._clock = own, clock
        self._now = Presence(**this_process(), at=now, started_at=now, hears=False)

    def open(self) -> None:
        """Nothing is opened."""
        self._write()

    def check(self) -> None:
        """Nothing can break."""
        if is_due(self._now.at, self._clock.now()):
            self._write()

    def note_clock(self, ahead: timedelta) -> None:
        """Have the next line of life say how far this machine's clock is ahead of Slack's."""
        self._now = self._now.with_clock(ahead)

    def close(self) -> None:
        """Nothing is open."""
        self._write(stopped_at=self._clock.now())

    def _write(self, **changes: object) -> None:
        self._now = self._now.model_copy(update={"at": self._clock.now(), **changes})
        try:
            self._own.update(self._now.model_dump(mode="json"))
        except StoreError:
            log.exception("that this process lives could not be written", extra={"action": "presence_lost"})


def connection_state(seen: Presence | None, now: datetime) -> State:
    """Return how things stand: connected, without connection, a process that is stuck, none, or never any."""
    if seen is None:
        return "never"
    if seen.stopped_at is not None or not _lives(seen):
        return "dead"
    if now - seen.at > OUTDATED:
        return "stuck" if seen.host == socket.gethostname() else "dead"
    return "up" if not seen.hears or (seen.down_since is None and seen.connected_since is not None) else "down"


def describe_presence(seen: Presence | None, now: datetime, *, heard_at: datetime | None = None) -> str:
    """Return one line that is true; `heard_at` is when the latest message on record was written, None if none is.

    What is on record may be some seconds ahead of what the process last wrote about itself.
    """
    state = connection_state(seen, now)
    if seen is None or state == "never":
        return "triage has not run on this data directory yet"
    if state == "dead":
        return f"triage is not running (last seen {time_ago(now, seen.stopped_at or seen.at)})"
    if state == "stuck":
        return f"triage (process {seen.pid}) has not responded for {duration(now - seen.at)}; restart it"
    ahead = timedelta(seconds=seen.clock_ahead_s)
    skew = " · this machine's " + clock_words(ahead, "Slack's") if abs(ahead) > WRONG_CLOCK else ""
    if not seen.hears:
        return f"this process only does the work; other replicas listen to Slack{skew}"
    events = [at for at in (seen.last_event_at, heard_at) if at is not None and at >= seen.started_at]
    event = f"last event {time_ago(now, max(events))}" if events else "no event since the start"
    if state == "down":
        why = f": {seen.problem}" if seen.problem else ""
        return f"no connection for {duration(now - (seen.down_since or seen.started_at))} ({event}){why}"
    assert seen.connected_since is not None
    times = {0: "", 1: " · 1 reconnect today"}.get(
        seen.reconnects_today, f" · {seen.reconnects_today} reconnects today"
    )
    others = f" · {others_words(seen.other_connections)}" if seen.other_connections else ""
    return f"{event} · connected since {utc_text(seen.connected_since)}{times}{others}{skew}"


def others_words(count: int) -> str:
    """Return what is said of connections that another process opened."""
    return f"Slack counts {count} connection{'s' * (count > 1)} of another process with the same tokens"


def _lives(seen: Presence) -> bool:
    """Whether its process is there; on another machine its file has to tell."""
    if seen.host != socket.gethostname():
        return True
    try:
        os.kill(seen.pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
