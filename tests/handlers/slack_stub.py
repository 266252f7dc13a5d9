"""A tiny real HTTP server that answers as Slack's Web API does, or refuses, stalls and hangs up as told."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from slack_sdk import WebClient
from slack_sdk.http_retry.builtin_interval_calculators import FixedValueRetryIntervalCalculator

from bot.ports import Clock
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import RateLimiter
from handlers.transport.slack_clients import posting_client, repeatable_client
from tests.fakes import FakeClock


class HangUp:
    """Read the request, then drop the connection without an answer."""


class Answer:
    """One answer: a JSON body, or bytes for what is no JSON."""

    def __init__(self, body: dict[str, Any] | bytes | None = None, *, status: int = 200, **headers: str) -> None:
        self.body = body if isinstance(body, bytes) else json.dumps({"ok": True, **(body or {})}).encode()
        self.status, self.headers = status, headers


def refusal(code: str, *, status: int = 200, **headers: str) -> Answer:
    """Return Slack's way to say no."""
    return Answer({"ok": False, "error": code}, status=status, **headers)


class SlackStub:
    """What was asked of it, and what it will answer; without a script every answer is `{"ok": true}` and a ts."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.script: dict[str, deque[Answer | type[HangUp]]] = {}
        self.url = ""

    def will(self, method: str, *answers: Answer | type[HangUp]) -> None:
        """Script the next answers of a method; the last one stays."""
        self.script[method] = deque(answers)

    def of(self, method: str) -> list[dict[str, Any]]:
        """Return the arguments of every call of a method."""
        return [arguments for name, arguments in self.calls if name == method]

    def next_answer(self, method: str) -> Answer | type[HangUp]:
        answers = self.script.get(method)
        if not answers:
            return Answer({"ts": f"1800000000.{len(self.calls):06d}"})
        return answers.popleft() if len(answers) > 1 else answers[0]


def _handler(stub: SlackStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            method = self.path.rpartition("/")[2]
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(errors="replace")
            is_json = "json" in (self.headers.get("Content-Type") or "")
            stub.calls.append((method, json.loads(data or "{}") if is_json else dict(parse_qsl(data))))
            self._answer(stub.next_answer(method))

        def do_GET(self) -> None:
            name = self.path.rpartition("/")[2]
            stub.calls.append((name, dict(self.headers)))
            self._answer(stub.next_answer(name))

        def _answer(self, answer: Answer | type[HangUp]) -> None:
            if isinstance(answer, type):
                self.close_connection = True
                self.connection.close()
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that was dropped on purpose is no error."""


@contextmanager
def slack_stub() -> Iterator[SlackStub]:
    """Serve on a free port of this machine."""
    stub = SlackStub()
    server = _QuietServer(("127.0.0.1", 0), _handler(stub))
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/api/"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        serving.join()


def a_poster(
    url: str, *, posts_per_second: float = 1.0, clock: Clock | None = None, limiter: RateLimiter | None = None
) -> Poster:
    """Return what posts and changes messages, over the stub."""
    client = without_pauses(repeatable_client("xoxb-1", url))
    limiter = limiter or RateLimiter(posts_per_second=posts_per_second)
    return Poster(client, posting=posting_client("xoxb-1", url), limiter=limiter, clock=clock or FakeClock())


def without_pauses(client: WebClient) -> WebClient:
    """Have a client repeat its reads at once."""
    for handler in client.retry_handlers:
        handler.interval_calculator = FixedValueRetryIntervalCalculator(0)
    return client
