"""Socket Mode: one or two connections to one Bolt app, and their state in slack/connection.json.

Everything that arrives on a new session waits until `on_session` has noted that something may have been missed. A
payload that is not shaped like Slack's is acknowledged and dropped: Bolt fails on it before any middleware runs, and
unacknowledged it would come again. A click, command or submitted view that arrives on two connections is carried out
once; duplicate messages are recognised by the watcher.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from http import HTTPStatus

from slack_bolt import App, BoltRequest, BoltResponse
from slack_bolt.adapter.socket_mode.internals import build_headers, send_response
from slack_sdk import WebClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.domain.text.humanize import counted
from bot.errors import StoreError
from bot.ports import Clock
from handlers.transport.bolt_requests import is_well_shaped
from handlers.transport.presence_record import PresenceRecord
from handlers.transport.socket_supervisor import PING_INTERVAL_S, SocketClient, SocketSupervisor

log = logging.getLogger(__name__)

REMEMBERED = 2_000

RECENTLY = timedelta(minutes=5)
MAX_HELLOS = 100
LONG_DOWN = timedelta(minutes=3)
HANDLERS = 10
HELLO_CHARS = 2_000
"""A session's first message is short, and begins with its type in one order of keys or another."""


def acknowledge_envelope(app: App, request: SocketModeRequest) -> BoltResponse:
    """Return Bolt's answer to an envelope; Bolt sees no payload of the wrong shape."""
    if is_well_shaped(request.payload):
        return app.dispatch(BoltRequest(mode="socket_mode", body=request.payload, headers=build_headers(request)))
    log.warning("ignored a payload of the wrong shape", extra={"action": "payload_misshapen"})
    return BoltResponse(status=200, body="")


class Deduplicator:
    """Remembers what people did by its trigger id, else by its envelope."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._lock = threading.Lock()

    def is_new(self, kind: str, envelope_id: str, payload: object) -> bool:
        """Whether this is the first delivery; `kind` is the envelope's type. Events are always new."""
        if kind == "events_api":
            return True
        trigger = payload.get("trigger_id") if isinstance(payload, Mapping) else None
        key = (kind, trigger if isinstance(trigger, str) and trigger else envelope_id)
        with self._lock:
            if key in self._seen:
                return False
            self._seen[key] = None
            while len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
            return True


def socket_client(app: App, app_token: str, web_client: WebClient) -> SocketClient:
    """Return a client for one connection of an app; whoever has it decides when to connect again."""
    return SocketClient(
        app_token,
        logger=app.logger,
        web_client=web_client,
        auto_reconnect_enabled=False,
        ping_interval=PING_INTERVAL_S,
        concurrency=HANDLERS,
    )


