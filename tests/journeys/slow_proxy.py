"""A proxy in front of local-slack's Web API that holds one method back; everything else passes at once.

Who is held is sent a header that goes on and on, for nobody to give up for lack of an answer.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests


class SlowProxy(ThreadingHTTPServer):
    """Forwards POSTs to `api_url`; those to `method` whose body holds `marker` wait until `release` is set."""

    daemon_threads = True

    def __init__(self, api_url: str, *, method: str, marker: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api_url, self.method, self.marker = api_url, method, marker
        self.held, self.release = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        """What SLACK_API_URL is set to."""
        return f"http://127.0.0.1:{self.server_port}/api/"


class _Handler(BaseHTTPRequestHandler):
    server: SlowProxy
    _is_begun = False

    def do_POST(self) -> None:
        method = self.path.rpartition("/")[2]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if method == self.server.method and self.server.marker.encode() in body:
            self.server.held.set()
            self._hold()
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        answer = requests.post(self.server.api_url + method, data=body, headers=headers, timeout=120)
        if not self._is_begun:
            self.send_response(answer.status_code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def _hold(self) -> None:
        """Begin the answer, which Slack gives with status 200 whatever it says, and go on with it until released."""
        self._is_begun = True
        with suppress(OSError):  # whoever asked was killed; Slack has the request all the same
            self.wfile.write(b"HTTP/1.0 200 OK\r\nX-Held: ")
            while not self.server.release.wait(1):
                self.wfile.write(b".")
            self.wfile.write(b"\r\n")
        self.server.release.wait()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def slow_proxy(api_url: str, *, method: str, marker: str) -> Iterator[SlowProxy]:
    """Run a proxy as long as the block lasts."""
    with SlowProxy(api_url, method=method, marker=marker) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.release.set()
            server.shutdown()
