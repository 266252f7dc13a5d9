"""A server whose answers would be 64 MB of blanks, and that knows how much of each was taken."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

PART: Final = b" " * 64 * 1024
PARTS: Final = 1024


class EndlessHost(ThreadingHTTPServer):
    """Answers 200 to whatever is asked; `cut_off` is set once somebody took no more of it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.cut_off = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: EndlessHost

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(PARTS):
                self.wfile.write(PART)
        except OSError:
            self.server.cut_off.set()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def endless_host() -> Iterator[EndlessHost]:
    """Run one as long as the block lasts."""
    with EndlessHost() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server
        server.shutdown()
