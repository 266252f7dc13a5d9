"""A recording proxy in front of local-slack's Web API that answers 429 where it is told to; the rest passes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests


class LimitingProxy(ThreadingHTTPServer):
    """Forwards POSTs to `api_url`; `passed` and `refused` hold the method and body of each, in order."""

    daemon_threads = True

    def __init__(self, api_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api_url = api_url
        self.passed: list[tuple[str, bytes]] = []
        self.refused: list[tuple[str, bytes]] = []
        self._refusals: dict[str, deque[int]] = {}

    @property
    def url(self) -> str:
        """What SLACK_API_URL is set to."""
        return f"http://127.0.0.1:{self.server_port}/api/"

    def refuse(self, method: str, *retry_after_s: int) -> None:
        """Answer the next calls of a method with 429 and these Retry-After."""
        self._refusals[method] = deque(retry_after_s)

    def refusal_of(self, method: str) -> int | None:
        waiting = self._refusals.get(method)
        return waiting.popleft() if waiting else None


class _Handler(BaseHTTPRequestHandler):
    server: LimitingProxy

    def do_POST(self) -> None:
        method = self.path.rpartition("/")[2]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        retry_after_s = self.server.refusal_of(method)
        if retry_after_s is not None:
            self.server.refused.append((method, body))
            self._answer(429, b'{"ok":false,"error":"ratelimited"}', {"Retry-After": str(retry_after_s)})
            return
        self.server.passed.append((method, body))
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        answer = requests.post(self.server.api_url + method, data=body, headers=headers, timeout=30)
        self._answer(answer.status_code, answer.content, {})

    def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def limiting_proxy(api_url: str) -> Iterator[LimitingProxy]:
    """Run a proxy as long as the block lasts."""
    with LimitingProxy(api_url) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
