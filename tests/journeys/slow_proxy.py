"""A proxy in front of local-slack's Web API that holds one method back; everything else passes at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
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

    def do_POST(self) -> None:
        method = self.path.rpartition("/")[2]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if method == self.server.method and self.server.marker.encode() in body:
            self.server.held.set()
            self.server.release.wait(120)
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        answer = requests.post(self.server.api_url + method, data=body, headers=headers, timeout=120)
        self.send_response(answer.status_code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def slow_proxy(api_url: str, *, method: str, marker: str) -> Iterator[SlowProxy]:
    """Run a proxy as long as the block lasts."""
    with SlowProxy(api_url, method=method, marker=marker) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.release.set()
            server.shutdown()
