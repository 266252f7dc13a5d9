"""The bot's ear tells the truth about itself, also when it hears nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from slack_bolt import App, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.errors import ProviderError, StoreError
from bot.intake.presence import Presence, describe_presence
from handlers.transport.presence_record import PresenceRecord
from handlers.transport.socket_connection import LONG_DOWN, SlackConnection, socket_client
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
    """A connection to a stub that refuses every address, and its clock."""

    def __init__(self, url: str, stored: Counting) -> None:
        self.clock, self.stored = FakeClock(), stored
        self.away: list[datetime | None] = []
        self.ages: list[timedelta] = []
        self.monotonic = 0.0
        self.full = False
        nobody = AuthorizeResult(enterprise_id=None, team_id="T1", bot_token="xoxb-1")
        app = App(client=WebClient(base_url=url), authorize=lambda: nobody, before_authorize=self._answer)
        self.client = socket_client(app, "xapp-1", WebClient(token="xapp-1", base_url=url))
        self.connection = SlackConnection(
            app,
            self.client,
            presence=PresenceRecord(stored, self.clock),
            clock=self.clock,
            on_session=self._missed,
            monotonic=lambda: self.monotonic,
        )

    def _answer(self) -> BoltResponse:
        return BoltResponse(status=503 if self.full else 200)

    def _missed(self, since: datetime | None, age: timedelta) -> None:
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
        self.connection.check()
        return describe_presence(Presence.model_validate(self.stored.document), self.clock.now())


@pytest.fixture
def ear(slack: SlackStub) -> Iterator[Ear]:
    """One that Slack does not let in."""
    slack.will("apps.connections.open", refusal("internal_error", status=503))
    ear = Ear(slack.url, Counting())
    yield ear
    ear.connection.close()


def test_an_outage_is_told_with_its_length_and_its_reason(ear: Ear, caplog: pytest.LogCaptureFixture) -> None:
    """In the file others read, and after some minutes, once, in the log: no line can be said in Slack now."""
    ear.connection.open()
    assert ear.after(60).startswith("no connection for 1 min (no event since the start): Slack could not open")
    with caplog.at_level(logging.ERROR, "handlers.transport.socket_connection"):
        ear.after(LONG_DOWN.total_seconds())
        ear.after(60)
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 1
    assert ear.away == []


def test_the_file_is_written_every_ten_seconds_and_at_each_change(ear: Ear) -> None:
    """Not with every look."""
    ear.connection.open()
    ear.after(10)
    before = ear.stored.written
    for _ in range(9):
        ear.after(1)
    assert ear.stored.written == before
    ear.after(1)
    assert ear.stored.written == before + 1


def test_the_file_is_written_on_by_a_clock_that_went_back(ear: Ear) -> None:
    """A day's silence would be none; how far it is behind is there at the next look."""
    ear.connection.open()
    ear.after(-86_400)
    ear.after(1)
    ear.connection.note_clock(timedelta(days=-1))
    ear.after(1)
    assert ear.stored.document["clock_ahead_s"] == -86_400
    before = ear.stored.written
    ear.after(10)
    assert ear.stored.written == before + 1


def test_a_stop_is_told(ear: Ear) -> None:
    """At once, not when the file has grown old."""
    ear.connection.open()
    ear.connection.close()
    assert Presence.model_validate(ear.stored.document).stopped_at == NOW
    assert ear.after(5) == "triage is not running (last seen 5 s ago)"


def test_a_full_disk_costs_the_file_and_not_the_ear(ear: Ear) -> None:
    """The next look writes it."""
    ear.connection.open()
    ear.stored.full = True
    ear.clock.advance(60)
    ear.connection.check()
    ear.stored.full = False
    assert ear.after(60).startswith("no connection for 2 min")


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
    assert ear.away == [NOW + timedelta(seconds=10)]
    ear.connection.check()
    assert len(ear.away) == 1


def test_a_refused_token_is_an_error_at_the_start(slack: SlackStub) -> None:
    """It says what to do."""
    slack.will("apps.connections.open", refusal("invalid_auth"))
    ear = Ear(slack.url, Counting())
    with pytest.raises(ProviderError, match="check the tokens"):
        ear.connection.open()
    ear.connection.close()


def test_the_life_before_is_remembered(slack: SlackStub) -> None:
    """So that the absence between two processes has a length."""
    for key, at in (("stopped_at", NOW - timedelta(minutes=5)), ("at", NOW - timedelta(minutes=7))):
        ear = Ear(slack.url, Counting({"at": NOW.isoformat(), key: at.isoformat()}))
        ear.connection._new_session()
        assert ear.away == [at]
        ear.connection.close()


def test_what_the_very_first_session_could_not_note_is_read_back_from_the_start(slack: SlackStub) -> None:
    """The disk was full from the first message on: the gap begins before it, not when there is room."""
    ear = Ear(slack.url, Counting())
    ear.full = True
    with pytest.raises(StoreError):
        ear.connection._new_session()
    ear.clock.advance(10)
    ear.monotonic = 10
    ear.full = False
    ear.connection._new_session()
    assert (ear.away, ear.ages) == ([NOW], [timedelta(seconds=10)])
    ear.connection.close()


@each_row(
    "message, logged",
    [
        ('{"type": "hello", "num_connections": 2}', ["Slack counts 2 connections of this app"]),
        ('{"type": "hello", "num_connections": 1}', []),
        ('{"type": "hello", "num_connections": "2"}', []),
        ('{"type": "hello"', []),
        ('["hello"]', []),
    ],
)
def test_more_connections_than_one_are_in_the_log(
    ear: Ear, caplog: pytest.LogCaptureFixture, message: str, logged: list[str]
) -> None:
    """With two processes each hears only part of what is said; nothing is made of a greeting that is not whole."""
    [tell] = ear.client.on_message_listeners
    with caplog.at_level(logging.INFO, "handlers.transport.socket_connection"):
        tell(message)
    assert [record.getMessage().partition(";")[0] for record in caplog.records] == logged
