"""HTTP mode as a WSGI application: checks a request's signature before anything of its body is read.

A signature counts once: the same signed request again is a replay, and refused as long as its timestamp would pass.
Source: https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Protocol

from slack_bolt import App, BoltRequest
from slack_bolt.request.internals import parse_body
from slack_sdk.signature import Clock as SdkClock
from slack_sdk.signature import SignatureVerifier

from bot.errors import StoreError
from bot.ports import Clock
from handlers.transport.bolt_requests import is_well_shaped

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

log = logging.getLogger(__name__)


REMEMBERED_S: Final = 600.0
"""Twice the window of 5 min: a timestamp may lie that far in the future and then that far in the past."""

MAX_REMEMBERED: Final = 20_000
"""More than Slack sends in 10 min (30,000 events an hour), so that only what has expired is forgotten."""

_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}")
_SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}")

EVENTS_PATH: Final = "/slack/events"
HEALTH_PATH: Final = "/healthz"
_KEPT_HEADERS: Final = {
    "CONTENT_TYPE": "content-type",
    "HTTP_X_SLACK_SIGNATURE": "x-slack-signature",
    "HTTP_X_SLACK_REQUEST_TIMESTAMP": "x-slack-request-timestamp",
    "HTTP_X_SLACK_RETRY_NUM": "x-slack-retry-num",
    "HTTP_X_SLACK_RETRY_REASON": "x-slack-retry-reason",
}
"""What Bolt gets to see: among its own headers are some that steer it, and no header is signed."""

Answer = tuple[str, str, str]
"""Status line, content type, body."""

_TEXT: Final = "text/plain; charset=utf-8"
_HEALTHY: Final[Answer] = ("200 OK", _TEXT, "ok\n")
_TAKEN: Final[Answer] = ("200 OK", _TEXT, "")
_NOT_FOUND: Final[Answer] = ("404 Not Found", _TEXT, "not found\n")
_REFUSED: Final[Answer] = ("401 Unauthorized", _TEXT, "not signed by Slack, too old, or seen before\n")
_NOT_STORED: Final[Answer] = ("503 Service Unavailable", _TEXT, "not stored\n")
_UNREADABLE: Final[Answer] = ("400 Bad Request", _TEXT, "unreadable\n")


class Signatures:
    """Checks signatures and remembers those it accepted."""

    def __init__(self, signing_secret: str, clock: Clock) -> None:
        self._clock = clock
        self._verifier = SignatureVerifier(signing_secret, _SameClock(clock))
        self._seen: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def accept(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Whether Slack signed these bytes within 5 min of now, and they have not been accepted before."""
        timestamp = headers.get("x-slack-request-timestamp", "")
        signature = headers.get("x-slack-signature", "")
        return self._is_genuine(body, timestamp, signature) and self._is_first(signature)

    def forget(self, headers: Mapping[str, str]) -> None:
        """Let a request come again that could not be taken."""
        with self._lock:
            self._seen.pop(headers.get("x-slack-signature", ""), None)

    def _is_genuine(self, body: bytes, timestamp: str, signature: str) -> bool:
        """Ask the SDK, after ruling out what it would stumble over: numbers, signatures and text that are none."""
        if not _TIMESTAMP.fullmatch(timestamp) or not _SIGNATURE.fullmatch(signature):
            return False
        try:
            return bool(self._verifier.is_valid(body, timestamp, signature))
        except UnicodeDecodeError:
            return False

    def _is_first(self, signature: str) -> bool:
        now = self._clock.now().timestamp()
        with self._lock:
            while self._seen and (len(self._seen) >= MAX_REMEMBERED or next(iter(self._seen.values())) <= now):
                self._seen.popitem(last=False)
            if signature in self._seen:
                return False
            self._seen[signature] = now + REMEMBERED_S
            return True


class _SameClock(SdkClock):
    """The SDK's clock over ours."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        """Return the time in seconds since the epoch."""
        return self._clock.now().timestamp()


class RequestReceiver(Protocol):
    """Who wants to know what was heard."""

    def heard(self) -> None:
        """Slack sent something, not given to Bolt yet; a StoreError refuses it."""

    def refused(self) -> None:
        """It could not be taken."""


class HttpApp:
    """The WSGI application: `/slack/events` for what Slack signed, `/healthz` for whoever watches, nothing else."""

    def __init__(self, app: App, signatures: Signatures, receiver: RequestReceiver) -> None:
        self._app, self._signatures, self._receiver = app, signatures, receiver
        self._turned_away = 0

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        status, content_type, body = self._answer(environ)
        start_response(status, [("Content-Type", content_type), ("Cache-Control", "no-store")])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body.encode()]

    def _answer(self, environ: WSGIEnvironment) -> Answer:
        method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
        if path == HEALTH_PATH and method in ("GET", "HEAD"):
            return _HEALTHY
        if path != EVENTS_PATH or method != "POST":
            return _NOT_FOUND
        body = environ["wsgi.input"].read()
        headers = {ours: str(environ[theirs]) for theirs, ours in _KEPT_HEADERS.items() if theirs in environ}
        if not self._signatures.accept(body, headers):
            self._turn_away()
            return _REFUSED
        answer = self._take(body.decode(), headers)
        if not answer[0].startswith("2"):
            self._signatures.forget(headers)  # not taken, so Slack may send the very same again
        if answer[0].startswith("5"):
            self._receiver.refused()
        return answer

    def _take(self, body: str, headers: dict[str, str]) -> Answer:
        try:
            self._receiver.heard()
        except StoreError:
            log.exception("an event must wait: what may be missing could not be noted", extra={"action": "refused"})
            return _NOT_STORED
        return self._dispatch(body, headers)

    def _dispatch(self, body: str, headers: dict[str, str]) -> Answer:
        """Hand a genuine request to Bolt; what it could not read goes no further, as with Socket Mode's envelopes."""
        try:
            parsed = parse_body(body, headers.get("content-type", "").partition(";")[0].strip())
        except (ValueError, RecursionError):
            return _UNREADABLE
        if not is_well_shaped(parsed):
            log.warning("ignored a payload of the wrong shape", extra={"action": "payload_misshapen"})
            return _TAKEN
        response = self._app.dispatch(BoltRequest(body=body, headers=dict(headers)))
        content_type = response.headers.get("content-type", [_TEXT])[0]
        return f"{response.status} {HTTPStatus(response.status).phrase}", content_type, response.body or ""

    def _turn_away(self) -> None:
        """Count; say so the 1st, 2nd, 4th, 8th … time, so that nobody can fill the log."""
        self._turned_away += 1
        if self._turned_away & (self._turned_away - 1) == 0:
            log.warning(
                "requests that were not signed by Slack, too old or replayed: %d so far; "
                "if they are Slack's own, check SLACK_SIGNING_SECRET and this machine's clock",
                self._turned_away,
                extra={"action": "request_refused"},
            )
