"""A git server over HTTP on loopback: git's own `http-backend`, and the ways in which a server fails."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit


class Mood(StrEnum):
    """How the server answers."""

    WELL = "well"
    SLOW = "slow"
    """Some KiB, then a short pause, and so on."""
    SILENT = "silent"
    """Takes the request and never answers it."""
    LOCKED = "locked"
    """Wants a password."""
    BROKEN = "broken"
    """Status 500, with words that try to look like somebody else's."""
    GONE = "gone"


class GitServer(ThreadingHTTPServer):
    """Serves the repositories below `folder`; `mood` may change at any time."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.mood, self.requests = folder, Mood.WELL, 0
        self.closing = threading.Event()
        self.pause_s = 0.05

    def url(self, name: str) -> str:
        """Return the address of a repository."""
        return f"http://127.0.0.1:{self.server_port}/{name}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that were killed."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def _answer(self) -> None:
        server = cast("GitServer", self.server)
        server.requests += 1
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if server.mood is Mood.SILENT:
            server.closing.wait()
        elif server.mood is Mood.LOCKED:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
        elif server.mood in (Mood.BROKEN, Mood.GONE):
            self.send_error(500 if server.mood is Mood.BROKEN else 404, "<!channel> sorry")
        else:
            self._serve(server, body)

    def _serve(self, server: GitServer, body: bytes) -> None:
        path = urlsplit(self.path)
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(server.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path.path,
            "QUERY_STRING": path.query,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        size = 4096 if server.mood is Mood.SLOW else max(1, len(content))
        for start in range(0, len(content), size):
            self.wfile.write(content[start : start + size])
            if server.mood is Mood.SLOW:
                time.sleep(server.pause_s)


@contextmanager
def git_server(folder: Path) -> Iterator[GitServer]:
    """Serve the repositories below `folder` while the block runs."""
    with GitServer(folder) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
