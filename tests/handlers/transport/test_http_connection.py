"""What is known of the ear in HTTP mode: the truth is written down, and nothing that was missed is forgotten."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from bot.adapters.clocks import SystemClock
from bot.errors import StoreError
from bot.intake.presence import Presence, connection_state
from handlers.transport.http_app import Signatures
from handlers.transport.http_connection import HttpConnection, HttpServer
from tests.fakes import FakeClock, MemorySingle
from tests.handlers.listening import listening
from tests.handlers.signed import SECRET, as_json, send, sign
from tests.handlers.slack_stub import SlackStub
from tests.handlers.test_routes import RecordedButtons, RecordedWatcher
from tests.handlers.transport.test_http_connection_server import ME
from tests.payloads import payload


class Ear:
    """A connection on a free port with recorders around it; its own clock stands, signatures have the real one."""

    def __init__(self, slack_url: str, stored: MemorySingle | None = None) -> None:
        self.clock, self.stored, self.watcher = FakeClock(), stored or MemorySingle(), RecordedWatcher()
        self.missed: list[datetime] = []
        self.full = False
        self.connection = HttpConnection(
            listening(
                slack_url,
                ME,
                ThreadPoolExecutor(2),
                watcher=self.watcher,
                approvals=RecordedButtons(),
                alerts=RecordedButtons(),
                suggestions=RecordedButtons(),
                commands=print,
                removed=RecordedButtons(),
                shortcuts=RecordedButtons(),
                home=RecordedButtons(),
                notes=RecordedButtons(),
                audits=RecordedButtons(),
            ),
            Signatures(SECRET, SystemClock()),
            HttpServer(host="127.0.0.1", port=0),
            [self.stored],
            self.clock,
            self._note,
        )

    def _note(self, away_since: datetime, _: timedelta) -> None:
        if self.full:
            raise StoreError("No space left on device")
        self.missed.append(away_since)

    def deliver(self, name: str = "message") -> int:
        body, kind = as_json(payload(name))
        return send(f"http://{self.connection.address}/slack/events", body, kind, sign(body, time.time())).status_code

    @property
    def written(self) -> Presence:
        return Presence.model_validate(self.stored.read())


@pytest.fixture
def ear(slack: SlackStub) -> Iterator[Ear]:
    """One that listens."""
    ear = Ear(slack.url)
    ear.connection.open()
    yield ear
    ear.connection.close()


def test_what_was_missed_before_the_start_is_noted_before_anything_is_heard(slack: SlackStub) -> None:
    """The end of the last life; at the very first start, now."""
    first = Ear(slack.url)
    first.connection.open()
    assert first.missed == [first.clock.now()]
    first.clock.advance(3600)
    first.connection.close()
    second = Ear(slack.url, first.stored)
    second.connection.open()
    assert second.missed == [first.clock.now()]
    second.connection.close()


def test_a_start_that_cannot_note_it_does_not_listen(slack: SlackStub) -> None:
    """What came then would hide the hole."""
    ear = Ear(slack.url)
    ear.full = True
    with pytest.raises(StoreError):
        ear.connection.open()


def test_it_is_up_while_it_serves_and_says_when_slack_last_sent_anything(ear: Ear) -> None:
    """And down, with the reason, once it has ended for no one's asking."""
    assert connection_state(ear.written, ear.clock.now()) == "up"
    ear.clock.advance(11)
    assert ear.deliver() == 200
    ear.connection.check()
    assert ear.written.last_event_at == ear.clock.now()
    ear.connection._server.close()
    ear.connection.check()
    assert connection_state(ear.written, ear.clock.now()) == "down"
    assert "restart triage" in (ear.written.problem or "")


def test_it_is_written_at_most_every_ten_seconds(ear: Ear) -> None:
    """A file is no place for a heartbeat each second."""
    at = ear.written.at
    for _ in range(9):
        ear.clock.advance(1)
        ear.connection.check()
    assert ear.written.at == at
    ear.clock.advance(1)
    ear.connection.check()
    assert ear.written.at == at + timedelta(seconds=10)


def test_a_clock_that_is_wrong_is_written_down_at_once(ear: Ear) -> None:
    """And it is written on by one that went back."""
    ear.connection.note_clock(timedelta(days=-1))
    ear.connection.check()
    assert ear.written.clock_ahead_s == -86_400
    ear.clock.advance(-86_400)
    ear.connection.check()
    assert ear.written.at == ear.clock.now()


def test_what_could_not_be_stored_is_looked_for_once_it_can(ear: Ear) -> None:
    """Slack repeats a request for some minutes only; the hole is noted before the next event is heard."""
    ear.watcher.full = True
    began = ear.clock.now()
    assert ear.deliver() == 503
    ear.connection.check()
    assert (ear.written.down_since, ear.written.problem) == (began, "what Slack sends cannot be stored")
    ear.clock.advance(3600)
    ear.full = True
    assert ear.deliver("message_in_thread") == 503
    assert connection_state(ear.written, ear.clock.now()) != "up"
    ear.watcher.full = ear.full = False
    assert ear.deliver("message_in_thread") == 200
    assert ear.missed[1:] == [began]
    ear.connection.check()
    assert connection_state(ear.written, ear.clock.now()) == "up"


def test_a_stop_is_written_down(ear: Ear, caplog: pytest.LogCaptureFixture) -> None:
    """Others read that it was meant, and no later look takes it for a failure."""
    ear.connection.close()
    assert ear.written.stopped_at == ear.clock.now()
    ear.clock.advance(11)
    ear.connection.check()
    assert connection_state(ear.written, ear.clock.now()) == "dead"
    assert not caplog.records
