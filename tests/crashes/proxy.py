"""A proxy in front of local-slack's Web API that lets a chosen call through and keeps the answer, or keeps the call.

Before it hangs up it does what it was told (a SIGKILL to the bot), so the bot dies between an effect at Slack and
knowing of it: no other place can produce that moment.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

from tests.crashes.outside import slack_call

Deed = Callable[[], None]


class WithholdingProxy(ThreadingHTTPServer):
    """Forwards POSTs to `api_url`; `withhold` chooses the one whose answer never arrives."""

    daemon_threads = True

    def __init__(self, api_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api_url = api_url
        self._lock = threading.Lock()
        self._trap: tuple[re.Pattern[str], Deed] | None = None
        self._held: tuple[re.Pattern[str], Deed] | None = None
        self._cut: re.Pattern[str] | None = None
        self._released = threading.Event()

    @property
    def url(self) -> str:
        """What SLACK_API_URL is set to."""
        return f"http://127.0.0.1:{self.server_port}/api/"

    def withhold(self, pattern: str, deed: Deed) -> None:
        """Do `deed` instead of answering the next call that `pattern` matches (see tests/crashes/outside.py)."""
        with self._lock:
            self._trap = (re.compile(pattern, re.DOTALL), deed)

    def sprung(self, what: str) -> Deed | None:
        """Return the deed if this call is the one, once."""
        with self._lock:
            if self._trap is None or not self._trap[0].match(what):
                return None
            deed, self._trap = self._trap[1], None
            return deed

    def hold(self, pattern: str, deed: Deed) -> None:
        """Do `deed` before Slack gets the next call that matches, and let it through only after `release`."""
        with self._lock:
            self._held = (re.compile(pattern, re.DOTALL), deed)

    def cut(self, pattern: str) -> None:
        """Hang up on the next call that matches before Slack gets it."""
        with self._lock:
            self._cut = re.compile(pattern, re.DOTALL)

    def is_cut(self, what: str) -> bool:
        """Return whether this call is the one to hang up on, once."""
        with self._lock:
            if self._cut is None or not self._cut.match(what):
                return False
            self._cut = None
            return True

    def release(self) -> None:
        """Let through what is held."""
        self._released.set()

    def delay(self, what: str) -> None:
        """Return at once, or if this call is the one to hold, when it was released."""
        with self._lock:
            if self._held is None or not self._held[0].match(what):
                return
            deed, self._held = self._held[1], None
        deed()
        self._released.wait()

    def handle_error(self, *_: object) -> None:
        """Say nothing of callers that were killed while they waited."""


class _Handler(BaseHTTPRequestHandler):
    server: WithholdingProxy

    def do_POST(self) -> None:
        method = self.path.rpartition("/")[2]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        what = slack_call(method, body.decode())
        if self.server.is_cut(what):
            self.close_connection = True
            return
        self.server.delay(what)
        answer = requests.post(self.server.api_url + method, data=body, headers=headers, timeout=120)
        deed = self.server.sprung(what)
        if deed is not None:
            deed()
            self.close_connection = True
            return
        self.send_response(answer.status_code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def withholding_proxy(api_url: str) -> Iterator[WithholdingProxy]:
    """Run a proxy as long as the block lasts."""
    with WithholdingProxy(api_url) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.release()
            server.shutdown()
