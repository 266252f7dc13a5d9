"""HTTP mode from end to end: Slack's requests are made and signed by the test, everything the bot says is real."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import requests

from blocks import ids
from demo.headless import find_element
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, HELP, OPS
from tests.handlers.signed import SECRET, as_form, as_json, send, sign
from tests.hands import Control, Json
from tests.journeys.hasty import HASTE
from tests.journeys.home_files import Journal
from tests.journeys.office import App, Office, load_settings, read_environment, write_config
from tests.journeys.shop import SESSIONS
from tests.journeys.test_acknowledge import bears
from tests.payloads import payload

MARK = "do-not-write-me-down"

DRIPPING = 500
"""Connections that never finish a request; a fifth of each kind below."""

STARTS = (
    b"",
    b"POST /slack/events HT",
    b"POST /slack/events HTTP/1.1\r\nHost: x\r\nX-Note: ",
    b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n{",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
)
"""Silence, half a line, half a head, half a body, and an answered request whose connection is kept."""

DRIP_S = 1.0


class HttpOffice(Office):
    """The ordinary bot in HTTP mode; what people do reaches it as requests that Slack signed."""

    def __init__(self, slack: LocalSlack, control: Control, home: Path, codebase: Path) -> None:
        self.control, self.home = control, home
        config = write_config(home, codebase, slack={"mode": "http", "http": "127.0.0.1:0"})
        environment = {
            "TRIAGE_HOME": str(home),
            "SLACK_BOT_TOKEN": DEMO.bot_token,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_API_URL": slack.api_url,
        }
        self.bot = App(load_settings(config), read_environment(environment), time_scale=HASTE)
        self.replies = Journal(home / "replies.ndjson")
        self.events = Journal(home / "events.ndjson")
        self.url = f"http://{self.bot.connection.address}/slack/events"

    def deliver(self, body: bytes, content_type: str, *, at: float = 0, secret: str = SECRET, **headers: str) -> int:
        """Send a body as Slack would (`at`: seconds from now) and return the status of the answer."""
        signed = {**sign(body, time.time() + at, secret), **headers}
        return send(self.url, body, content_type, signed).status_code

    def event_of(self, ts: str, text: str, **more: Any) -> Json:
        """Return the event Slack makes of a message in the help channel."""
        body = payload("message")
        place = {"channel": HELP.channel_id, "user": CHLOE.user_id, "team": DEMO.team_id}
        body["team_id"], body["event_id"] = DEMO.team_id, f"Ev{ts.replace('.', '')}"
        body["event"] |= {**place, "ts": ts, "event_ts": ts, "text": text, "client_msg_id": f"c-{ts}", **more}
        return body

    def click_of(self, card: Json, action: str) -> Json:
        """Return the payload of a click on a button of a card."""
        element = find_element(card, action)
        assert element is not None
        body = payload("block_actions")
        body["user"] = {"id": ANA.user_id, "name": "ana", "team_id": DEMO.team_id}
        body["team"]["id"] = DEMO.team_id
        body["channel"]["id"] = body["container"]["channel_id"] = OPS.channel_id
        body["message"]["ts"] = body["container"]["message_ts"] = card["ts"]
        body["actions"] = [{"type": "button", **element.click_fields()}]
        return body


@pytest.fixture
def office(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[HttpOffice]:
    """The bot, listening on a free port."""
    office = HttpOffice(slack, control, tmp_path / "home", shop)
    office.bot.start()
    control.wait_for(
        lambda: not json.loads((office.home / "slack" / "gaps.json").read_text()).get("gaps"),
        "the look back of the start to end",
    )
    yield office
    office.bot.stop()


def test_a_question_and_its_approval_over_http(office: HttpOffice) -> None:
    """Question, reactions, card, click, reply: posted once, whatever Slack or somebody else sends again."""
    ts = office.ask(SESSIONS)
    event = office.event_of(ts, SESSIONS)
    assert office.deliver(*as_json(event)) == 200
    assert [record["message_id"] for record in office.events.records()] == [ts]
    again = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
    assert office.deliver(*as_json(event), at=1, **again) == 200
    bears(office, ts, "eyes")
    card = office.draft(ts)
    click = office.click_of(card, ids.APPROVE)
    assert office.deliver(*as_form(click)) == 200
    office.reply(ts)
    office.card(ts, "Posted")
    bears(office, ts, "white_check_mark")
    assert office.deliver(*as_form(click), at=2) == 200
    office.told(ANA.user_id, "Already closed")
    assert len(office.posted(ts)) == 1
    assert len(office.cards(ts)) == 1
    assert len(list(office.events.records())) == 1


def test_a_command_is_answered_over_http(office: HttpOffice) -> None:
    """In the answer to its request; one that takes longer than Slack waits is asked for again."""
    command = {
        **payload("slash_command"),
        "user_id": ANA.user_id,
        "team_id": DEMO.team_id,
        "channel_id": OPS.channel_id,
    }
    numbers = count()

    def answered() -> str | None:
        body, kind = as_form({**command, "trigger_id": f"{next(numbers)}.1"})
        answer = send(office.url, body, kind, sign(body, time.time()))
        assert answer.status_code == 200
        assert answer.json()["response_type"] == "ephemeral"
        return None if "Working" in answer.text else answer.text

    assert "waiting for a decision" in office.control.wait_for(answered, "an answer in time")


def test_what_slack_did_not_sign_changes_nothing(office: HttpOffice, caplog: pytest.LogCaptureFixture) -> None:
    """Wrong secret, old, replayed, garbage, huge: refused, not journaled, not logged; and the bot works on."""
    caplog.set_level(logging.DEBUG)
    ts = office.ask(SESSIONS)
    body, kind = as_json(office.event_of(ts, f"{SESSIONS} {MARK}"))
    assert office.deliver(body, kind, secret="not Slack's") == 401
    assert office.deliver(body, kind, at=-400) == 401
    assert office.deliver(body, kind, at=400) == 401
    assert send(office.url, body, kind, {}).status_code == 401
    assert office.deliver(b"\xff" * 100, kind) == 401
    assert office.deliver(b"{" + MARK.encode(), kind, secret="not Slack's") == 401
    assert send(office.url, b" " * 2_000_000, kind, {}).status_code == 413
    assert list(office.events.records()) == []
    assert MARK not in caplog.text
    assert office.cards(ts) == []
    assert office.deliver(*as_json(office.event_of(ts, SESSIONS))) == 200
    office.draft(ts)


def test_a_recorded_click_is_refused(office: HttpOffice) -> None:
    """The very same request, a second time."""
    ts = office.ask(SESSIONS)
    assert office.deliver(*as_json(office.event_of(ts, SESSIONS))) == 200
    body, kind = as_form(office.click_of(office.draft(ts), ids.DISMISS))
    signed = sign(body, time.time())
    assert send(office.url, body, kind, signed).status_code == 200
    assert send(office.url, body, kind, signed).status_code == 401


@contextmanager
def dripping(address: str) -> Iterator[None]:
    """Keep `DRIPPING` connections open, each of which sends a byte every second; one that is closed comes anew."""
    host, _, port = address.partition(":")
    done, lines = threading.Event(), []

    def connect(start: bytes) -> socket.socket:
        line = socket.create_connection((host, int(port)), timeout=60)
        line.sendall(start)
        return line

    def drip() -> None:
        while not done.wait(DRIP_S):
            for number, line in enumerate(lines):
                try:
                    line.sendall(b"x")
                except OSError:
                    line.close()
                    with suppress(OSError):
                        lines[number] = connect(STARTS[number % len(STARTS)])

    lines += [connect(STARTS[number % len(STARTS)]) for number in range(DRIPPING)]
    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        for line in lines:
            line.close()


def test_five_hundred_slow_connections_leave_health_and_events_answered(office: HttpOffice) -> None:
    """Half-sent heads and bodies, a byte each second, and idle ones: Slack, which waits 3 s, gets each answer."""
    session = requests.Session()
    session.trust_env = False
    with dripping(office.bot.connection.address):
        until, took = time.monotonic() + 4 * DRIP_S, []
        while time.monotonic() < until:
            began = time.monotonic()
            assert session.get(office.url.replace("/slack/events", "/healthz"), timeout=20).status_code == 200
            took.append(time.monotonic() - began)
            ts = office.ask("Thanks, that was it")
            began = time.monotonic()
            assert office.deliver(*as_json(office.event_of(ts, "Thanks, that was it"))) == 200
            took.append(time.monotonic() - began)
        assert max(took) < 3.0
