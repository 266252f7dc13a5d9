"""Watches one Socket Mode connection and makes it anew when it is lost.

`check`, called about once a second, trusts neither "connected" nor an open socket: without a pong or a message for
`SILENT_S` the peer is gone. Reconnecting has a thread of its own, since it may take long, and growing pauses.
Source: slack_sdk's builtin client pings each `ping_interval`, notices a silent peer after four of them, and waits out a
rate limit inside the call (read in 3.48).
"""

from __future__ import annotations

import logging
import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from slack_sdk.errors import SlackClientError
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.builtin.connection import Connection as Session

from bot.errors import ProviderError, StoreError, Unavailable
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

PING_INTERVAL_S = 3
SILENT_S = 10.0
READER_CHECK_S = 0.1
FIRST_PAUSE_S = 1.0
MAX_PAUSE_S = 60.0
_HANG_UP: Final[int] = getattr(select, "POLLRDHUP", 0)  # Linux; elsewhere the silence tells


class SocketClient(SocketModeClient):
    """The SDK's client, but it neither waits nor insists when Slack refuses an address, and closes at once."""

    def issue_new_wss_url(self) -> str:
        """Ask once where to connect; raises ProviderError, or Unavailable with Slack's Retry-After."""
        with translate_slack_errors("open the Socket Mode connection"):
            url: Any = self.web_client.apps_connections_open(app_token=self.app_token)["url"]
            if not isinstance(url, str):
                raise TypeError("no address")
            return url

    def close(self) -> None:
        """Close at once; the SDK alone would wait for the thread that looks up from an empty queue once a second."""
        self.closed = True
        self.message_queue.put(None)
        self.auto_reconnect_enabled = False
        self.disconnect()
        self._end_reader()
        super().close()

    def _end_reader(self) -> None:
        """Mark the session as ended until its reader has ended.

        A reader that begins a session at this moment removes the mark (`_run_current_session`, slack_sdk 3.48), and the
        SDK's close would then wait for it without end.
        """
        self.current_session_runner.event.set()
        while self.current_session_runner.is_alive():
            self.current_session_state.terminated = True
            self.current_session_runner.thread.join(timeout=READER_CHECK_S)


class SocketSupervisor:
    """Keeps one client connected.

    `on_session` is called before anything is heard on a new session, by whoever notices it first; if it raises
    StoreError the session does not count as noticed and is tried again.
    """

    def __init__(
        self,
        client: SocketModeClient,
        *,
        monotonic: Callable[[], float],
        on_session: Callable[[], None],
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self._client, self._monotonic, self._on_session = client, monotonic, on_session
        self._stopping, self._lost = threading.Event(), threading.Event()
        self._wait = wait or self._stopping.wait
        self._lock = threading.Lock()
        self._session_id: str | None = None
        self._pong: float | None = None
        self._asked_at = self._alive_at = monotonic()
        self.problem: str | None = None
        self._thread = threading.Thread(target=self._keep, name="lifeline", daemon=True)

    def open(self) -> None:
        """Connect now, or keep trying in the background while Slack is down.

        Raises:
            ProviderError: Slack refused the app's token; trying again would not help.
        """
        try:
            self._connect()
        except Unavailable as error:
            log.warning("no connection yet: %s", error, extra={"action": "connect_failed"})
            self._lost.set()
        self._thread.start()

    def is_up(self) -> bool:
        """Whether there is a session, and its peer was heard lately."""
        return self._client.is_connected() and self.silent_s() <= SILENT_S

    def silent_s(self) -> float:
        """Return how long nothing was heard, in seconds."""
        return self._monotonic() - self._alive_at

    def session_age_s(self) -> float:
        """Return how long ago the present session was asked for, in seconds: what is written since may arrive on it."""
        return self._monotonic() - self._asked_at

    def heard(self) -> None:
        """Note that something arrived; raises StoreError if a new session could not be noted, so nothing may count."""
        self._alive_at = self._monotonic()
        self._note_session()

    def check(self) -> None:
        """Look after the connection; returns soon."""
        session = self._client.current_session
        if session is None or not session.is_active():
            self._lost.set()
            return
        with suppress(StoreError):  # noted at the next look, or at the next message, which then does not count either
            self._note_session()
        if session.last_ping_pong_time != self._pong:
            self._pong, self._alive_at = session.last_ping_pong_time, self._monotonic()
        if _hung_up(session) or self.silent_s() > SILENT_S:
            log.warning("Slack hung up or is silent; connecting anew", extra={"action": "peer_gone"})
            _cut(session)
            self._lost.set()

    def close(self) -> None:
        """Close at once; the SDK alone would wait for its reader, which looks up every 3 s only."""
        self._stopping.set()
        self._lost.set()
        if self._client.current_session is not None:
            _shut(self._client.current_session)
        self._client.close()
        if self._thread.is_alive():
            self._thread.join(timeout=2)
        self._client.disconnect()  # what that thread may have opened meanwhile

    def _note_session(self) -> None:
        with self._lock:
            session_id = self._client.session_id()
            if session_id is None or session_id == self._session_id:
                return
            self._on_session()
            self._session_id, self._pong = session_id, None
            self._alive_at = self._monotonic()

    def _connect(self) -> None:
        """Make a session; raises ProviderError if Slack gives no address, Unavailable if it cannot be reached."""
        self._asked_at = self._monotonic()
        try:
            self._reach()
            if not self._client.is_connected():
                raise Unavailable("Slack's Socket Mode address could not be reached")
        except ProviderError as error:
            self.problem = str(error)
            raise
        self.problem, self._alive_at = None, self._monotonic()
        with suppress(StoreError):
            self._note_session()

    def _reach(self) -> None:
        """Connect to a new address; raises as `_connect`, whatever the server there answers the handshake with."""
        try:
            self._client.connect_to_new_endpoint()
        except (SlackClientError, OSError, ValueError, IndexError) as error:
            raise Unavailable("Slack's Socket Mode address did not answer as one") from error

    def _keep(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            self._lost.wait()
            self._lost.clear()
            if self._stopping.is_set() or self._client.is_connected():
                continue
            try:
                self._connect()
            except ProviderError as error:
                failures += 1
                pause_s = max(error.retry_after_s or 0, min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (failures - 1)))
                log.warning("no connection; next try in %g s: %s", pause_s, error, extra={"action": "connect_failed"})
                self._wait(pause_s)
                self._lost.set()
            else:
                failures = 0


def _shut(session: Session) -> None:
    """Wake whoever reads from or writes to the session's socket."""
    sock = session.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _hung_up(session: Session) -> bool:
    """Whether the peer closed without a word; the SDK's reader then runs idle until pings fail, some 15 s later."""
    sock = session.sock
    if sock is None or not _HANG_UP:
        return False
    poll = select.poll()
    try:
        poll.register(sock, _HANG_UP)
    except (ValueError, OSError):  # closed at this moment
        return False
    return bool(poll.poll(0))


def _cut(session: Session) -> None:
    """Close the session, also while its reader waits for the peer."""
    _shut(session)
    session.disconnect()
