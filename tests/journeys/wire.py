"""The wire between the bot and local-slack, which can be cut, held silent, or taken down: Web API and Socket Mode.

The Web API passes through a small HTTP server that only rewrites the Socket Mode address it hands out, so that the
websocket passes through a TCP relay of ours.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import requests


class Wire(ThreadingHTTPServer):
    """Forwards to `api_url` while `up`; counts what each method was asked."""

    daemon_threads = True

    def __init__(self, api_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api_url = api_url
        self.up = True
        self.asked: list[str] = []
        self._silent = threading.Event()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._relay = socket.create_server(("127.0.0.1", 0))
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def url(self) -> str:
        """What SLACK_API_URL is set to."""
        return f"http://127.0.0.1:{self.server_port}/api/"

    @property
    def relay_port(self) -> int:
        """Where the websocket passes."""
        return int(self._relay.getsockname()[1])

    def connections(self) -> int:
        """Return how many websockets have been opened."""
        return len(self._pairs)

    def cut(self) -> None:
        """Reset every websocket."""
        for pair in self._pairs:
            for end in pair:
                with suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()

    def hush(self) -> None:
        """Keep the websockets open and pass nothing on, in either direction; new ones work."""
        self._silent.set()
        self._silent = threading.Event()

    def close(self) -> None:
        """End everything."""
        self.cut()
        self._relay.shutdown(socket.SHUT_RDWR)  # a close alone leaves its thread in accept, for the next socket's calls
        self._accepting.join()
        self._relay.close()
        self.shutdown()
        self.server_close()

    def _accept(self) -> None:
        target = urlsplit(self.api_url)
        while True:
            try:
                near, _ = self._relay.accept()
            except OSError:
                return
            if not self.up:
                near.close()
                continue
            far = socket.create_connection((target.hostname, target.port))
            self._pairs.append((near, far))
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=_pump, args=(source, sink, self._silent), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket, silent: threading.Event) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            if not silent.is_set():
                sink.sendall(data)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: Wire

    def do_POST(self) -> None:
        method = self.path.rpartition("/")[2]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(method)
        if not self.server.up:
            self._answer(503, b"{}")
            return
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        answer = requests.post(self.server.api_url + method, data=body, headers=headers, timeout=120)
        content = answer.content
        if method == "apps.connections.open":
            found = answer.json()
            path = urlsplit(found["url"]).path
            content = json.dumps({**found, "url": f"ws://127.0.0.1:{self.server.relay_port}{path}"}).encode()
        self._answer(answer.status_code, content)

    def _answer(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def wire(api_url: str) -> Iterator[Wire]:
    """Run a wire as long as the block lasts."""
    server = Wire(api_url)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield server
    finally:
        server.close()
