"""A proxy in front of local-slack that says of people and answers what a test wants, as real Slack would.

It stands for what the throw-away workspace lacks: guests, partners, time zones, granted scopes, Slack's clock.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

import requests


class SlackEnd(ThreadingHTTPServer):
    """Forwards POSTs to `upstream`.

    `people` and `channels` are fields of users and channels by their id, `headers` go with every answer, `refusals` are
    errors by method, or by method and channel of a call that only reads; `calls` are method and arguments of what was
    asked.
    """

    daemon_threads = True

    def __init__(self, api_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = api_url
        self.people: dict[str, dict[str, Any]] = {}
        self.channels: dict[str, dict[str, Any]] = {}
        self.headers: dict[str, str] = {}
        self.refusals: dict[str, str] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []

    @property
    def api_url(self) -> str:
        """What SLACK_API_URL is set to."""
        return f"http://127.0.0.1:{self.server_port}/api/"

    def answer(self, method: str, channel: str, content: bytes) -> bytes:
        """Return an answer with what this end knows better."""
        refusal = self.refusals.get(method) or self.refusals.get(f"{method} {channel}")
        if refusal:
            return json.dumps({"ok": False, "error": refusal}).encode()
        found = json.loads(content)
        for user in [found.get("user"), *(found.get("members") or [])]:
            if isinstance(user, dict):
                user.update(self.people.get(user.get("id", ""), {}))
        if isinstance(found.get("channel"), dict):
            found["channel"].update(self.channels.get(found["channel"].get("id", ""), {}))
        return json.dumps(found).encode()


class _Handler(BaseHTTPRequestHandler):
    server: SlackEnd

    def do_POST(self) -> None:
        method = self.path.rpartition("/")[2]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_json = "json" in (self.headers.get("Content-Type") or "")
        asked = json.loads(body or b"{}") if is_json else dict(parse_qsl(body.decode()))
        self.server.calls.append((method, asked))
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        if method in self.server.refusals:  # refused before it is carried out
            self._answer(self.server.answer(method, "", b"{}"))
            return
        found = requests.post(self.server.upstream + method, data=body, headers=headers, timeout=120)
        self._answer(self.server.answer(method, str(asked.get("channel")), found.content))

    def _answer(self, content: bytes) -> None:
        self.send_response_only(200)
        plain = {"Date": self.date_time_string(), "Content-Type": "application/json"}
        for name, value in {**plain, **self.server.headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def slack_end(api_url: str) -> Iterator[SlackEnd]:
    """Run the proxy as long as the block lasts."""
    with SlackEnd(api_url) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
