"""The bot's ear tells the truth about itself, also when it hears nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest
from slack_bolt import App, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.errors import ProviderError, StoreError, Unavailable
from bot.intake.presence import Presence, describe_presence
from handlers.transport import socket_connection
from handlers.transport.socket_connection import MAX_PAUSE_S, SocketConnection, socket_client
from tests.builders import NOW
from tests.fakes import FakeClock, MemorySingle
from tests.handlers.slack_stub import SlackStub, refusal
from tests.tables import each_row


class Counting(MemorySingle):
    """A document that counts how often it was written."""

    written = 0

    def update(self, document: dict[str, object]) -> None:  # type: ignore[override]
        self.written += 1
        super().update(document)


class Ear:
    """A connection to a stub that refuses every address, or by another client, and its clock."""

    def __init__(self, url: str, stored: Counting, client: Any = None) -> None:
        self.clock, self.stored = FakeClock(), stored
        self.away: list[datetime] = []
        self.ages: list[timedelta] = []
        self.monotonic = 0.0
        self.full = False
        nobody = AuthorizeResult(enterprise_id=None, team_id="T1", bot_token="xoxb-1")
        app = App(client=WebClient(base_url=url), authorize=lambda: nobody, before_authorize=self._answer)
        self.client = client or socket_client(app, WebClient(token="xapp-1", base_url=url))
        self.connection = SocketConnection(
            app, self.client, [stored], self.clock, self._missed, monotonic=lambda: self.monotonic
        )

    def _answer(self) -> BoltResponse:
        return BoltResponse(status=503 if self.full else 200)

    def _missed(self, since: datetime, age: timedelta) -> None:
        if self.full:
            raise StoreError("No space left on device")
        self.away.append(since)
        self.ages.append(age)

    def hear(self, envelope: str) -> bool:
        """Deliver a message; True if it was acknowledged."""
        acknowledged: list[str] = []
        client = SimpleNamespace(
            send_socket_mode_response=lambda response: acknowledged.append(response.envelope_id),
            logger=logging.getLogger("slack"),
        )
        event = {"type": "message", "channel": "C1", "user": "U1", "text": "why?", "ts": "1.1"}
        payload = {"type": "event_callback", "team_id": "T1", "event": event}
        request = SocketModeRequest(type="events_api", envelope_id=envelope, payload=payload)
        self.connection._take(client, request)  # type: ignore[arg-type]
        return acknowledged == [envelope]

    def after(self, seconds: float) -> str:
        """Let time pass, look after the connection, and return what `triage status` says."""
        self.clock.advance(seconds)
        self.monotonic += seconds
        self.connection.check()
        return describe_presence(Presence.model_validate(self.stored.document), self.clock.now())


@pytest.fixture
def ear(slack: SlackStub) -> Iterator[Ear]:
    """One that Slack does not let in."""
    slack.will("apps.connections.open", refusal("internal_error", status=503))
    ear = Ear(slack.url, Counting())
    yield ear
    ear.connection.close()


def test_an_outage_is_told_with_its_length_and_its_reason(ear: Ear) -> None:
    """In the file others read: no line can be said in Slack now."""
    ear.connection.open()
    assert ear.after(60).startswith("no connection for 1 min (no event since the start): Slack could not open")
    assert ear.away == []


def test_what_could_not_be_stored_is_read_back_once_there_is_space(ear: Ear) -> None:
    """Slack delivers it again only a few times; noted before anything later is heard."""
    assert ear.hear("e1")
    ear.full = True
    ear.clock.advance(10)
    assert not ear.hear("e2")
    assert not ear.hear("e3")
    ear.clock.advance(600)
    ear.full = False
    assert ear.hear("e4")
    assert ear.away == [NOW, NOW + timedelta(seconds=10)]
    ear.connection.check()
    assert len(ear.away) == 2


def test_a_refused_token_is_an_error_at_the_start(slack: SlackStub) -> None:
    """It says what to do."""
    slack.will("apps.connections.open", refusal("invalid_auth"))
    ear = Ear(slack.url, Counting())
    with pytest.raises(ProviderError, match="check the tokens"):
        ear.connection.open()
    ear.connection.close()


class FakeSession:
    """A session that is active until it is lost."""

    sock = None
    active = True


class FakeClient:
    """What the connection uses of the SDK's client; `script` is raised instead of connecting."""

    def __init__(self, *script: Exception) -> None:
        self.script = list(script)
        self.current_session: FakeSession | None = None
        self.sessions = self.asked = 0
        self.message_listeners: list[Any] = []
        self.socket_mode_request_listeners: list[Any] = []
        self.message_queue: Queue[Any] = Queue()

    def session_id(self) -> str | None:
        return f"s{self.sessions}" if self.current_session else None

    def is_connected(self) -> bool:
        return self.current_session is not None and self.current_session.active

    def renew(self) -> None:
        """Begin another session, as the SDK does by itself when Slack asks for it."""
        self.current_session = FakeSession()
        self.sessions += 1

    def lose(self) -> None:
        assert self.current_session is not None
        self.current_session.active = False

    def disconnect(self) -> None:
        if self.current_session:
            self.current_session.active = False

    close = disconnect

    def connect_to_new_endpoint(self) -> None:
        self.asked += 1
        if self.script:
            raise self.script.pop(0)
        self.renew()


