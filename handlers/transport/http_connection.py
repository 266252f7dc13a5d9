"""HTTP mode: what Slack's requests mean for the line (handlers/transport/http_server.py takes them).

What Slack sent before the start, or while nothing could be stored, is noted as missed before anything new is heard:
Slack gives a request up after its third repetition, some 6 min.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from slack_bolt import App

from bot.ports import Clock
from bot.ports.collections import SingleDocument
from handlers.transport.connection import Connection, OnGap
from handlers.transport.http_app import HttpApp, Signatures
from handlers.transport.http_server import HttpServer

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
