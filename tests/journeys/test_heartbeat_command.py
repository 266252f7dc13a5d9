"""Sessions from the slash command and the terminal, with the ordinary bot at work over a real local-slack."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, OPS
from tests import fork_server
from tests.hands import LIMIT_S, Control
from tests.journeys.home_files import Journal
from tests.journeys.office import environment_of, write_config

PLAYBOOK = "# Quick Tasks\n- [ ] Working tree: `git status --porcelain`\n"


class Running:
    """`triage run` as a process of its own, and the terminal beside it."""

    def __init__(self, slack: LocalSlack, control: Control, folder: Path, shop: Path) -> None:
        (shop / "HEARTBEAT.md").write_text(PLAYBOOK)
        self.control, self.home, self.shop = control, folder / "home", shop
        self.config = self.configure(every="30m")
        self.env = {**os.environ, **environment_of(slack, self.home)}
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = fork_server.start(
                "tests.journeys.hasty", "run", env=self.env, cwd=folder, stdout=log, stderr=log
            )

    def configure(self, **beat: object) -> Path:
        hours = {"start": "00:00", "end": "24:00", "timezone": "UTC"}
        session = {"cwd": str(self.shop), "owner": ANA.user_id, "heartbeat": {"active_hours": hours, **beat}}
        return write_config(self.home, self.shop, sessions={"shop-api": session})

    def typed(self, *words: str) -> str:
        """Type `triage heartbeat …` on the terminal."""
        done = fork_server.run("bot", "heartbeat", *words, env=self.env, cwd=self.home)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def answered(self, text: str, user: str, says: str) -> str:
        """Type a slash command and return the answer that holds `says`."""
        self.control.command(user, OPS.channel_id, text)

        def found() -> str | None:
            messages = self.control.messages(OPS.channel_id)
            private = [json.dumps(m, ensure_ascii=False) for m in messages if m.get("ephemeral_to") == user]
            return next((said for said in reversed(private) if says in said), None)

        return self.control.wait_for(found, f"{text!r} to say {says!r}", channel=OPS.channel_id)

    def beats(self) -> list[dict[str, Any]]:
        return list(Journal(self.home / "heartbeats.ndjson").records())


@pytest.fixture
def running(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path):  # type: ignore[no-untyped-def]
    """The bot runs and is connected."""
    running = Running(slack, control, tmp_path, shop)
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        yield running
    finally:
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(LIMIT_S)


def test_an_assignment_is_worked_on_and_its_sender_stands_on_the_record(running: Running) -> None:
    """From Slack by the owner and from the terminal; offline the owner hears that nobody looked."""
    running.answered("heartbeat assign shop-api Why 5xx?", CHLOE.user_id, "Only approvers and the owner")
    running.answered("heartbeat assign shop-api Why 5xx?", ANA.user_id, "A check of shop-api is queued")
    [beat] = running.control.wait_for(running.beats, "a beat on record", timeout_s=LIMIT_S)
    assert (beat["reason"], [each["text"] for each in beat["assignments"]]) == ("assignment", ["Why 5xx?"])
    sent = json.dumps(running.control.messages(running.control.direct_messages(ANA.user_id) or ""), ensure_ascii=False)
    assert "1 assignment not handled: no model is configured" in sent
    running.answered("heartbeat why shop-api", ANA.user_id, "“Why 5xx?”")
    assert "starts it in a few seconds" in " ".join(running.typed("assign", "shop-api", "Compare", "both").split())
    second = running.control.wait_for(
        lambda: next(iter(running.beats()[1:]), None), "a second beat on record", timeout_s=LIMIT_S
    )
    assert (second["reason"], [each["text"] for each in second["assignments"]]) == ("assignment", ["Compare both"])
    assert "“Compare both”" in " ".join(running.typed("log", "shop-api").split())


def test_a_day_with_sessions(running: Running) -> None:
    """Listed, started, explained, paced by the owner, kept from others; a changed file is taken over under way."""
    running.answered("heartbeat list", CHLOE.user_id, "every 30m · 00:00-24:00 UTC")
    assert "starts it in a few seconds" in running.typed("wake", "shop-api")
    [beat] = running.control.wait_for(running.beats, "a beat on record")
    assert beat["reason"] == "automation"
    assert beat["session_id"] == "shop-api"
    assert "automation" in running.typed("why", "shop-api")
    running.answered("heartbeat why shop-api", ANA.user_id, "✓ *Gate*")
    running.answered("heartbeat every shop-api 15m", CHLOE.user_id, "Only approvers and the owner")
    running.answered("heartbeat every shop-api 15m", ANA.user_id, "shop-api is checked every 15m")
    assert "triage.yml says 30m" in " ".join(running.typed("list").split())
    running.configure(every="45m", evry="1h")
    running.process.send_signal(signal.SIGHUP)
    running.control.wait_for(
        lambda: "evry: unknown key" in running.log.read_text(errors="replace"), "the bad file to be refused"
    )
    running.config.unlink()
    running.process.send_signal(signal.SIGHUP)
    running.control.wait_for(
        lambda: "No such file" in running.log.read_text(errors="replace"), "the missing file to be named"
    )
    running.configure(every="45m")
    for _ in range(20):
        running.process.send_signal(signal.SIGHUP)
    running.control.wait_for(
        lambda: "was read again" in running.log.read_text(errors="replace"), "the good file to be read"
    )
    running.answered("heartbeat list", CHLOE.user_id, "triage.yml says 45m")
