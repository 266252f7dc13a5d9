"""A listener that waits for its request's answer goes on after that was sent, over either connection."""

from __future__ import annotations

import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from slack_bolt import Ack, App, BoltContext
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient
from slack_sdk.socket_mode.request import SocketModeRequest

from handlers.transport.bolt_requests import wait_until_answered
from handlers.transport.http_app import HttpApp, Signatures
from handlers.transport.presence_record import PresenceRecord
from handlers.transport.socket_connection import SlackConnection, socket_client
from tests.fakes import FakeClock, MemorySingle
from tests.handlers.signed import SECRET, sign
from tests.payloads import payload

SLOW_S = 0.2
"""How long the answer takes: far longer than a listener that does not wait."""


class Edge:
    """Bolt with one dialogue, and what happened in which order."""

    def __init__(self) -> None:
        self.happened: list[str] = []
        self.is_done = threading.Event()
        nobody = AuthorizeResult(enterprise_id=None, team_id="T1", bot_token="xoxb-1")
        self.app = App(
            client=WebClient(),
            authorize=lambda: nobody,
            signing_secret="",
            request_verification_enabled=False,
            listener_executor=ThreadPoolExecutor(1),
        )
        self.body = payload("view_submission")
        self.app.view(self.body["view"]["callback_id"])(self._submitted)

    def _submitted(self, ack: Ack, context: BoltContext) -> None:
        ack()
        wait_until_answered(context)
        self.happened.append("updated")
        self.is_done.set()

    def answered(self) -> None:
        time.sleep(SLOW_S)
        self.happened.append("answered")

    @property
    def order(self) -> list[str]:
        assert self.is_done.wait(120)
        return self.happened


@pytest.fixture
def edge() -> Edge:
    return Edge()


def test_over_a_socket(edge: Edge) -> None:
    """The answer is a message of the same socket."""
    clock = FakeClock()
    presence = PresenceRecord(MemorySingle(), clock)
    line = SlackConnection(
        edge.app,
        socket_client(edge.app, "xapp-1", WebClient()),
        presence=presence,
        clock=clock,
        on_session=lambda _: None,
    )
    client = SimpleNamespace(send_socket_mode_response=lambda _: edge.answered(), logger=logging.getLogger("slack"))
    request = SocketModeRequest(type="interactive", envelope_id="1", payload=edge.body)
    line._take(client, request)  # type: ignore[arg-type]
    assert edge.order == ["answered", "updated"]


def test_over_http(edge: Edge) -> None:
    """The server closes the body once it was written."""
    clock = FakeClock()
    ear: Any = SimpleNamespace(heard=lambda: None, refused=lambda: None)
    body = json.dumps(edge.body).encode()
    signed = {
        f"HTTP_{name.upper().replace('-', '_')}": value for name, value in sign(body, clock.now().timestamp()).items()
    }
    environ: Any = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/slack/events",
        "CONTENT_TYPE": "application/json",
        "wsgi.input": BytesIO(body),
        **signed,
    }
    written: Any = HttpApp(edge.app, Signatures(SECRET, clock), ear)(environ, lambda *_: None)  # type: ignore[arg-type]
    assert list(written) == [b""]
    edge.answered()
    written.close()
    assert edge.order == ["answered", "updated"]


def test_where_nobody_says_when_it_was_sent_nothing_is_waited_for() -> None:
    """A request that came on another way."""
    wait_until_answered(BoltContext())
