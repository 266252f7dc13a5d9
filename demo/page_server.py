"""The demo's page: a few files of ours, served beside local-slack, whose own page draws no code, dates or long inputs.

The page talks to local-slack's WebSocket itself. Nothing but these files is served, on the loopback address only.
"""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from types import TracebackType
from typing import Final, Self

from bot.errors import ConfigError

_TYPES: Final = {"html": "text/html", "js": "text/javascript", "css": "text/css", "json": "application/json"}
_FILES: Final = ("index.html", "page.js", "blocks.js", "mrkdwn.js", "page.css")


class PageServer:
    """Serves the page of one local-slack; enter it to start, leave it to stop."""

    def __init__(self, slack_url: str, *, actor: str, channel: str, port: int = 0) -> None:
        """Prepare the page.

        Args:
            slack_url: Address of local-slack, as `LocalSlack.url` gives it.
            actor: Whom the page acts as at first, by user id.
            channel: The channel it opens, by id.
            port: Where to listen; 0 takes a free port.

        Raises:
            ConfigError: the port is in use.
        """
        folder = resources.files("demo") / "page"
        settings = json.dumps({"slack": slack_url, "actor": actor, "channel": channel})
        files = {name: (folder / name).read_bytes() for name in _FILES} | {"page.json": settings.encode()}
        try:
            self._server = _Server(port, files, slack_url)
        except OSError as error:
            raise ConfigError(f"Port {port} is in use already. Choose another, or none to get a free one.") from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="page", daemon=True)

    @property
    def url(self) -> str:
        """The page's address, without a slash at the end."""
        return f"http://localhost:{self._server.server_port}"

    def __enter__(self) -> Self:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, files: dict[str, bytes], slack_url: str) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.files = files
        sockets = slack_url.replace("http://", "ws://", 1)
        self.policy = f"default-src 'self'; connect-src 'self' {sockets}; img-src 'self' data: http: https:"


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """Answer with a file, or with the page itself for any address that is none."""
        asked = self.path.partition("?")[0].strip("/")
        name = asked if asked in self.server.files else "index.html"
        body = self.server.files[name]
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", self.server.policy)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""
