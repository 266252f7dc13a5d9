"""The bot was away, or only thought it was connected: nothing that was said meanwhile is missed."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from slack_sdk import WebClient

from demo.slack_server import LocalSlack
from demo.workspace import BEN, CHLOE, DEMO, ENG, HELP, OPS
from tests import fork_server
from tests.hands import Control
from tests.journeys.hasty import HASTE
from tests.journeys.home_files import Journal, list_files
from tests.journeys.office import App, Office, environment_of, load_settings, read_environment, write_config
from tests.journeys.shop import RETRIES, SESSIONS, TIMEOUTS
from tests.journeys.test_crashes import running
from tests.journeys.wire import Wire, wire

CONNECTION = "slack/connection.json"


QUESTIONS = ("At which hour does the nightly export of orders run?", RETRIES, TIMEOUTS)


def heard(home: Path) -> list[str]:
    """Return the ts of every journaled message, in order."""
    return [record["message_id"] for record in Journal(home / "events.ndjson").records()]


def lines(control: Control) -> list[str]:
    """Return what the bot said in plain words in the ops channel."""
    said = [m for m in control.messages(OPS.channel_id) if m["user"] == DEMO.bot_id and not m.get("blocks")]
    return [message["text"] for message in said]


class RemoteOffice(Office):
    """An office whose bot reaches Slack over a wire."""

    def __init__(
        self, control: Control, server: LocalSlack, home: Path, codebase: Path, over: Wire, **more: object
    ) -> None:
        self.control, self.home, self.wire = control, home, over
        environment = {**environment_of(server, home), "SLACK_API_URL": over.url}
        self.bot = App(
            load_settings(write_config(home, codebase, **more)), read_environment(environment), time_scale=HASTE
        )
        self.replies = Journal(home / "replies.ndjson")


@pytest.fixture
def over(slack: LocalSlack) -> Iterator[Wire]:
    """The wire."""
    with wire(slack.api_url) as over:
        yield over


@contextmanager
def connected(office: RemoteOffice) -> Iterator[RemoteOffice]:
    """Start the bot and stop it in the end."""
    office.bot.start()
    try:
        office.control.wait_for(office.control.modals.is_bot_connected, "the bot to connect")
        yield office
    finally:
        office.wire.up = True
        office.bot.stop()


@contextmanager
def at_work(office: Office) -> Iterator[None]:
    """Start the bot and stop it in the end."""
    office.bot.start()
    try:
        yield
    finally:
        office.bot.stop()


def has_card(home: Path, ts: str) -> bool:
    """Whether the thread of a question knows its card."""
    return any(json.loads(path.read_text())["card_ts"] for path in list_files(home / "state", f"*{ts}.json"))


def follow_ups(home: Path, ts: str) -> list[str]:
    """Return the messages that the thread of a question has taken in."""
    [state] = (json.loads(path.read_text()) for path in list_files(home / "state", f"*{ts}.json"))
    return [followup["message_id"] for followup in state["followups"]]


def test_what_was_said_while_the_bot_was_dead_is_picked_up_once(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Three questions and a reply in an open thread; the ops channel hears of it, and another start adds nothing."""
    home = tmp_path / "home"
    before = control.say(HELP.channel_id, CHLOE.user_id, "Was this asked before the bot came?")
    control.wait_for(lambda: time.time() >= int(float(before)) + 1, "its second to end: the bot reads from a whole one")
    config = write_config(home, shop)
    with running(slack, control, home, config) as process:
        first = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
        control.wait_for(lambda: has_card(home, first), "its card: one on its way would be waited for")
        process.send_signal(signal.SIGKILL)
        process.wait()
    missed = [
        control.say(channel.channel_id, BEN.user_id, text)
        for channel, text in zip((HELP, ENG, HELP), QUESTIONS, strict=True)
    ]
    reply = control.say(HELP.channel_id, CHLOE.user_id, "it is about the signed ones", first)
    picked_up = "4 missed messages picked up."
    for _ in range(2):
        office = Office(slack, control, home, shop)
        with at_work(office):
            control.wait_for(lambda: all(ts in heard(home) for ts in (*missed, reply)), "everything to be heard")
            for ts, channel in zip(missed, (HELP, ENG, HELP), strict=True):
                office.draft(ts, channel=channel.channel_id)
                assert len(office.cards(ts, channel=channel.channel_id)) == 1
            control.wait_for(lambda: any(picked_up in line for line in lines(control)), "a line in the ops channel")
            control.wait_for(lambda: follow_ups(home, first), "the reply to reach its thread")
    assert sorted(heard(home)) == sorted([first, *missed, reply])
    assert before not in heard(home)
    about_others = [line for line in lines(control) if picked_up not in line]  # the first may be met while connecting
    assert len(lines(control)) - len(about_others) == 1
    assert all("1 missed message picked up." in line for line in about_others)
    assert len(about_others) <= 1
    assert follow_ups(home, first) == [reply]


