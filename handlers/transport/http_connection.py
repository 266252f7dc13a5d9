"""HTTP mode: what Slack's requests mean for the line, and uvicorn that takes them on a thread of its own.

What Slack sent before the start, or while nothing could be stored, is noted as missed before anything new is heard:
Slack gives a request up after its third repetition, some 6 min. A connection carries one request, which has to arrive
whole within `REQUEST_S`, however it is dripped. Where too many are unfinished the oldest gives way, and where they hold
too many bytes the largest: one of Slack's takes milliseconds. None gives way before it had the time for that, since
hundreds that connect at once would push out the one between them whose request is on its way.
Source: docs/decisions/http-server.md; uvicorn 0.54, protocols/http/h11_impl.py (read).
"""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from slack_bolt import App
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.errors import ConfigError
from bot.ports import Clock
from bot.ports.collections import SingleDocument
from handlers.transport.connection import Connection, OnGap
from handlers.transport.http_app import MAX_BODY, HttpApp, Signatures

MAX_HEADERS: Final = 16 * 1024
REQUEST_S: Final = 10.0
"""Slack itself waits 3 s for an answer."""

MAX_UNFINISHED: Final = 128
MOST_TIMES: Final = 4  # as many for a moment, while none is older than `GRACE_S`
GRACE_S: Final = 0.5
MAX_UNFINISHED_BYTES: Final = 32 * MAX_BODY
THREADS: Final = 16
STOP_LIMIT_S: Final = 5


class Begun(NamedTuple):
    """What has come of a request that has not arrived whole, and since when."""

    since: float
    size: int


class Unfinished:
    """Connections whose request has not arrived whole, the oldest first.

    `now` returns seconds that only grow.
    """

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._now = most, now
        self._begun: dict[asyncio.Transport, Begun] = {}

    def note(self, connection: asyncio.Transport, size: int) -> None:
        """Count what a connection has sent; where all together are too many, or too much, one gives way."""
        begun = self._begun.get(connection) or Begun(since=self._now(), size=0)
        self._begun[connection] = begun._replace(size=begun.size + size)
        while self._are_too_many():
            self.cut(next(iter(self._begun)))
        if sum(one.size for one in self._begun.values()) > MAX_UNFINISHED_BYTES:
            self.cut(max(self._begun, key=lambda one: self._begun[one].size))

    def cut(self, connection: asyncio.Transport) -> None:
        """Close a connection if its request is unfinished."""
        if self.forget(connection):
            connection.abort()

    def forget(self, connection: asyncio.Transport) -> bool:
        """Count a connection no more; False if it was finished already."""
        return self._begun.pop(connection, None) is not None

    def _are_too_many(self) -> bool:
        count = len(self._begun)
        if count <= self._most:
            return False
        oldest = next(iter(self._begun.values()))
        return count > MOST_TIMES * self._most or self._now() - oldest.since > GRACE_S


class OneRequest(H11Protocol):
    """A connection; uvicorn makes one of each that it accepts."""

    def __init__(self, *, unfinished: Unfinished, request_s: float, **of_uvicorn: Any) -> None:
        super().__init__(**of_uvicorn)
        self._unfinished, self._request_s = unfinished, request_s

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Begin to count, and to wait."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self._request_s, self._unfinished.cut, transport)
        self._unfinished.note(transport, 0)

    def data_received(self, data: bytes) -> None:
        """Read on."""
        super().data_received(data)
        if self.transport.is_closing() or (self.cycle is not None and not self.cycle.more_body):
            self._unfinished.forget(self.transport)
        else:
            self._unfinished.note(self.transport, len(data))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._deadline.cancel()
        self._unfinished.forget(self.transport)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Let a request that is being answered end, and no other."""
        if self._unfinished.forget(self.transport):
            self.transport.abort()
        else:
            super().shutdown()


class HttpServer:
    """Serves on one port, on a thread of its own; `executor` is for the application's work.

    Raises:
        ConfigError: the address cannot be listened on.
    """

    def __init__(self, *, host: str, port: int, request_s: float = REQUEST_S) -> None:
        self._listening, self._request_s = _bound(host, port), request_s
        self.address = "{}:{}".format(*self._listening.getsockname()[:2])
        self.executor = ThreadPoolExecutor(THREADS, thread_name_prefix="http")
        self._server: Server | None = None
        self._thread: threading.Thread | None = None

    def open(self, app: HttpApp) -> None:
        """Begin to take requests for an application."""
        most = _most_unfinished()
        unfinished = Unfinished(most)
        config = Config(
            app,
            http=lambda **of_uvicorn: OneRequest(unfinished=unfinished, request_s=self._request_s, **of_uvicorn),  # type: ignore[arg-type]  # it calls it
            loop="asyncio",
            ws="none",
            interface="asgi3",
            lifespan="off",
            log_config=None,
            log_level=logging.ERROR,  # else each broken request is a line
            access_log=False,
            proxy_headers=False,
            server_header=False,
            headers=[("connection", "close"), ("cache-control", "no-store")],
            h11_max_incomplete_event_size=MAX_HEADERS,
            backlog=most,
            timeout_graceful_shutdown=STOP_LIMIT_S,
        )
        self._listening.listen(most)
        self._server = Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listening]}, name="http", daemon=True
        )
        self._thread.start()

    @property
    def is_serving(self) -> bool:
        """Whether requests are answered."""
        return self._thread is not None and self._thread.is_alive()

    def close(self) -> None:
        """Take no more requests; those under way have a few seconds to be answered, the rest Slack sends again."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(3 * STOP_LIMIT_S)
        self._listening.close()
        self.executor.shutdown(wait=False, cancel_futures=True)


def _most_unfinished() -> int:
    """Return how many connections may be unfinished: most files that the process may open are for the rest of it."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_UNFINISHED if files == resource.RLIM_INFINITY else min(MAX_UNFINISHED, files // 8)


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


log = logging.getLogger(__name__)

_NOT_STORED: Final = "what Slack sends cannot be stored"
_NOT_SERVED: Final = "the HTTP server has ended; restart triage"


class HttpConnection(Connection):
    """Serves a Bolt app."""

    def __init__(
        self,
        app: App,
        signatures: Signatures,
        server: HttpServer,
        places: Sequence[SingleDocument],
        clock: Clock,
        on_gap: OnGap,
    ) -> None:
        super().__init__(places, clock, on_gap)
        self._server = server
        self._app = HttpApp(app, signatures, server.executor, heard=self._heard, refused=self._refused)
        self.address = server.address

    def open(self) -> None:
        """Take requests; raises StoreError if it cannot be noted first what was missed before."""
        with self._lock:
            self._note_gap()
            self._note_up()
            self._write()
        self._server.open(self._app)

    def _look(self) -> None:
        with self._lock:
            if not self._server.is_serving and not self._is_closed and self._now.problem != _NOT_SERVED:
                log.error(_NOT_SERVED, extra={"action": "deaf"})
                self._note_down(_NOT_SERVED)

    def _end(self) -> None:
        self._server.close()

    def _heard(self) -> None:
        with self._lock:
            super()._heard()
            if self._now.down_since is not None:
                self._note_up()

    def _refused(self) -> None:
        with self._lock:
            self._note_down(_NOT_STORED)
