"""Reads whether the bot runs and hears Slack, from what its process wrote in slack/connection.json.

The answer always names the last sign of life; a record that is no longer renewed means that the bot does not run.
"""

from __future__ import annotations

import os
import socket
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.domain.text.humanize import WRONG_CLOCK, clock_words, duration, time_ago, utc_text

if TYPE_CHECKING:  # the ports import the whole domain, and a health check needs none of it
    from bot.ports import Documents

CONNECTION_FILE: Final = "slack/connection.json"
"""Where it stands below the data directory of a machine, whatever the engine."""

OUTDATED = timedelta(seconds=45)
"""After how long without a line of life a process is taken for dead or stuck."""

State = Literal["up", "down", "stuck", "dead", "never"]


class Presence(BaseModel):
    """One moment of the running bot."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    pid: int
    host: str
    at: AwareDatetime
    """When this was written."""
    started_at: AwareDatetime
    connected_since: AwareDatetime | None = None
    down_since: AwareDatetime | None = None
    last_event_at: AwareDatetime | None = None
    """When Slack last sent anything: a message, a click, a command."""
    clock_ahead_s: int = 0
    """How far this machine's clock is ahead of Slack's, as last compared; negative where it is behind."""
    hears: bool = True
    """Whether it is to have a connection: `--only work` leaves Slack to other replicas."""
    problem: str | None = None
    """Why there is no connection, if that is known."""
    stopped_at: AwareDatetime | None = None


def read_presence(documents: Documents) -> Presence | None:
    """Return what the bot of this data directory wrote last, or None; raises StoreError where it cannot be read."""
    from bot.ports.collections import PRESENCE, read_value  # here: see above

    return read_value(documents, PRESENCE, Presence)


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
    return f"{event} · connected since {utc_text(seen.connected_since)}{skew}"


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
