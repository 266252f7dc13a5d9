"""HTTP mode over a real socket: what Slack signed reaches Bolt, everything else stays outside and leaves no trace."""

from __future__ import annotations

import logging
import select
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from unittest.mock import Mock

import pytest
import requests
from slack_bolt import App

from blocks import ids
from bot.adapters.clocks import SystemClock
from bot.errors import StoreError
from bot.intake.normalise import Identity
from handlers.transport import http_connection
from handlers.transport.http_app import MAX_BODY, HttpApp, Signatures
from handlers.transport.http_connection import GRACE_S, REQUEST_S, STOP_LIMIT_S, HttpServer, Unfinished
from tests.handlers.listening import listening
from tests.handlers.signed import SECRET, as_form, as_json, send, sign
from tests.handlers.slack_stub import SlackStub
from tests.handlers.test_routes import RecordedButtons, RecordedWatcher
from tests.payloads import payload
from tests.tables import each_row

ME = Identity(team_id="T1", user_id="U0BOT", bot_id="B0BOT")
MARK = "do-not-write-me-down"
LIMIT_S = 120.0


class RecordedEar:
    """What the server told; `full` refuses as a disk does."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.full = False

    def heard(self) -> None:
        if self.full:
            raise StoreError("No space left on device")
        self.told.append("heard")

    def refused(self) -> None:
        self.told.append("refused")


class Edge:
    """The real server over Bolt, with recorders behind it."""

    def __init__(self, slack_url: str, *, request_s: float = REQUEST_S) -> None:
        self.watcher = RecordedWatcher()
        self.approvals = RecordedButtons(actions=[ids.APPROVE], views=[ids.EDIT_VIEW])
        self.commanded: list[str] = []
        self.app: App = listening(
            slack_url,
            ME,
            ThreadPoolExecutor(4),
            watcher=self.watcher,
            approvals=self.approvals,
            alerts=RecordedButtons(),
            suggestions=RecordedButtons(),
            commands=self._command,
            removed=RecordedButtons(),
            shortcuts=RecordedButtons(),
            home=RecordedButtons(),
            notes=RecordedButtons(),
            audits=RecordedButtons(),
        )
        self.ear = RecordedEar()
        self.server = HttpServer(host="127.0.0.1", port=0, request_s=request_s)

    def open(self) -> None:
        signatures, executor = Signatures(SECRET, SystemClock()), self.server.executor
        self.server.open(HttpApp(self.app, signatures, executor, heard=self.ear.heard, refused=self.ear.refused))

    def _command(self, ack: Any, body: dict[str, Any], respond: Any) -> None:
        self.commanded.append(body["text"])
        ack(text="two drafts wait")

    def deliver(self, body: bytes, content_type: str, **more: str) -> requests.Response:
        """Send a body as Slack would, signed now."""
        return send(self.url(), body, content_type, {**sign(body, time.time()), **more})

    @property
    def is_untouched(self) -> bool:
        return not (self.ear.told or self.watcher.received or self.approvals.taken or self.commanded)

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.server.address.partition(":")
        return host, int(port)

    def url(self, path: str = "/slack/events") -> str:
        return f"http://{self.server.address}{path}"


@pytest.fixture
def edge(slack: SlackStub, caplog: pytest.LogCaptureFixture) -> Iterator[Edge]:
    """A server that is listening; at its end nothing marked was logged."""
    caplog.set_level(logging.DEBUG)
    edge = Edge(slack.url)
    edge.open()
    yield edge
    edge.server.close()
    assert MARK not in caplog.text


def test_a_message_is_journaled_before_it_is_acknowledged(edge: Edge) -> None:
    """The same body as by Socket Mode."""
    body = payload("message")
    assert edge.deliver(*as_json(body)).status_code == 200
    assert edge.watcher.received == [body]


def test_a_click_a_dialogue_and_a_command_reach_their_listeners(edge: Edge) -> None:
    """As forms; the command's answer goes back with the acknowledgement."""
    click = payload("block_actions")
    click["actions"][0]["action_id"] = ids.APPROVE
    assert edge.deliver(*as_form(click)).status_code == 200
    submit = payload("view_submission")
    submit["view"]["callback_id"] = ids.EDIT_VIEW
    assert edge.deliver(*as_form(submit)).status_code == 200
    assert edge.approvals.taken == [ids.APPROVE, ids.EDIT_VIEW]
    answer = edge.deliver(*as_form(payload("slash_command")))
    assert answer.status_code == 200
    assert answer.text == "two drafts wait"
    assert edge.commanded == ["status"]


