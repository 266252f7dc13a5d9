"""Socket Mode: the SDK's client, made to connect again at a decent pace, and what its sessions mean for the line.

Everything that arrives on a new session waits until it is noted that something may have been missed. Slack delivers no
click or command twice; repeated messages the watcher recognises.
Source: slack_sdk's builtin client (read in 3.48) pings each `ping_interval`, ends a session after four pings without an
answer, and waits out a rate limit inside the call.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final

from slack_bolt import App, BoltResponse
from slack_bolt.adapter.socket_mode.internals import build_headers, send_response
from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.errors import ProviderError, StoreError, Unavailable
from bot.ports import Clock
from bot.ports.collections import SingleDocument
from handlers.transport.connection import Connection, OnGap, dispatch
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

PING_INTERVAL_S: Final = 2
HANDLERS: Final = 10
FIRST_PAUSE_S: Final = 1.0
MAX_PAUSE_S: Final = 60.0
STOP_LIMIT_S: Final = 5.0
CONNECT_TIMEOUT_S: Final = 10
"""For the client that asks for an address: who looks after the line waits that long, and tells nobody meanwhile."""


def acknowledge_envelope(app: App, request: SocketModeRequest) -> BoltResponse:
    """Return Bolt's answer to an envelope; Bolt sees no payload of the wrong shape."""
    made_of = {"mode": "socket_mode", "body": request.payload, "headers": build_headers(request)}
    return dispatch(app, request.payload, made_of)


class SocketClient(SocketModeClient):
    """The SDK's client, but it neither waits nor insists when Slack refuses an address."""

    def issue_new_wss_url(self) -> str:
        """Ask once where to connect; raises ProviderError, or Unavailable with Slack's Retry-After."""
        with translate_slack_errors("open the Socket Mode connection"):
            url: Any = self.web_client.apps_connections_open(app_token=self.app_token)["url"]
            if not isinstance(url, str):
                raise TypeError("no address")
            return url


def socket_client(app: App, web_client: WebClient) -> SocketClient:
    """Return a client for an app; `web_client` has the app's token, and asks once."""
    return SocketClient(
        str(web_client.token),
        logger=app.logger,
        web_client=web_client,
        auto_reconnect_enabled=False,
        ping_interval=PING_INTERVAL_S,
        concurrency=HANDLERS,
    )


class SocketConnection(Connection):
    """Connects a Bolt app by a client that is its own."""

    def __init__(
        self,
        app: App,
        client: SocketClient,
        places: Sequence[SingleDocument],
        clock: Clock,
        on_gap: OnGap,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(places, clock, on_gap)
        self._app, self._monotonic = app, monotonic
        self._session: str | None = None
        self._failures, self._try_at = 0, 0.0
        self._asked_at: float | None = None
        self._client = client
        client.message_listeners.append(_log_count)
        client.socket_mode_request_listeners.append(self._take)

    def open(self) -> None:
        """Connect now, or by and by while Slack is down; raises ProviderError if Slack refuses the app's token."""
        with suppress(Unavailable):
            self._connect()
        self.check()

    def _take(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        """Give one envelope to Bolt and answer; what is not answered Slack delivers again."""
        started = time.time()
        try:
            self._heard()
        except StoreError:
            log.exception("an event must wait: what may be missing could not be noted", extra={"action": "refused"})
            return
        answer = acknowledge_envelope(self._app, request)
        if answer.status != HTTPStatus.OK:
            self._refused()
        send_response(client, request, answer, started)

    def _look(self) -> None:
        if not self._client.is_connected():
            with self._lock:
                self._note_down(self._now.problem)
            if self._monotonic() >= self._try_at:
                with suppress(ProviderError):
                    self._connect()
        with self._lock, suppress(StoreError):  # noted at the next look, or before the next message counts
            if self._client.is_connected():
                self._note_gap()

    def _connect(self) -> None:
        """Make a session; raises ProviderError if Slack gives no address, Unavailable if it cannot be reached."""
        self._asked_at = self._monotonic()
        try:
            self._reach()
        except ProviderError as error:
            ours_s = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(self._failures, 10))
            pause_s = max(error.retry_after_s or 0, ours_s)
            self._failures, self._try_at = self._failures + 1, self._monotonic() + pause_s
            log.warning("no connection; next try in %g s: %s", pause_s, error, extra={"action": "connect_failed"})
            with self._lock:
                self._note(problem=str(error))
            raise
        self._failures = 0
        if self._is_closed:  # meanwhile
            self._client.disconnect()

    def _reach(self) -> None:
        """Connect to a new address; raises as `_connect`, whatever the server there answers the handshake with."""
        try:
            self._client.connect_to_new_endpoint()
        except (SlackClientError, OSError, ValueError, IndexError) as error:
            raise Unavailable("Slack's Socket Mode address did not answer as one") from error
        if not self._client.is_connected():
            raise Unavailable("Slack's Socket Mode address could not be reached")

    def _note_gap(self, session_age: timedelta = timedelta()) -> None:
        """Note what was missed, before a new session too, whoever made it; raises StoreError, and tries again.

        What was written since the session was asked for may arrive on it, and was not missed.
        """
        session = self._client.session_id()
        is_new = session is not None and session != self._session
        if is_new:
            self._missed_since = self._missed_since or self._clock.now()
            session_age = self._session_age()
        super()._note_gap(session_age)
        if is_new:
            log.info("connected to Slack", extra={"action": "connected", "session": session})
            self._note_up()
            self._session, self._asked_at = session, None

    def _session_age(self) -> timedelta:
        """Return how long ago the new session was asked for; nothing, where the SDK made it by itself."""
        return timedelta() if self._asked_at is None else timedelta(seconds=self._monotonic() - self._asked_at)

    def _end(self) -> None:
        """Close the client, which waits for its threads: wake those that wait, and give them some seconds at most."""
        if (sock := getattr(self._client.current_session, "sock", None)) is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        closing = threading.Thread(target=self._client.close, daemon=True)
        closing.start()
        self._client.message_queue.put(None)
        closing.join(STOP_LIMIT_S)


def _log_count(_: BaseSocketModeClient, message: dict[str, Any], __: str | None) -> None:
    """Log how many connections of the app there are, where a session's first message says that there are others.

    Source: https://docs.slack.dev/apis/events-api/using-socket-mode (`hello`, `num_connections`)
    """
    count = message.get("num_connections") if message.get("type") == "hello" else None
    if isinstance(count, int) and count > 1:
        text = "Slack counts %d connections of this app; each process with its tokens receives part of the messages"
        log.info(text, count, extra={"action": "connections_counted"})
