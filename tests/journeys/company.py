"""A workspace of two teams, and one bot for both."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from blocks import ids
from bot.app import App
from bot.config.environment import read_environment
from bot.config.settings import load_settings
from bot.errors import ProviderError
from demo.headless import find_element, find_replies, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, ENG, HELP, DemoChannel, DemoWorkspace
from tests import fork_server
from tests.fork_server import ForkedProcess
from tests.hands import Control, Json
from tests.journeys.hasty import HASTE
from tests.journeys.office import environment_of

PAY_OPS = DemoChannel(channel_id="C0PAYOPS", name="pay-ops", members=(ANA.user_id,), is_private=True)
PLAT_OPS = DemoChannel(channel_id="C0PLATOPS", name="plat-ops", members=(BEN.user_id,), is_private=True)
COMPANY = DemoWorkspace(users=(CHLOE, ANA, BEN), channels=(HELP, ENG, PAY_OPS, PLAT_OPS))
"""Ana approves for payments, which answers #help; Ben for platform, which answers #eng."""

PAYMENTS = {"ops_channel": PAY_OPS.channel_id, "channels": [{"chat_id": HELP.channel_id, "name": "help"}]}
PLATFORM = {"ops_channel": PLAT_OPS.channel_id, "channels": [{"chat_id": ENG.channel_id, "name": "eng"}]}


def write_company(home: Path, codebase: Path, teams: dict[str, Any], **more: Any) -> Path:
    """Write a triage.yml of these teams and return its path."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = home / "triage.yml"
    code = {} if "codebases" in more else {"codebase": str(codebase)}
    path.write_text(yaml.safe_dump({**code, "teams": teams, **more}, sort_keys=False))
    return path


class CompanyHands:
    """The hands of everybody who talks to a bot of several teams."""

    def __init__(self, control: Control) -> None:
        self.control = control

    def cards(self, ops: DemoChannel, ts: str, channel: DemoChannel) -> list[Json]:
        """Return every card of a thread in an ops channel."""
        marker = ids.card_block_id(f"{DEMO.team_id}.{channel.channel_id}.{ts}")
        messages = self.control.messages(ops.channel_id)
        return [m for m in messages if any(b.get("block_id") == marker for b in m.get("blocks") or [])]

    def card(
        self, ops: DemoChannel, ts: str, channel: DemoChannel, *, showing: str = "", offering: str | None = None
    ) -> Json:
        """Return a thread's card in an ops channel once it shows `showing` and offers the button `offering`."""

        def found() -> Json | None:
            for card in self.cards(ops, ts, channel):
                if showing in shown_text(card) and (offering is None or find_element(card, offering)):
                    return card
            return None

        return self.control.wait_for(found, f"a card with {showing!r} and {offering}", channel=ops.channel_id)

    def click(self, ops: DemoChannel, card: Json, action: str, user: str) -> None:
        """Click a button of a card."""
        element = find_element(card, action)
        assert element is not None, f"no {action} on: {shown_text(card)}"
        self.control.click(ops.channel_id, card["ts"], user, **element.click_fields())

    def replies(self, ts: str, channel: DemoChannel) -> list[Json]:
        """Return what the bot said in a thread."""
        return find_replies(self.control.messages(channel.channel_id), ts, DEMO.bot_id)

    def reply(self, ts: str, channel: DemoChannel) -> Json:
        """Return the bot's reply once it stands."""
        said: list[Json] = self.control.wait_for(
            lambda: self.replies(ts, channel), "the reply", channel=channel.channel_id
        )
        return said[0]

    def told(self, place: DemoChannel, words: str, *, user: str | None = None) -> Json:
        """Return the message of a channel that holds `words`; with `user`, one that only they see."""

        def found() -> Json | None:
            messages = self.control.messages(place.channel_id)
            own = [one for one in messages if one.get("ephemeral_to") == user]
            return next((one for one in own if words in shown_text(one)), None)

        return self.control.wait_for(found, f"{place.name} to be told {words!r}", channel=place.channel_id)


