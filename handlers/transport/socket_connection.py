"""Socket Mode: the connection to one Bolt app, and its state in slack/connection.json.

Everything that arrives on a new session waits until `on_session` has noted that something may have been missed. A
payload that is not shaped like Slack's is acknowledged and dropped: Bolt fails on it before any middleware runs, and
unacknowledged it would come again. Slack delivers no click or command twice; repeated messages the watcher recognises.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from http import HTTPStatus

from slack_bolt import App, BoltRequest, BoltResponse
from slack_bolt.adapter.socket_mode.internals import build_headers, send_response
from slack_sdk import WebClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.errors import StoreError
from bot.ports import Clock
from handlers.transport.bolt_requests import is_well_shaped
from handlers.transport.presence_record import OnSession, PresenceRecord
from handlers.transport.socket_supervisor import PING_INTERVAL_S, SocketClient, SocketSupervisor

log = logging.getLogger(__name__)

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
    """Connects a Bolt app.

    `on_session` is told of each new session.
    """

    def __init__(
        self,
        app: App,
        client: SocketClient,
        *,
        presence: PresenceRecord,
        clock: Clock,
        on_session: OnSession,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._presence, self._clock, self._on_session = app, presence, clock, on_session
        self._lock = threading.Lock()
        self._before = presence.last_connected()
        self._sessions, self._complained = 0, False
        self._refused_since: datetime | None = None
        self._day_reconnects: tuple[str, int] = ("", 0)
        self._said: tuple[object, ...] = ()
        self._line = SocketSupervisor(client, monotonic=monotonic, on_session=self._new_session)
        client.socket_mode_request_listeners.append(self._take)
        client.on_message_listeners.append(_log_count)

    def open(self) -> None:
        """Connect; raises ProviderError if Slack refuses the app's token."""
        self._line.open()
        self.check()

    def check(self) -> None:
        """Look after the connection and write down how it is, at most every 10 s unless that changed."""
        self._line.check()
        with suppress(StoreError):
            self._note_refused()
        with self._lock:
            self._note_state(self._clock.now())
            seen = self._presence.now
            said = (seen.connected_since, seen.down_since, seen.problem, seen.clock_ahead_s)
            if said != self._said or self._presence.is_due:
                self._said = said
                self._presence.write()

    def note_clock(self, ahead: timedelta) -> None:
        """Take note of how far this machine's clock is ahead of Slack's; the next check writes it down."""
        with self._lock:
            self._presence.note_clock(ahead)

    def close(self) -> None:
        """Hear nothing more, and say so."""
        self._line.close()
        with self._lock:
            self._presence.write(stopped_at=self._clock.now())

    def _take(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        """Give one envelope to Bolt and answer; what is not answered Slack delivers again."""
        started = time.time()
        try:
            self._line.heard()
            self._note_refused()
        except StoreError:
            log.exception("an event must wait: what may be missing could not be noted", extra={"action": "refused"})
            return
        with self._lock:
            self._presence.note(last_event_at=self._clock.now())
        answer = acknowledge_envelope(self._app, request)
        if answer.status != HTTPStatus.OK:
            with self._lock:
                self._refused_since = self._refused_since or self._clock.now()
        send_response(client, request, answer, started)

    def _note_refused(self) -> None:
        """Have read back what could not be stored, should Slack tire of sending it; raises StoreError."""
        with self._lock:
            if self._refused_since is not None:
                self._on_session(self._refused_since, timedelta())
                self._refused_since = None

    def _new_session(self) -> None:
        """Note a (re)connect, first where what was missed is remembered; raises StoreError."""
        with self._lock:
            seen = self._presence.now
            away_since = seen.down_since if self._sessions else self._before
            age = timedelta(seconds=self._line.session_age_s())
            self._on_session(away_since or seen.started_at, age)  # not from now: it may have been refused since
            now = self._clock.now()
            if self._sessions:
                day, count = self._day_reconnects
                self._day_reconnects = (f"{now:%F}", count + 1 if day == f"{now:%F}" else 1)
            self._sessions += 1
            self._presence.note(connected_since=now, down_since=None, problem=None)
            log.info("connected to Slack", extra={"action": "connected", "session": self._sessions})

    def _note_state(self, now: datetime) -> None:
        up = self._line.is_up()
        day, count = self._day_reconnects
        changes: dict[str, object] = {
            "reconnects_today": count if day == f"{now:%F}" else 0,
            "problem": None if up else self._line.problem,
        }
        if up:
            self._complained = False
        elif self._presence.now.down_since is None:
            changes |= {"connected_since": None, "down_since": now - timedelta(seconds=self._line.silent_s())}
        self._presence.note(**changes)
        down_since, problem = self._presence.now.down_since, self._presence.now.problem
        if down_since is not None and now - down_since >= LONG_DOWN and not self._complained:
            self._complained = True
            log.error("no connection to Slack since %s: %s", down_since, problem, extra={"action": "deaf"})


def _log_count(message: str) -> None:
    """Log how many connections of the app there are, where this is not the only one."""
    count = _connections_counted(message)
    if count is not None and count > 1:
        text = "Slack counts %d connections of this app; each process with its tokens receives part of the messages"
        log.info(text, count, extra={"action": "connections_counted"})


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
