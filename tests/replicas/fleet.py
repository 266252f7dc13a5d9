"""Replicas of the bot as processes of their own: one database, one workspace, a data directory each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from blocks import ids
from demo.control import Control, Json
from demo.headless import find_element, find_replies
from demo.slack_server import LocalSlack
from demo.workspace import ANA, DEMO, HELP, OPS
from tests.journeys.office import environment_of, write_config
from tests.postgres import new_database


class Fleet:
    """Replicas by number, and the hands of everybody."""

    def __init__(self, slack: LocalSlack, control: Control, folder: Path, codebase: Path) -> None:
        self.control, self.url = control, new_database()
        self._slack, self._folder, self._codebase = slack, folder, codebase
        self.running: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, number: int, *, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a replica and return once it says that it watches."""
        home = self.home(number)
        config = write_config(home, self._codebase)
        env = {
            **os.environ,
            **environment_of(self._slack, home),
            "TRIAGE_DATABASE_URL": self.url,
            **(environment or {}),
        }
        argv = [sys.executable, "-m", "bot", "run", "--config", str(config)]
        before = self.log(number)
        with self._log(number).open("ab") as log:
            self.running[number] = subprocess.Popen(argv, env=env, stdout=log, stderr=log)
        self.control.wait_for(lambda: "connected to Slack" in self.log(number)[len(before) :], f"replica {number}")
        return self.running[number]

    def kill(self, number: int, how: signal.Signals = signal.SIGKILL) -> None:
        """Send a replica a signal and return once it has ended."""
        process = self.running.pop(number)
        process.send_signal(how)
        process.wait()

    def end(self) -> None:
        """Kill what still runs."""
        for number in list(self.running):
            self.kill(number)

    def home(self, number: int) -> Path:
        """Return a replica's data directory."""
        return self._folder / f"replica{number}"

    def log(self, number: int) -> str:
        """Return what a replica has said so far."""
        path = self._log(number)
        return path.read_text() if path.exists() else ""

    def cards(self, ts: str) -> list[Json]:
        """Return the cards about a message in #help."""
        marker = ids.card_block_id(f"{DEMO.team_id}.{HELP.channel_id}.{ts}")
        messages = self.control.messages(OPS.channel_id)
        return [m for m in messages if any(b.get("block_id") == marker for b in m.get("blocks") or [])]

    def draft(self, ts: str) -> Json:
        """Return the card of a message once it has a draft."""

        def found() -> Json | None:
            return next((card for card in self.cards(ts) if find_element(card, ids.APPROVE)), None)

        return self.control.wait_for(found, "a draft", channel=OPS.channel_id)

    def replies(self, ts: str) -> list[Json]:
        """Return the bot's replies under a message."""
        return find_replies(self.control.messages(HELP.channel_id), ts, DEMO.bot_id)

    def click(self, card: Json, action: str, *, user: str = ANA.user_id) -> None:
        """Click a button of a card."""
        element = find_element(card, action)
        assert element is not None
        self.control.click(OPS.channel_id, card["ts"], user, **element.click_fields())

    def _log(self, number: int) -> Path:
        return self._folder / f"replica{number}.log"