class Company(CompanyHands):
    """One bot for several teams, in this process, and the hands of everybody."""

    def __init__(
        self,
        slack: LocalSlack,
        control: Control,
        home: Path,
        codebase: Path,
        teams: dict[str, Any],
        /,
        *,
        environment: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(control)
        self.home, self.codebase = home, codebase
        settings = load_settings(write_company(home, codebase, teams, **more))
        self.bot = App(
            settings, read_environment({**environment_of(slack, home), **(environment or {})}), time_scale=HASTE
        )

    def start(self) -> None:
        """Start, and return once Slack is heard."""
        self.bot.start()
        self.control.wait_for(self.control.modals.is_bot_connected, "the bot to connect")

    def reload(self, teams: dict[str, Any], **more: Any) -> None:
        """Have another triage.yml taken over."""
        config = write_company(self.home, self.codebase, teams, **more)
        self.bot.reload(lambda: load_settings(config))


class CompanyProcess(CompanyHands):
    """One bot for several teams as a process of its own, its log in a file, and the hands of everybody."""

    def __init__(self, control: Control, slack: LocalSlack, home: Path, codebase: Path) -> None:
        super().__init__(control)
        self.home, self.codebase, self.log = home, codebase, home.with_suffix(".log")
        self._environment = {**os.environ, **environment_of(slack, home)}

    @contextmanager
    def running(
        self, teams: dict[str, Any], *, environment: Mapping[str, str] | None = None, **more: Any
    ) -> Iterator[ForkedProcess]:
        """Run `triage run` with these teams; what is left of it at the end is killed."""
        config = write_company(self.home, self.codebase, teams, **more)
        argv, env = (
            ["tests.journeys.hasty", "run", "--config", str(config)],
            {**self._environment, **(environment or {})},
        )
        with self.log.open("ab") as log:
            process = fork_server.start(*argv, env=env, stdout=log, stderr=log)
            try:
                self.control.wait_for(self.control.modals.is_bot_connected, "the bot to connect")
                yield process
            finally:
                process.kill()
                process.wait()
                self.control.wait_for(lambda: not self.control.modals.is_bot_connected(), "its socket to close")

    def killed_once(self, is_so: Callable[[], bool], teams: dict[str, Any], **more: Any) -> None:
        """Run `triage run` with these teams, and kill it without warning as soon as something is so."""
        config = write_company(self.home, self.codebase, teams, **more)
        with self.log.open("ab") as log:
            argv = ["tests.journeys.hasty", "run", "--config", str(config)]
            process = fork_server.start(*argv, env=self._environment, stdout=log, stderr=log)
            try:
                while not is_so() and process.poll() is None:
                    pass  # a wait, however short, would miss what takes a millisecond
            finally:
                process.kill()
                process.wait()
            assert is_so()
        self.control.wait_for(lambda: not self.control.modals.is_bot_connected(), "its socket to close")

    def start_in_vain(self, teams: dict[str, Any], **more: Any) -> str:
        """Run `triage run` with these teams, which must be refused, and return what it printed."""
        config = write_company(self.home, self.codebase, teams, **more)
        done = fork_server.run("tests.journeys.hasty", "run", "--config", str(config), env=self._environment)
        assert done.returncode, done.stdout
        return done.stdout + done.stderr

    def reload(self, process: ForkedProcess, told: str, teams: dict[str, Any], **more: Any) -> str:
        """Write another triage.yml, send SIGHUP, and return the log's line with `told` once it is there."""
        before = self.log.stat().st_size
        write_company(self.home, self.codebase, teams, **more)
        process.send_signal(signal.SIGHUP)

        def new() -> str | None:
            lines = self.log.read_bytes()[before:].decode(errors="replace").splitlines()  # perhaps amid a character
            assert process.poll() is None, self.log.read_text()
            return next((line for line in lines if told in line), None)

        try:
            return self.control.wait_for(new, f"the log to say {told!r}")
        except ProviderError as error:
            raise AssertionError(f"{error} The log:\n{self.log.read_text()}") from error