class SlackConnection:
    """Connects a Bolt app, each connection with a client of its own.

    `on_session(away_since)` is told of each new session, None at the very first start.

    `on_others(count)` is told once when Slack counts more connections of the app than this process can have opened;
    it must return at once.
    """

    def __init__(
        self,
        app: App,
        new_client: Callable[[], SocketClient],
        *,
        presence: PresenceRecord,
        clock: Clock,
        on_session: Callable[[datetime | None], None],
        on_others: Callable[[int], None] = lambda _: None,
        connections: int = 1,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._presence, self._clock, self._on_session = app, presence, clock, on_session
        self._on_others, self._hellos = on_others, list[datetime]()
        self._once, self._lock = Deduplicator(), threading.Lock()
        self._before = presence.last_connected()
        self._sessions, self._greeted, self._complained = 0, 0, False
        self._refused_since: datetime | None = None
        self._day_reconnects: tuple[str, int] = ("", 0)
        self._said: tuple[object, ...] = ()
        self._lines = [self._lifeline(new_client(), monotonic) for _ in range(connections)]

    def open(self) -> None:
        """Connect; raises ProviderError if Slack refuses the app's token."""
        for line in self._lines:
            line.open()
        self.check()

    def check(self) -> None:
        """Look after every connection and write down how they are, at most every 10 s unless that changed."""
        for line in self._lines:
            line.check()
        with suppress(StoreError):
            self._note_refused()
        with self._lock:
            self._note_state(self._clock.now())
            seen = self._presence.now
            said = (seen.connected_since, seen.down_since, seen.problem, seen.other_connections, seen.clock_ahead_s)
            if said != self._said or self._presence.is_due:
                self._said = said
                self._presence.write()

    def note_clock(self, ahead: timedelta) -> None:
        """Take note of how far this machine's clock is ahead of Slack's; the next check writes it down."""
        with self._lock:
            self._presence.note_clock(ahead)

    def close(self) -> None:
        """Hear nothing more, and say so."""
        for line in self._lines:
            line.close()
        with self._lock:
            self._presence.write(stopped_at=self._clock.now())

    def _lifeline(self, client: SocketClient, monotonic: Callable[[], float]) -> SocketSupervisor:
        line = SocketSupervisor(client, monotonic=monotonic, on_session=self._new_session)

        def take(client: BaseSocketModeClient, request: SocketModeRequest) -> None:
            self._take(line, client, request)

        client.socket_mode_request_listeners.append(take)
        client.on_message_listeners.append(self._look_for_others)
        return line

    def _look_for_others(self, message: str) -> None:
        """Compare what Slack counts in its first message on a session with what may be ours."""
        count = _connections_counted(message)
        if count is None:
            return
        with self._lock:
            now, lines = self._clock.now(), len(self._lines)
            self._hellos = [*(at for at in self._hellos if abs(now - at) < RECENTLY), now][-MAX_HELLOS:]
            self._greeted += 1
            # a session that was lost may still count at Slack, so each one made anew lately is allowed for
            renewed = min(len(self._hellos), max(0, self._greeted - lines))
            others = max(0, count - lines - renewed)
            is_news = others > 0 and self._presence.now.other_connections == 0
            self._presence.note(other_connections=others)
        if is_news:
            self._on_others(others)

    def _take(self, line: SocketSupervisor, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        """Give one envelope to Bolt and answer; what is not answered Slack delivers again."""
        started = time.time()
        try:
            line.heard()
            self._note_refused()
        except StoreError:
            log.exception("an event must wait: what may be missing could not be noted", extra={"action": "refused"})
            return
        with self._lock:
            self._presence.note(last_event_at=self._clock.now())
        if not self._once.is_new(request.type, request.envelope_id, request.payload):
            return
        answer = acknowledge_envelope(self._app, request)
        if answer.status != HTTPStatus.OK:
            with self._lock:
                self._refused_since = self._refused_since or self._clock.now()
        send_response(client, request, answer, started)

    def _note_refused(self) -> None:
        """Have read back what could not be stored, should Slack tire of sending it; raises StoreError."""
        with self._lock:
            if self._refused_since is not None:
                self._on_session(self._refused_since)
                self._refused_since = None

    def _new_session(self) -> None:
        """Note a (re)connect, first where what was missed is remembered; raises StoreError."""
        with self._lock:
            seen = self._presence.now
            away_since = seen.down_since if self._sessions else self._before
            self._on_session(away_since or seen.started_at)  # not from now: it may have been refused since
            now = self._clock.now()
            if self._sessions:
                day, count = self._day_reconnects
                self._day_reconnects = (f"{now:%F}", count + 1 if day == f"{now:%F}" else 1)
            self._sessions += 1
            self._presence.note(connected_since=now, down_since=None, problem=None)
            log.info("connected to Slack", extra={"action": "connected", "session": self._sessions})

    def _note_state(self, now: datetime) -> None:
        up = any(line.is_up() for line in self._lines)
        day, count = self._day_reconnects
        changes: dict[str, object] = {
            "reconnects_today": count if day == f"{now:%F}" else 0,
            "problem": None if up else next((line.problem for line in self._lines if line.problem), None),
        }
        if up:
            self._complained = False
        elif self._presence.now.down_since is None:
            silent_s = min(line.silent_s() for line in self._lines)
            changes |= {"connected_since": None, "down_since": now - timedelta(seconds=silent_s)}
        self._presence.note(**changes)
        down_since, problem = self._presence.now.down_since, self._presence.now.problem
        if down_since is not None and now - down_since >= LONG_DOWN and not self._complained:
            self._complained = True
            log.error("no connection to Slack since %s: %s", down_since, problem, extra={"action": "deaf"})


def _connections_counted(message: str) -> int | None:
    """Return how many connections of the app Slack counts, if this is the message that begins a session.

    Source: https://docs.slack.dev/apis/events-api/using-socket-mode (`hello`, `num_connections`)

    >>> _connections_counted('{"type": "hello", "num_connections": 2}'), _connections_counted('{"type": "disconnect"}')
    (2, None)
    """
    if '"hello"' not in message[:HELLO_CHARS]:
        return None
    try:
        found = json.loads(message)
    except (ValueError, RecursionError):
        return None
    count = found.get("num_connections") if isinstance(found, dict) and found.get("type") == "hello" else None
    return count if isinstance(count, int) else None


def others_line(count: int) -> str:
    """Return the line that tells the ops channel of connections that are not this process's."""
    return (
        f"Slack counts {counted(count, 'more connection')} of this app than this process opened: another triage "
        "runs with the same tokens. Each receives only part of the messages. Stop the other one or give it its own app."
    )
