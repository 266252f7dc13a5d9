"""Alerts end to end: their messages are made and signed by the test as Slack would, everything the bot says is real."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests

from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE, DEMO, HELP, OPS
from tests import fork_server
from tests.fakes import FakeClock
from tests.handlers.signed import SECRET, as_json, send, sign
from tests.hands import Control
from tests.journeys.hasty import HASTE
from tests.journeys.office import App, Office, load_settings, read_environment, write_config
from tests.journeys.test_question_pages import notices, waits
from tests.payloads import payload

BOT = {"watcher": {"allow_bots": {"B0ALERT": "grafana"}}}
FIRING, RESOLVED = "[FIRING:1] CheckoutErrors (severity: critical)", "[RESOLVED] CheckoutErrors (severity: critical)"


class AlertOffice(Office):
    """The bot in HTTP mode, and an alert tool whose messages stand in the help channel."""

    url = ""

    def __init__(self, slack: LocalSlack, control: Control, home: Path, codebase: Path, *, port: int = 0) -> None:
        self.control, self.home = control, home
        self.now: Callable[[], float] = time.time
        self.config = write_config(home, codebase, slack={"mode": "http", "http": f"127.0.0.1:{port}"}, **BOT)
        self.environment = {
            "TRIAGE_HOME": str(home),
            "SLACK_BOT_TOKEN": DEMO.bot_token,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_API_URL": slack.api_url,
        }

    @contextmanager
    def at_work(self, clock: FakeClock) -> Iterator[AlertOffice]:
        """Run the bot in this process, on a clock that moves when told to."""
        settings, environment = load_settings(self.config), read_environment(self.environment)
        self.bot = App(settings, environment, clock=clock, time_scale=HASTE)
        self.bot.start()
        self.now = lambda: clock.now().timestamp()
        self.url = f"http://{self.bot.connection.address}/slack/events"
        try:
            self._looked_back()
            yield self
        finally:
            self.bot.stop()

    @contextmanager
    def running(self, port: int) -> Iterator[fork_server.ForkedProcess]:
        """Run the bot as a process of its own; what is left of it at the end is killed."""
        env = {**os.environ, **self.environment}
        process = fork_server.start("tests.journeys.hasty", "run", "--config", str(self.config), env=env)
        self.url = f"http://127.0.0.1:{port}/slack/events"
        try:
            self.control.wait_for(self._listens, "the bot to listen")
            self._looked_back()
            yield process
        finally:
            process.kill()
            process.wait()

    def _looked_back(self) -> None:
        """Wait until the look back of the start has ended: it would find the tool's messages as a person's."""
        gaps = self.home / "slack" / "gaps.json"
        self.control.wait_for(lambda: not json.loads(gaps.read_text()).get("gaps"), "the look back to end")

    def _listens(self) -> bool:
        try:
            return send(self.url, b"{}", "application/json", {}).status_code > 0
        except requests.ConnectionError:
            return False

    def tells(self, text: str, *, severity: str = "critical") -> str:
        """Let the tool post an alert; return its ts."""
        ts = self.ask(text, user=CHLOE.user_id)
        self.deliver(self._message(ts, text, severity))
        return ts

    def changes(self, ts: str, text: str, *, was: str, severity: str = "critical") -> None:
        """Let the tool change its message in place."""
        change = {"message": self._message(ts, text, severity), "previous_message": self._message(ts, was, severity)}
        self.deliver({"type": "message", "subtype": "message_changed", "channel": HELP.channel_id, **change})

    def again(self, ts: str, text: str = FIRING, *, severity: str = "critical") -> None:
        """Let Slack deliver a message once more."""
        self.deliver(self._message(ts, text, severity))

    def deliver(self, event: dict[str, Any]) -> None:
        """Send an event as Slack would; it must be taken."""
        mark = f"Ev{abs(hash(json.dumps(event)))}"
        body, kind = as_json({**payload("bot_message"), "team_id": DEMO.team_id, "event_id": mark, "event": event})
        assert send(self.url, body, kind, sign(body, self.now())).status_code == 200

    def _message(self, ts: str, text: str, severity: str) -> dict[str, Any]:
        field = {"title": "Severity", "value": severity, "short": True}
        shown = {"title": text, "text": "see the runbook", "fields": [field]}
        place = {"channel": HELP.channel_id, "ts": ts, "event_ts": ts}
        return {**payload("bot_message")["event"], **place, "text": "", "blocks": [], "attachments": [shown]}


def test_an_alert_that_pages_rings_until_its_tool_says_that_it_is_over(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Four messages are one card with a count; its end, an edit in place, stands there and silences it."""
    clock = FakeClock(datetime.now(UTC))
    with AlertOffice(slack, control, tmp_path / "home", shop).at_work(clock) as office:
        first = office.tells(FIRING)
        assert "Grafana alert" in shown_text(office.card(first, "Page:"))
        repeats = [office.tells(FIRING) for _ in range(3)]
        office.card(first, "Firing*, 4 times")
        assert len(waits(office, clock, 1)) == 1
        office.changes(repeats[-1], RESOLVED, was=FIRING)
        office.card(first, "Resolved*")
        assert len(waits(office, clock, 1)) == 1
        office.bot.team.questions.pages.tick()
        assert len(waits(office, clock, 1)) == 1
        assert "Page:" not in shown_text(office.card(first))
        office.tells(FIRING)
        office.card(first, "Page:")
        assert len(waits(office, clock, 2)) == 2
        assert [office.cards(ts) for ts in repeats] == [[], [], []]
        assert office.posted(first) == []


def test_several_alerts_have_a_card_each_and_what_asks_nothing_of_anybody_has_none(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Two services; one somebody took in the tool, which rings no more; the watchdog, a build that passed, a deploy."""
    clock = FakeClock(datetime.now(UTC))
    with AlertOffice(slack, control, tmp_path / "home", shop).at_work(clock) as office:
        taken = office.tells("Triggered #12: The queue grows")
        office.card(taken, "Page:")
        titles = ("[FIRING:1] Watchdog", "✅ Build of shop", "Deployment of shop to prod has started")
        quiet = [office.tells(title, severity="warning") for title in titles]
        office.tells("Acknowledged #12: The queue grows")
        two = [office.tells(f"[FIRING:1] PodRestarts orders-{number}", severity="warning") for number in (2, 3)]
        for number, ts in zip((2, 3), two, strict=True):
            office.card(ts, f"orders-{number}")
        office.card(taken, "Acknowledged in the alert tool*")
        clock.advance(60 * 60)
        office.bot.team.questions.pages.tick()
        assert notices(control, OPS.channel_id) == []
        assert [office.cards(ts) for ts in quiet] == [[], [], []]


def test_kills_in_the_middle_lose_no_alert_and_count_none_twice(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Killed after each message that Slack heard was taken, which then is delivered once more."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    office = AlertOffice(slack, control, tmp_path / "home", shop, port=port)
    told: list[str] = []
    for _ in range(3):
        with office.running(port) as process:
            for ts in told:
                office.again(ts, severity="warning")
            told.append(office.tells(FIRING, severity="warning"))
            process.send_signal(signal.SIGKILL)
            process.wait()
    with office.running(port):
        office.card(told[0], "Firing*, 3 times")
        office.tells(RESOLVED, severity="warning")
        office.card(told[0], "Resolved*")
        assert [len(office.cards(ts)) for ts in told] == [1, 0, 0]
