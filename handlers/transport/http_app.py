"""HTTP mode as an ASGI application: checks a request's signature before anything of its body is read.

A signature counts once: the same signed request again is a replay, and refused as long as its timestamp would pass.
Bolt's own adapter finds the path and writes the answer; Bolt itself gets only what passed the check.
Source: https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from typing import Any, Final

from slack_bolt import App, BoltResponse
from slack_bolt.adapter.asgi import SlackRequestHandler
from slack_bolt.adapter.asgi.http_request import AsgiHttpRequest
from slack_bolt.adapter.asgi.http_response import AsgiHttpResponse
from slack_bolt.request.internals import parse_body
from slack_sdk.signature import Clock as SdkClock
from slack_sdk.signature import SignatureVerifier

from bot.errors import StoreError
from bot.ports import Clock
from handlers.transport.connection import dispatch

log = logging.getLogger(__name__)

MAX_BODY: Final = 1024 * 1024

REMEMBERED_S: Final = 600.0
"""Twice the window of 5 min: a timestamp may lie that far in the future and then that far in the past."""

MAX_REMEMBERED: Final = 20_000
"""More than Slack sends in 10 min (30,000 events an hour), so that only what has expired is forgotten."""

_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}")
_SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}")

EVENTS_PATH: Final = "/slack/events"
HEALTH_PATH: Final = "/healthz"
_KEPT_HEADERS: Final = frozenset(
    {"content-type", "x-slack-signature", "x-slack-request-timestamp", "x-slack-retry-num", "x-slack-retry-reason"}
)
"""What Bolt gets to see: among its own headers are some that steer it, and no header is signed."""


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


class HttpApp(SlackRequestHandler):
    """The ASGI application: `/slack/events` for what Slack signed, `/healthz` for whoever watches, nothing else.

    `heard` is called before Bolt gets a genuine request, and a StoreError of it refuses that; `refused` after one could
    not be stored. Both run on `executor`, as Bolt does, so that none of them holds up the server.
    """

    def __init__(
        self,
        app: App,
        signatures: Signatures,
        executor: Executor,
        *,
        heard: Callable[[], None],
        refused: Callable[[], None],
    ) -> None:
        super().__init__(app, EVENTS_PATH)
        self._signatures, self._executor, self._heard, self._refused = signatures, executor, heard, refused
        self._turned_away = 0

    async def __call__(
        self, scope: Any, receive: Callable[..., Awaitable[Any]], send: Callable[..., Awaitable[None]]
    ) -> None:
        """Answer one request."""
        if scope["path"] != HEALTH_PATH or scope["method"] not in ("GET", "HEAD"):
            await super().__call__(scope, receive, send)
            return
        answer = AsgiHttpResponse(200, {"content-type": ["text/plain; charset=utf-8"]}, "ok\n")
        await send(answer.get_response_start())
        await send(answer.get_response_body())

    async def dispatch(self, request: AsgiHttpRequest) -> BoltResponse:
        """Return the answer to a request at `/slack/events`, whoever sent it."""
        given = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.raw_headers}
        headers = {name: value for name, value in given.items() if name in _KEPT_HEADERS}
        body = await _body_of(request, int(given.get("content-length", 0)))
        if body is None:
            return BoltResponse(status=413, body="too large\n")
        if not self._signatures.accept(body, headers):
            self._turn_away()
            return BoltResponse(status=401, body="not signed by Slack, too old, or seen before\n")
        taken = asyncio.get_running_loop().run_in_executor(self._executor, self._take, body.decode(), headers)
        try:
            return await taken
        except asyncio.CancelledError:  # the server stops, and waits no longer: Slack sends it again
            return BoltResponse(status=503, body="stopping\n")

    def _take(self, body: str, headers: dict[str, str]) -> BoltResponse:
        """Take a genuine request; what is not taken Slack may send again, the very same."""
        try:
            self._heard()
            answer = self._give_to_bolt(body, headers)
        except StoreError:
            log.exception("an event must wait: what may be missing could not be noted", extra={"action": "refused"})
            answer = BoltResponse(status=503, body="not stored\n")
        if answer.status >= 400:
            self._signatures.forget(headers)
        if answer.status >= 500:
            self._refused()
        return answer

    def _give_to_bolt(self, body: str, headers: dict[str, str]) -> BoltResponse:
        """Hand it to Bolt; what Bolt could not read goes no further."""
        try:
            parsed = parse_body(body, headers.get("content-type", "").partition(";")[0].strip())
        except (ValueError, RecursionError):
            return BoltResponse(status=400, body="unreadable\n")
        return dispatch(self.app, parsed, {"body": body, "headers": headers})

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


async def _body_of(request: AsgiHttpRequest, announced: int) -> bytes | None:
    """Return what was sent; None as soon as it exceeds `MAX_BODY`, or where the client went away."""
    body, has_more = bytearray(), announced <= MAX_BODY
    while has_more:
        message: dict[str, Any] = await request.receive()
        if message["type"] == "http.disconnect":
            return None
        body += message["body"]
        has_more = message["more_body"] and len(body) <= MAX_BODY
    return bytes(body) if max(announced, len(body)) <= MAX_BODY else None
