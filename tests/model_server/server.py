"""The HTTP side: who gets which turn, sent at its pace, with its failure; every request is kept.

GET /_requests returns the requests as JSON, in order of arrival: at, role, part, turn, headers (without credentials),
body, usage. Conversations are told apart by system prompt and first message, so any number may run at once.
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

from tests.model_server.caching import Cache
from tests.model_server.script import Part, Script, Turn
from tests.model_server.templates import system_of, text_of
from tests.model_server.wire import events_of, message_of, refusal_of

HELD_EVERY_S: Final = 0.5


class ModelServer:
    """A script being played at `url`; `requests` is what was asked so far.

    Turns that hold go on once `released` is set; `hung_up` counts those whose reader went away before. While `refusing`
    is set, every request gets that turn and is not kept.
    """

    def __init__(self, script: Script, *, port: int = 0) -> None:
        self.script, self.cache = script, Cache()
        self.requests: list[dict[str, Any]] = []
        self.closing, self.released = threading.Event(), threading.Event()
        self.refusing: Turn | None = None
        self.refused, self.hung_up = 0, 0
        self._turns: dict[str, tuple[int, Turn | None]] = {}
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
        self._http.daemon_threads = True
        self._http.model = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.released.set()
        self._http.shutdown()
        self._http.server_close()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Be away for good; meanwhile nobody else gets the port."""
        self.__exit__()
        with socket.socket() as nobody:
            nobody.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            nobody.bind(("127.0.0.1", self._http.server_port))
            yield

    def next_turn(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[Turn, dict[str, int]]:
        """Return the turn a request gets and what its input counts as; keep the request.

        Raises:
            LookupError: the script has nothing for it.
        """
        opening = body["messages"][0]["content"]
        system, first = system_of(body), text_of(_words(opening)[:1] if isinstance(opening, list) else opening)
        role, number, part = self.script.part(system, first)
        key = hashlib.sha256(f"{number}\0{system}\0{first}".encode()).hexdigest()
        usage = self.cache.usage(body)
        with self._lock:
            index, turn = self._advance(key, part, is_fresh=_is_fresh(body))
            entry = {"at": time.time(), "role": role, "part": number, "turn": index, "headers": headers}
            self.requests.append({**entry, "body": body, "usage": usage})
        return turn, usage

    def _advance(self, key: str, part: Part, *, is_fresh: bool) -> tuple[int, Turn]:
        """Return the conversation's next turn; one that starts anew after a turn that succeeded plays from the top."""
        count, last = self._turns.get(key, (0, None))
        if is_fresh and last is not None and not last.fails:
            count = 0
        index = min(count, len(part.turns) - 1)
        self._turns[key] = (count + 1, part.turns[index])
        return index, part.turns[index]


def _is_fresh(body: dict[str, Any]) -> bool:
    """Whether a request holds no more than the one text that opens a conversation."""
    messages = body["messages"]
    return len(messages) == 1 and (isinstance(messages[0]["content"], str) or len(_words(messages[0]["content"])) == 1)


def _words(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks of a message that are no images."""
    return [block for block in content if block["type"] != "image"]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def _model(self) -> ModelServer:
        return self.server.model  # type: ignore[attr-defined, no-any-return]

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Serve the record of requests."""
        if self.path == "/_requests":
            self._send(200, self._model.requests)
        else:
            self._send(404, {"type": "error", "error": {"type": "not_found_error", "message": self.path}})

    def do_POST(self) -> None:
        """Play the next turn."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        hidden = {"authorization", "x-api-key"}
        headers = {name: value for name, value in self.headers.items() if name.lower() not in hidden}
        if (why := refusal_of(body["messages"])) is not None:
            self._send(400, {"type": "error", "error": {"type": "invalid_request_error", "message": why}})
            return
        if (refusing := self._model.refusing) is not None:
            self._model.refused += 1
            self._play(refusing, body, {})
            return
        try:
            turn, usage = self._model.next_turn(body, headers)
        except LookupError as error:
            self._send(400, {"type": "error", "error": {"type": "invalid_request_error", "message": str(error)}})
            return
        try:
            self._play(turn, body, usage)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _play(self, turn: Turn, body: dict[str, Any], usage: dict[str, int]) -> None:
        self._model.closing.wait(turn.silent_start_s)
        if turn.status != 200:
            error = {"type": "error", "error": {"type": turn.error or "api_error", "message": turn.message}}
            self._send(turn.status, error, {"retry-after": turn.retry_after} if turn.retry_after else {})
            return
        if turn.page:
            self._send_page()
            return
        message = message_of(turn, body, usage)
        if body.get("stream"):
            self._stream(turn, message)
        else:
            self._model.closing.wait(turn.stall_s)
            self._send(200, message)

    def _stream(self, turn: Turn, message: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        chunks = 0
        for event in events_of(turn, message):
            if event["type"] == "content_block_delta":
                chunks += 1
                self._model.closing.wait(turn.drip_ms / 1000)
                if chunks == turn.after_chunks + 1:
                    if turn.holds:
                        self._hold(event)
                    if self._strike(turn):
                        return
            if event["type"] == "message_delta" and chunks <= turn.after_chunks and self._strike(turn):
                return
            self._event(event)
        self._chunk(b"")

    def _hold(self, event: dict[str, Any]) -> None:
        try:
            while not self._model.released.wait(HELD_EVERY_S):
                self._event(event)
        except OSError:
            self._model.hung_up += 1
            raise

    def _strike(self, turn: Turn) -> bool:
        """Let the turn's failure happen; whether the stream is over."""
        deadline = time.monotonic() + turn.stall_s
        while (left := deadline - time.monotonic()) > 0 and not self._model.closing.is_set():
            self._model.closing.wait(min(left, turn.ping_ms / 1000) if turn.ping_ms else left)
            if turn.ping_ms:
                self._event({"type": "ping"})
        if turn.error:
            self._event({"type": "error", "error": {"type": turn.error, "message": turn.message}})
        if turn.cut == "tcp":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return True
        if turn.error or turn.cut:
            self._chunk(b"")
            return True
        return False

    def _event(self, event: dict[str, Any]) -> None:
        self._chunk(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _send_page(self) -> None:
        data = b"<!doctype html><title>Sign in</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _send(self, status: int, document: object, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