def test_the_first_direct_message_of_somebody_is_answered_after_the_bot_was_away(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Nobody had written to it before."""
    home = tmp_path / "home"
    first = Office(slack, control, home, shop)
    with at_work(first):
        first.draft(first.ask(SESSIONS))
    opened = WebClient(DEMO.bot_token, base_url=slack.api_url).conversations_open(users=CHLOE.user_id)
    channel = str(opened["channel"]["id"])
    ts = control.say(channel, CHLOE.user_id, RETRIES)
    again = Office(slack, control, home, shop)
    with at_work(again):
        again.draft(ts, channel=channel)
        assert len(again.cards(ts, channel=channel)) == 1
        assert len(again.posted(ts, channel=channel)) == 1  # who reads the draft first


def test_a_lost_connection_is_made_again_and_what_was_said_meanwhile_is_picked_up(
    control: Control, slack: LocalSlack, tmp_path: Path, shop: Path, over: Wire
) -> None:
    """A reset on the wire while Slack cannot be reached either, then it can."""
    with connected(RemoteOffice(control, slack, tmp_path / "home", shop, over)) as office:
        first = office.ask(SESSIONS)
        office.draft(first)
        over.up = False
        over.cut()
        control.wait_for(lambda: not control.modals.is_bot_connected(), "the socket to close")
        missed = office.ask(RETRIES)
        presence = office.home / CONNECTION
        control.wait_for(lambda: json.loads(presence.read_text())["problem"], "the bot to say so")
        assert missed not in heard(office.home)
        over.up = True
        office.draft(missed)
        live = office.ask(TIMEOUTS)
        office.draft(live)
        assert heard(office.home) == [first, missed, live]
        control.wait_for(lambda: not json.loads(presence.read_text())["problem"], "the bot to say that it hears")
        assert json.loads(presence.read_text())["down_since"] is None


@pytest.mark.full
def test_a_peer_that_only_keeps_silent_is_noticed(
    control: Control, slack: LocalSlack, tmp_path: Path, shop: Path, over: Wire
) -> None:
    """The socket stays open and nothing comes: about ten seconds later there is another, and nothing was missed."""
    with connected(RemoteOffice(control, slack, tmp_path / "home", shop, over)) as office:
        over.hush()
        missed = office.ask(SESSIONS)
        office.draft(missed)  # what the start looks back for may bring it before the silence is noticed
        control.wait_for(lambda: over.connections() >= 2, "another connection")
        assert heard(office.home) == [missed]


def test_status_tells_the_truth_from_outside(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> None:
    """Connected while it is, and not running once it was killed."""
    home = tmp_path / "home"
    environ = {**os.environ, "TRIAGE_HOME": str(home)}

    def status() -> str:
        return fork_server.run("bot", "status", "--home", str(home), env=environ).stdout

    with running(slack, control, home, write_config(home, shop)) as process:
        control.wait_for(lambda: "connected since" in status(), "the status to say so")
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert "triage is not running (last seen" in status()


class DayAhead:
    """The clock of a machine that is a day ahead."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(hours=24)


def test_a_clock_a_day_ahead_loses_nothing_and_is_said(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Asked while the bot was away, started on a machine whose clock is wrong: picked up, and the clock is named."""
    home = tmp_path / "home"
    first = Office(slack, control, home, shop)
    first.bot.start()
    control.wait_for(control.modals.is_bot_connected, "the bot to connect")
    first.bot.stop()
    ts = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
    ahead = DayAhead()
    office = Office(slack, control, home, shop, clock=ahead)
    office.bot.start()
    try:
        office.draft(ts)
        control.wait_for(lambda: any("clock is 1 d ahead" in line for line in lines(control)), "the line")
    finally:
        office.bot.stop()
