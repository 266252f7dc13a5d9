"""A proxy in front of local-slack's Web API that adds what local-slack cannot keep: attachments, files, guests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

Json = dict[str, Any]


class DressingProxy(ThreadingHTTPServer):
    """Forwards POSTs to `api_url`; a message read back gets what `extras` holds for its ts, a user theirs."""

    daemon_threads = True

    def __init__(self, api_url: str, extras: Mapping[str, Json]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api_url, self.extras = api_url, extras

    @property
    def url(self) -> str:
        """What SLACK_API_URL is set to."""
        return f"http://127.0.0.1:{self.server_port}/api/"


class _Handler(BaseHTTPRequestHandler):
    server: DressingProxy

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        method = self.path.rpartition("/")[2]
        found = requests.post(self.server.api_url + method, data=body, headers=headers, timeout=120)
        answer = found.json()
        if method in ("conversations.history", "conversations.replies"):
            extras = self.server.extras
            answer["messages"] = [{**one, **extras.get(one["ts"], {})} for one in answer.get("messages") or []]
        elif method == "users.info":
            answer["user"] |= self.server.extras.get(answer["user"]["id"], {})
        content = json.dumps(answer).encode()
        self.send_response(found.status_code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def dressing_proxy(api_url: str, extras: Mapping[str, Json]) -> Iterator[DressingProxy]:
    """Run a proxy as long as the block lasts."""
    with DressingProxy(api_url, extras) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