def heard_by(client: FakeClient, stored: Counting | None = None) -> Ear:
    """Return an ear whose client needs no Slack."""
    return Ear("http://127.0.0.1:1/", stored or Counting(), client)


@each_row("key, ago", [("stopped_at", timedelta(minutes=5)), ("at", timedelta(minutes=7))])
def test_the_life_before_is_remembered(key: str, ago: timedelta) -> None:
    """So that the absence between two processes has a length."""
    ear = heard_by(
        FakeClient(), Counting({"at": (NOW - timedelta(minutes=7)).isoformat(), key: (NOW - ago).isoformat()})
    )
    ear.connection.open()
    assert ear.away == [NOW - ago]


def test_what_the_very_first_session_could_not_note_is_read_back_from_the_start() -> None:
    """The disk was full from the first message on: the gap begins before it, not when there is room."""
    ear = heard_by(FakeClient())
    ear.full = True
    ear.connection.open()
    assert not ear.hear("e1")
    ear.clock.advance(10)
    ear.monotonic += 10
    ear.full = False
    assert ear.hear("e1")
    assert (ear.away, ear.ages) == ([NOW], [timedelta(seconds=10)])


def test_a_new_session_is_noted_once() -> None:
    """By the connecting, by a look or by the first message, whichever comes first; those of others than us as well."""
    client = FakeClient()
    ear = heard_by(client)
    ear.connection.open()
    ear.after(1)
    assert ear.hear("e1")
    assert len(ear.away) == 1
    client.renew()
    assert ear.hear("e2")
    ear.after(1)
    assert (ear.away[1:], ear.ages[1:]) == ([NOW + timedelta(seconds=1)], [timedelta()])


def test_a_lost_session_is_made_again_and_noted() -> None:
    """What was missed begins when the loss was noticed; how long it was told is not part of it."""
    client = FakeClient()
    ear = heard_by(client)
    ear.connection.open()
    client.script = [Unavailable("Slack could not be reached"), Unavailable("Slack could not be reached")]
    client.lose()
    assert "no connection for 0 s" in ear.after(60)
    assert "could not be reached" in ear.after(0)
    ear.after(1)
    assert "connected since" in ear.after(2)
    assert ear.away == [NOW, NOW + timedelta(seconds=60)]


def test_refusals_make_the_pauses_grow_to_a_minute() -> None:
    """Slack allows about one address a minute; what it asks for itself is obeyed."""
    client = FakeClient()
    ear = heard_by(client)
    ear.connection.open()
    refusals = [*[ProviderError("invalid_auth")] * 8, Unavailable("ratelimited", retry_after_s=90)]
    client.script, client.asked = list(refusals), 0
    client.lose()
    asked_at = []
    for second in range(400):
        before = client.asked
        ear.after(1)
        asked_at += [second] * (client.asked - before)
    pauses = [later - earlier for earlier, later in pairwise(asked_at)]
    assert pauses == [1, 2, 4, 8, 16, 32, MAX_PAUSE_S, MAX_PAUSE_S, 90]
    assert client.is_connected()


def test_an_outage_at_the_start_is_waited_out() -> None:
    """The bot runs, says so, and connects when it can."""
    ear = heard_by(FakeClient(Unavailable("Slack could not be reached")))
    ear.connection.open()
    assert "no connection" in ear.after(0)
    assert "connected since" in ear.after(1)


def test_no_connection_outlives_its_end() -> None:
    """A session made while it was closed is closed, too."""
    client = FakeClient()
    ear = heard_by(client)
    ear.connection.open()
    ear.connection.close()
    ear.connection._connect()
    assert not client.is_connected()


def test_a_client_that_does_not_end_holds_up_a_stop_for_seconds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK waits for its reader without end where that begins a session at the same moment."""
    monkeypatch.setattr(socket_connection, "STOP_LIMIT_S", 0.1)
    client, ended = FakeClient(), threading.Event()
    client.close = ended.wait  # type: ignore[assignment, method-assign]
    ear = heard_by(client)
    ear.connection.open()
    ear.connection.close()
    assert ear.after(5) == "triage is not running (last seen 5 s ago)"
    ended.set()
