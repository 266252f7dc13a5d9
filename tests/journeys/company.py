"""A workspace of two teams, and one bot for both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from blocks import ids
from bot.app import App
from bot.config.environment import read_environment
from bot.config.settings import load_settings
from demo.control import Control, Json
from demo.headless import find_element, find_replies, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, ENG, HELP, DemoChannel, DemoWorkspace
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


class Company:
    """One bot for several teams, and the hands of everybody who talks to it."""

    def __init__(
        self, slack: LocalSlack, control: Control, home: Path, codebase: Path, teams: dict[str, Any], **more: Any
    ) -> None:
        self.control, self.home, self.codebase = control, home, codebase
        settings = load_settings(write_company(home, codebase, teams, **more))
        self.bot = App(settings, read_environment(environment_of(slack, home)))

    def start(self) -> None:
        """Start, and return once Slack is heard."""
        self.bot.start()
        self.control.wait_for(self.control.modals.is_bot_connected, "the bot to connect")

    def reload(self, teams: dict[str, Any], **more: Any) -> None:
        """Have another triage.yml taken over."""
        config = write_company(self.home, self.codebase, teams, **more)
        self.bot.reload(lambda: load_settings(config))

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