def test_slacks_challenge_is_answered(edge: Edge) -> None:
    """Without it Slack does not take the address; unsigned it is refused as everything is."""
    body, kind = as_json({"type": "url_verification", "challenge": "3eZbrw1a", "token": "x"})
    assert edge.deliver(body, kind).json() == {"challenge": "3eZbrw1a"}
    assert send(edge.url(), body, kind, {}).status_code == 401


def test_a_redelivery_passes_and_a_replay_does_not(edge: Edge) -> None:
    """Slack signs a redelivery anew and numbers it; that the message is the same is the watcher's to see."""
    body, kind = as_json(payload("message"))
    first = sign(body, time.time())
    retry = {**sign(body, time.time() + 1), "X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
    assert send(edge.url(), body, kind, first).status_code == 200
    assert send(edge.url(), body, kind, {**first, "X-Slack-Retry-Num": "1"}).status_code == 401
    assert send(edge.url(), body, kind, retry).status_code == 200
    assert len(edge.watcher.received) == 2


@pytest.mark.parametrize("how", ["unsigned", "other secret", "old", "from the future", "not a number", "half", "é"])
def test_what_slack_did_not_sign_is_refused_and_leaves_no_trace(
    edge: Edge, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Not parsed, not journaled, and nothing of it in the log but that it came."""
    body, kind = as_json({**payload("message"), "note": MARK})
    now = time.time()
    headers = {
        "unsigned": {},
        "other secret": sign(body, now, "another"),
        "old": sign(body, now - 330),
        "from the future": sign(body, now + 330),
        "not a number": {**sign(body, now), "X-Slack-Request-Timestamp": "soon"},
        "half": {**sign(body, now), "X-Slack-Signature": "v0="},
        "é": {**sign(body, now), "X-Slack-Signature": "v0=é"},
    }[how]
    assert send(edge.url(), body, kind, headers).status_code == 401
    assert edge.is_untouched
    assert "check SLACK_SIGNING_SECRET" in caplog.text


@each_row(
    "body, kind",
    [
        (b"ssl_check=1&token=x", "application/x-www-form-urlencoded"),
        (b"\xff\xfe\x00", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"{", "application/json"),
    ],
)
def test_garbage_is_refused_whatever_it_is(edge: Edge, body: bytes, kind: str) -> None:
    """Bolt alone would answer an unsigned `ssl_check` and parse the rest."""
    assert send(edge.url(), body, kind, {}).status_code == 401
    assert edge.is_untouched


def test_the_ear_is_told_before_bolt_and_of_every_refusal(edge: Edge) -> None:
    """What it cannot note is not heard, and may come again."""
    edge.ear.full = True
    body, kind = as_json(payload("message"))
    signed = sign(body, time.time())
    assert send(edge.url(), body, kind, signed).status_code == 503
    assert edge.watcher.received == []
    edge.ear.full = False
    assert send(edge.url(), body, kind, signed).status_code == 200
    edge.watcher.full = True
    assert edge.deliver(*as_json(payload("message_with_mention"))).status_code == 503
    assert edge.ear.told == ["refused", "heard", "heard", "refused"]


def test_no_header_steers_bolt(edge: Edge) -> None:
    """Headers are not signed; Bolt's own `x-slack-bolt-lazy-only` would skip the acknowledgement."""
    click = payload("block_actions")
    click["actions"][0]["action_id"] = ids.APPROVE
    lazy = {"X-Slack-Bolt-Lazy-Only": "1", "X-Slack-Bolt-Lazy-Function-Name": "x"}
    assert edge.deliver(*as_form(click), **lazy).status_code == 200
    assert edge.approvals.taken == [ids.APPROVE]


def test_the_health_page_says_ok_and_nothing_else(edge: Edge) -> None:
    """For a load balancer; it needs no signature and tells nothing."""
    with requests.Session() as session:
        session.trust_env = False
        answer = session.get(edge.url("/healthz"), timeout=60)
        assert (answer.status_code, answer.text) == (200, "ok\n")
        assert "Server" not in answer.headers
        assert session.head(answer.url, timeout=60).status_code == 200
        for path in ("/", "/slack/events", "/slack/events/", "/healthz/x", "/slack/install", "/.env"):
            assert session.get(edge.url(path), timeout=60).status_code == 404, path
        for path in ("/", "/slack/event", "/healthz"):
            assert session.post(edge.url(path), timeout=60).status_code == 404, path


def raw(edge: Edge, request: bytes) -> bytes:
    """Send bytes and return all that comes back until the server closes the connection."""
    with socket.create_connection(edge.address, timeout=LIMIT_S) as connection:
        answer = b""
        with suppress(ConnectionError):  # the answer may come before all of it was sent
            connection.sendall(request)
        with suppress(ConnectionError):
            while chunk := connection.recv(4096):
                answer += chunk
        return answer


def test_a_body_too_large_is_refused_unread(edge: Edge) -> None:
    """By its announced length, or once it has grown beyond it; signed or not."""
    head = b"POST /slack/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    assert b" 413 " in raw(edge, head + b"Content-Length: 1000000000000\r\n\r\n{")
    chunks = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    assert b" 413 " in raw(edge, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks * (MAX_BODY // 0x10000 + 1))
    assert edge.is_untouched
    assert edge.deliver(*as_json(payload("message"))).status_code == 200


@pytest.mark.parametrize(
    "request_",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"POST /slack/events HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /slack/events HTTP/1.1\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n",
        b"POST /slack/events HTTP/1.1\r\n" + b"X: y\r\n" * 10_000 + b"\r\n",
        b"POST /slack/events HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["nothing", "half a line", "TLS", "negative length", "endless length", "endless headers", "broken chunk"],
)
def test_broken_http_harms_nobody(edge: Edge, request_: bytes) -> None:
    """The connection ends, the server does not."""
    with socket.create_connection(edge.address, timeout=LIMIT_S) as connection, suppress(OSError):
        connection.sendall(request_)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass
    assert edge.is_untouched
    assert edge.deliver(*as_json(payload("message"))).status_code == 200


def test_slow_clients_hold_nobody_up(edge: Edge) -> None:
    """More of them than there are threads, each in the middle of its request: Slack's is answered at once."""
    slow = [socket.create_connection(edge.address, timeout=LIMIT_S) for _ in range(40)]
    try:
        for connection in slow:
            connection.sendall(b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        assert edge.deliver(*as_json(payload("message"))).status_code == 200
        cut_off, *_ = select.select(slow, [], [], 0)
        assert not cut_off  # none of them had to go before Slack's turn came
    finally:
        for connection in slow:
            connection.close()


HEAD = b"POST /slack/events HTTP/1.1\r\nHost: x\r\n"
LARGE = HEAD + b"Content-Length: 1000000\r\n\r\n"


@contextmanager
def connected(edge: Edge, *starts: bytes) -> Iterator[list[socket.socket]]:
    """Connect once for each beginning of a request, in this order, and send it."""
    with ExitStack() as stack:
        lines = []
        for start in starts:
            lines.append(stack.enter_context(socket.create_connection(edge.address, timeout=LIMIT_S)))
            lines[-1].sendall(start)
        yield lines


def ends(line: socket.socket, *, drip: bytes = b"") -> bool:
    """Wait until the server has closed a connection, on which a byte is sent again and again."""
    until = time.monotonic() + LIMIT_S
    with suppress(OSError):
        while not select.select([line], [], [], 0.02)[0] or line.recv(4096):
            line.sendall(drip)
            assert time.monotonic() < until
    return True


@each_row("start", [b"", b"POST /sl", HEAD + b"X-Note: ", LARGE + b"{"])
def test_a_request_has_to_arrive_whole_in_time(slack: SlackStub, start: bytes) -> None:
    """Also where a byte comes again and again."""
    edge = Edge(slack.url, request_s=0.3)
    edge.open()
    with connected(edge, start) as [line]:
        assert ends(line, drip=b"x")
    assert edge.deliver(*as_json(payload("message"))).status_code == 200
    edge.server.close()


def test_a_connection_carries_one_request(edge: Edge) -> None:
    """None is kept that has nothing to say."""
    with connected(edge, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n") as [line]:
        assert ends(line)


def test_of_too_many_unfinished_requests_the_oldest_gives_way(
    slack: SlackStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So there is always room for Slack's, and files for the rest of the process."""
    monkeypatch.setattr(http_connection, "MAX_UNFINISHED", 3)
    monkeypatch.setattr(http_connection, "GRACE_S", 0.0)
    edge = Edge(slack.url)
    edge.open()
    with connected(edge, *[LARGE] * 4) as [first, *others]:
        assert ends(first)
        assert not select.select(others, [], [], 0)[0]
        assert edge.deliver(*as_json(payload("message"))).status_code == 200
    edge.server.close()


def test_many_that_connect_at_once_push_nobody_out_before_a_request_can_arrive() -> None:
    """A moment later the oldest give way; however many come in that moment, they are bounded."""
    now, lines = [0.0], [Mock() for _ in range(60)]
    unfinished = Unfinished(10, lambda: now[0])
    for line in lines[:40]:
        unfinished.note(line, 0)
    assert not lines[0].abort.called
    unfinished.note(lines[40], 0)
    assert [line.abort.called for line in lines[:2]] == [True, False]
    now[0] = GRACE_S + 0.1
    unfinished.note(lines[41], 0)
    assert [line.abort.called for line in lines[:42]] == [True] * 32 + [False] * 10


def test_unfinished_requests_hold_a_bounded_number_of_bytes(slack: SlackStub, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large each of them is."""
    monkeypatch.setattr(http_connection, "MAX_UNFINISHED_BYTES", 1_000_000)
    edge = Edge(slack.url)
    edge.open()
    with connected(edge, *[LARGE + b"{" * 400_000] * 3) as [first, *others]:
        assert ends(first)
        assert not select.select(others, [], [], 0)[0]
    edge.server.close()


def test_a_stop_does_not_wait_for_unfinished_requests(edge: Edge, caplog: pytest.LogCaptureFixture) -> None:
    """Slack's would have come by now; nothing of it is an error."""
    with connected(edge, b"", HEAD, LARGE) as lines:
        assert edge.deliver(*as_json(payload("message"))).status_code == 200
        began = time.monotonic()
        edge.server.close()
        assert time.monotonic() - began < STOP_LIMIT_S
        assert all(ends(line) for line in lines)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_slow_listener_holds_nobody_up(edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that takes its time keeps its own request waiting and no other."""
    inside, free = threading.Event(), threading.Event()
    receive = edge.watcher.receive

    def slow(body: dict[str, Any]) -> bool:
        if body["event"].get("text") == "slow":
            inside.set()
            free.wait(LIMIT_S)
        return receive(body)

    edge.watcher.receive = slow  # type: ignore[method-assign]
    body = payload("message")
    body["event"]["text"] = "slow"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(edge.deliver, *as_json(body))
        assert inside.wait(LIMIT_S)
        assert edge.deliver(*as_json(payload("message_with_mention"))).status_code == 200
        assert not waiting.done()
        free.set()
        assert waiting.result(LIMIT_S).status_code == 200


def test_a_stop_answers_what_is_under_way(edge: Edge) -> None:
    """And takes nothing new."""
    inside, free = threading.Event(), threading.Event()

    def slow(_: dict[str, Any]) -> bool:
        inside.set()
        return free.wait(LIMIT_S)

    edge.watcher.receive = slow  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(edge.deliver, *as_json(payload("message")))
        assert inside.wait(LIMIT_S)
        closing = pool.submit(edge.server.close)
        free.set()
        assert waiting.result(LIMIT_S).status_code == 200
        closing.result(LIMIT_S)
    with pytest.raises(requests.ConnectionError):
        edge.deliver(*as_json(payload("message")))


def test_a_message_that_cannot_be_journaled_is_not_acknowledged(edge: Edge) -> None:
    """503: Slack delivers it again, perhaps in the very same second."""
    edge.watcher.full = True
    body, kind = as_json(payload("message"))
    signed = sign(body, time.time())
    assert send(edge.url(), body, kind, signed).status_code == 503
    edge.watcher.full = False
    assert send(edge.url(), body, kind, signed).status_code == 200
    assert len(edge.watcher.received) == 1
