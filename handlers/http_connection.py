"""The bot's ear in HTTP mode: the server Slack's requests reach, and the truth about it in slack/connection.json.

What Slack sent before the start, or while nothing could be stored, is noted as missed before anything new is heard:
Slack gives a request up after its third repetition, some 6 min.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

from slack_bolt import App

from bot.casework.presence import WRITE_EVERY, Presence, this_process
from bot.errors import StoreError
from bot.ports import Clock, Slate
from handlers.connection import last_life
from handlers.http_server import HttpServer
from handlers.signatures import Signatures

log = logging.getLogger(__name__)

_NOT_STORED = "what Slack sends cannot be stored"
_NOT_SERVED = "the HTTP server has ended; restart triage"


class HttpConnection:
    """Serves a Bolt app; `on_session(away_since)` is told when something may have been missed until now.

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
        slate: Slate,
        clock: Clock,
        on_session: Callable[[datetime | None], None],
    ) -> None:
        self._slate, self._clock, self._on_session = slate, clock, on_session
        self._lock = threading.Lock()
        self._is_closed = False
        self._before, now = last_life(slate), clock.now()
        self._now = Presence(**this_process(), at=now, started_at=now, down_since=now)
        self._server = HttpServer(app, signatures, self, host=host, port=port)
        self.address = self._server.address

    def open(self) -> None:
        """Take requests; raises StoreError if it cannot be noted first what was missed before."""
        with self._lock:
            self._on_session(self._before or self._clock.now())
            self._write(connected_since=self._clock.now(), down_since=None)
        self._server.open()

    def check(self) -> None:
        """Write down how things are, at most every 10 s unless that changed."""
        with self._lock:
            now = self._clock.now()
            if self._is_closed:
                return
            if not self._server.is_serving and self._now.problem != _NOT_SERVED:
                log.error(_NOT_SERVED, extra={"action": "deaf"})
                self._write(connected_since=None, down_since=now, problem=_NOT_SERVED)
            elif now - self._now.at >= WRITE_EVERY:
                self._write()

    def close(self) -> None:
        """Hear nothing more, and say so."""
        with self._lock:
            self._is_closed = True
        self._server.close()
        with self._lock:
            self._write(stopped_at=self._clock.now())

    def heard(self) -> None:
        """Note that Slack sent something, first where what was missed is remembered; raises StoreError."""
        with self._lock:
            now = self._clock.now()
            if self._now.down_since is not None:
                self._on_session(self._now.down_since)
                self._write(connected_since=now, down_since=None, problem=None)
            self._now = self._now.model_copy(update={"last_event_at": now})

    def refused(self) -> None:
        """Note that something could not be taken; Slack sends it again, but not for ever."""
        with self._lock:
            if self._now.down_since is None:
                self._write(connected_since=None, down_since=self._clock.now(), problem=_NOT_STORED)

    def _write(self, **changes: Any) -> None:
        self._now = self._now.model_copy(update={**changes, "at": self._clock.now()})
        try:
            self._slate.write(self._now.model_dump(mode="json"))
        except StoreError:
            log.exception("the connection's state could not be written", extra={"action": "presence_lost"})
