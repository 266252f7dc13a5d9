"""HTTP mode: the server that Slack's requests reach, and the connection's state in slack/connection.json.

The server (waitress: docs/decisions/http-server.md) listens on one port, behind a reverse proxy with TLS; a slow
client takes no thread from the others. What Slack sent before the start, or while nothing could be stored, is noted as
missed before anything new is heard: Slack gives a request up after its third repetition, some 6 min.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from datetime import timedelta
from typing import Any, Final

from slack_bolt import App
from waitress import wasyncore
from waitress.server import create_server

from bot.errors import ConfigError
from bot.ports import Clock
from handlers.transport.http_app import HttpApp, RequestReceiver, Signatures
from handlers.transport.presence_record import OnSession, PresenceRecord

log = logging.getLogger(__name__)

MAX_BODY: Final = 1024 * 1024
MAX_HEADERS: Final = 16 * 1024
THREADS: Final = 16
IDLE_S: Final = 30
STOP_LIMIT_S: Final = 5
_LOOK_UP_S: Final = 0.2

_NOT_STORED = "what Slack sends cannot be stored"
_NOT_SERVED = "the HTTP server has ended; restart triage"


class HttpServer:
    """Serves a Bolt app on one port, on a thread of its own.

    Raises:
        ConfigError: the address cannot be listened on.
    """

    def __init__(self, app: App, signatures: Signatures, receiver: RequestReceiver, *, host: str, port: int) -> None:
        self._map: dict[int, Any] = {}
        listening = _bound(host, port)
        self.address = "{}:{}".format(*listening.getsockname()[:2])
        self._server: Any = create_server(  # its stubs know half of it
            HttpApp(app, signatures, receiver),
            map=self._map,
            _start=False,
            sockets=[listening],
            threads=THREADS,
            ident=None,
            max_request_body_size=MAX_BODY,
            inbuf_overflow=2 * MAX_BODY,  # never to a file: it is not known yet who sent it
            max_request_header_size=MAX_HEADERS,
            channel_timeout=IDLE_S,
            cleanup_interval=IDLE_S // 2,
        )
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="http", daemon=True)

    def open(self) -> None:
        """Begin to take requests."""
        self._server.accept_connections()
        self._thread.start()

    @property
    def is_serving(self) -> bool:
        """Whether requests are answered."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Take no more requests; those under way have a few seconds to be answered, the rest Slack sends again."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(3 * STOP_LIMIT_S)

    def _serve(self) -> None:
        while not self._stopping.is_set():
            self._look()
        self._server.accepting = False
        deadline = time.monotonic() + STOP_LIMIT_S
        while self._is_busy() and time.monotonic() < deadline:
            self._look()
        self._server.task_dispatcher.shutdown(timeout=STOP_LIMIT_S)  # before the pipe its threads write to is closed
        wasyncore.close_all(self._map, ignore_all=True)

    def _look(self) -> None:
        wasyncore.loop(timeout=_LOOK_UP_S, use_poll=True, map=self._map, count=1)

    def _is_busy(self) -> bool:
        """Whether a request is being answered, or its answer is on the way."""
        channels = list(self._server.active_channels.values())
        return any(channel.requests or channel.total_outbufs_len for channel in channels)


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket bound to the first address the host has; a name may have several, of two kinds."""
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"slack.http: cannot listen on {host} port {port}: {error}; choose others") from error
    return bound


class HttpConnection:
    """Serves a Bolt app; `on_session` is told when something may have been missed until now.

    Raises:
        ConfigError: the address cannot be listened on.
    """

    def __init__(
        self,
        app: App,
        signatures: Signatures,
        *,
        host: str,
        port: int,
        presence: PresenceRecord,
        clock: Clock,
        on_session: OnSession,
    ) -> None:
        self._presence, self._clock, self._on_session = presence, clock, on_session
        self._lock = threading.Lock()
        self._is_closed = False
        self._before = presence.last_connected()
        self._server = HttpServer(app, signatures, self, host=host, port=port)
        self.address = self._server.address

    def open(self) -> None:
        """Take requests; raises StoreError if it cannot be noted first what was missed before."""
        with self._lock:
            self._on_session(self._before or self._clock.now(), timedelta())
            self._presence.write(connected_since=self._clock.now(), down_since=None)
        self._server.open()

    def check(self) -> None:
        """Write down how things are, at most every 10 s unless that changed."""
        with self._lock:
            if self._is_closed:
                return
            if not self._server.is_serving and self._presence.now.problem != _NOT_SERVED:
                log.error(_NOT_SERVED, extra={"action": "deaf"})
                self._presence.write(connected_since=None, down_since=self._clock.now(), problem=_NOT_SERVED)
            elif self._presence.is_due:
                self._presence.write()

    def note_clock(self, ahead: timedelta) -> None:
        """Write down how far this machine's clock is ahead of Slack's, where that is news."""
        with self._lock:
            known = self._presence.now
            self._presence.note_clock(ahead)
            if known != self._presence.now and not self._is_closed:
                self._presence.write()

    def close(self) -> None:
        """Hear nothing more, and say so."""
        with self._lock:
            self._is_closed = True
        self._server.close()
        with self._lock:
            self._presence.write(stopped_at=self._clock.now())

    def heard(self) -> None:
        """Note that Slack sent something, first where what was missed is remembered; raises StoreError."""
        with self._lock:
            now, down_since = self._clock.now(), self._presence.now.down_since
            if down_since is not None:
                self._on_session(down_since, timedelta())
                self._presence.write(connected_since=now, down_since=None, problem=None)
            self._presence.note(last_event_at=now)

    def refused(self) -> None:
        """Note that something could not be taken; Slack sends it again, but not for ever."""
        with self._lock:
            if self._presence.now.down_since is None:
                self._presence.write(connected_since=None, down_since=self._clock.now(), problem=_NOT_STORED)
