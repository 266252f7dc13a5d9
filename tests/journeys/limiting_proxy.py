"""A recording proxy in front of local-slack's Web API that refuses where it is told to; the rest passes.

It answers 429, or `msg_blocks_too_long` where the text of all blocks of a message together is too long.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests


class LimitingProxy(ThreadingHTTPServer):
    """Forwards POSTs to `api_url`; `passed` and `refused` hold the method and body of each, in order.

    `max_block_chars` is the most text that the blocks of one message may hold together; None: as much as they like.
    """

    daemon_threads = True

    def __init__(self, api_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api_url = api_url
        self.passed: list[tuple[str, bytes]] = []
        self.refused: list[tuple[str, bytes]] = []
        self.max_block_chars: int | None = None
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

    def is_too_long(self, method: str, body: bytes) -> bool:
        """Whether Slack would say `msg_blocks_too_long` to a call."""
        if self.max_block_chars is None or method not in ("chat.postMessage", "chat.update"):
            return False
        return block_chars(body) > self.max_block_chars


def block_chars(body: bytes) -> int:
    """Return how many characters all texts of all blocks of a message have together."""
    blocks = json.loads(body).get("blocks") or []
    return _text_chars(json.loads(blocks) if isinstance(blocks, str) else blocks)


def _text_chars(part: Any) -> int:
    if isinstance(part, list):
        return sum(map(_text_chars, part))
    if not isinstance(part, dict):
        return 0
    own = len(part["text"]) if isinstance(part.get("text"), str) else 0
    return own + sum(map(_text_chars, part.values()))


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
        if self.server.is_too_long(method, body):
            self.server.refused.append((method, body))
            self._answer(200, b'{"ok":false,"error":"msg_blocks_too_long"}', {})
            return
        self.server.passed.append((method, body))
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        answer = requests.post(self.server.api_url + method, data=body, headers=headers, timeout=120)
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
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
