"""One proxy between the bot and the real local-slack, Web API and WebSocket, with the faults of networks and of Slack.

Web API calls are refused (429), or cut off after Slack has read them; envelopes are delivered again, at once or later;
sockets are cut when told to. What happens to the n-th call of a method follows from the seed. Every call is recorded.
"""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Final
from urllib.parse import urlsplit

import requests

PASSED: Final = "passed"
REFUSED: Final = "refused"
DROPPED: Final = "dropped"


@dataclass(frozen=True, kw_only=True)
class Faults:
    """How often what goes wrong; shares of 1."""

    seed: int
    refused: float = 0.0
    retry_after_s: int = 1
    dropped: float = 0.0
    delivered_again: float = 0.0
    later_s: float = 0.5

    def of_call(self, method: str, number: int) -> str:
        """Return what becomes of the call `number` of a method."""
        lot = random.Random(f"{self.seed}:{method}:{number}").random()
        if lot < self.refused:
            return REFUSED
        return DROPPED if lot < self.refused + self.dropped else PASSED

    def repeats(self, number: int) -> tuple[float, ...]:
        """Return after how many seconds each the envelope `number` is delivered once more."""
        chance = random.Random(f"{self.seed}:envelope:{number}")
        if chance.random() >= self.delivered_again:
            return ()
        return chance.choice(((0.0,), (self.later_s,), (0.0, self.later_s)))


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of the Web API: when it came (seconds since the epoch), what it said and what became of it."""

    at: float
    method: str
    body: bytes
    outcome: str


@dataclass(eq=False)
class Line:
    """One WebSocket: the bot's end, local-slack's end, and the lock under which whole frames are written."""

    bot: socket.socket
    slack: socket.socket
    writing: threading.Lock = field(default_factory=threading.Lock)

    def send(self, frame: bytes) -> None:
        """Write one whole frame to the bot."""
        with self.writing, suppress(OSError):
            self.bot.sendall(frame)

    def cut(self) -> None:
        """End both sides without a word."""
        for end in (self.bot, self.slack):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class FaultProxy(ThreadingHTTPServer):
    """Passes everything until `faults` is set; `calls` holds every call of the Web API, in order."""

    daemon_threads = True

    def __init__(self, api_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api_url = api_url
        self.faults: Faults | None = None
        self.calls: list[Call] = []
        self.connections = 0
        self.delivered = 0
        self.delivered_again = 0
        self._lines: set[Line] = set()
        self._numbers: Counter[str] = Counter()
        self._envelopes = count()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """What SLACK_API_URL is set to."""
        return f"http://127.0.0.1:{self.server_port}/api/"

    def cut_sockets(self) -> int:
        """Cut every WebSocket that is open; returns how many were."""
        with self._lock:
            lines = list(self._lines)
        for line in lines:
            line.cut()
        return len(lines)

    def outcomes(self) -> Counter[str]:
        """Return how many calls were passed, refused and dropped."""
        return Counter(call.outcome for call in list(self.calls))

    def judge(self, method: str, body: bytes) -> str:
        """Record a call and return what is to become of it."""
        with self._lock:
            number = self._numbers[method]
            self._numbers[method] += 1
            outcome = self.faults.of_call(method, number) if self.faults else PASSED
            self.calls.append(Call(at=time.time(), method=method, body=body, outcome=outcome))
        return outcome

    def rewritten(self, answer: bytes) -> bytes:
        """Return the answer of apps.connections.open with this proxy in local-slack's place."""
        fields: dict[str, Any] = json.loads(answer)
        path = urlsplit(fields.get("url") or "").path
        return json.dumps({**fields, "url": f"ws://127.0.0.1:{self.server_port}{path}"}).encode()

    def relay(self, line: Line) -> None:
        """Pass frames both ways until either side ends."""
        with self._lock:
            self._lines.add(line)
            self.connections += 1
        up = threading.Thread(target=_pump, args=(line.bot, line.slack), daemon=True)
        up.start()
        with suppress(OSError, EOFError):
            self._deliver_all(line)
        line.cut()
        up.join()
        with self._lock:
            self._lines.discard(line)

    def _deliver_all(self, line: Line) -> None:
        reader = line.slack.makefile("rb")
        while True:
            opcode, payload, frame = _read_frame(reader)
            line.send(frame)
            if opcode == 1 and self.faults and (again := _once_more(payload)) is not None:
                self.delivered += 1
                for after_s in self.faults.repeats(next(self._envelopes)):
                    self.delivered_again += 1
                    threading.Timer(after_s, line.send, [again]).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that ended early is what this is for."""


class _Handler(BaseHTTPRequestHandler):
    server: FaultProxy

    def do_POST(self) -> None:
        method = self.path.rpartition("/")[2]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        outcome = self.server.judge(method, body)
        if outcome == REFUSED and self.server.faults:
            wait = str(self.server.faults.retry_after_s)
            self._answer(429, b'{"ok":false,"error":"ratelimited"}', {"Retry-After": wait})
            return
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        answer = requests.post(self.server.api_url + method, data=body, headers=headers, timeout=120)
        if outcome == DROPPED:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        is_open = method == "apps.connections.open" and answer.ok
        self._answer(answer.status_code, self.server.rewritten(answer.content) if is_open else answer.content, {})

    def do_GET(self) -> None:
        """Connect a WebSocket through: the handshake as it is, then frames."""
        target = urlsplit(self.server.api_url)
        with socket.create_connection((target.hostname, target.port or 80), timeout=120) as slack:
            slack.settimeout(None)
            lines = [f"GET {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers.items())]
            slack.sendall("\r\n".join([*lines, "", ""]).encode())
            self.close_connection = True
            self.server.relay(Line(bot=self.connection, slack=slack))

    def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _read_frame(reader: Any) -> tuple[int, bytes, bytes]:
    """Return `(opcode, payload, the whole frame)`; the answer to the handshake counts as a frame of opcode 0.

    Source: RFC 6455, 5.2; a server's frames are not masked.
    """
    head = _exactly(reader, 2)
    if head == b"HT":
        rest = iter(reader.readline, b"\r\n")
        return 0, b"", head + b"".join(rest) + b"\r\n"
    size, length = b"", head[1] & 0x7F
    if length >= 126:
        size = _exactly(reader, 2 if length == 126 else 8)
        length = int.from_bytes(size, "big")
    payload = _exactly(reader, length)
    return head[0] & 0x0F, payload, head + size + payload


def _exactly(reader: Any, length: int) -> bytes:
    data: bytes = reader.read(length)
    if len(data) < length:
        raise EOFError
    return data


def _once_more(payload: bytes) -> bytes | None:
    """Return the frame with which Slack delivers an event again; None for what it does not repeat."""
    envelope = json.loads(payload)
    if envelope.get("type") != "events_api":
        return None
    retry = {"retry_attempt": 1, "retry_reason": "timeout", "envelope_id": f"{envelope['envelope_id']}-again"}
    again = json.dumps({**envelope, **retry}).encode()
    size = bytes([126]) + len(again).to_bytes(2, "big") if len(again) > 125 else bytes([len(again)])
    return b"\x81" + size + again


@contextmanager
def fault_proxy(api_url: str) -> Iterator[FaultProxy]:
    """Run a proxy as long as the block lasts."""
    with FaultProxy(api_url) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.cut_sockets()
            server.shutdown()
