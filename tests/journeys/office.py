"""The people of the workspace and the ordinary bot, in the words of the journeys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from blocks import ids
from bot.app import App
from bot.config.environment import read_environment
from bot.config.settings import load_settings
from bot.ports import Clock
from demo.headless import find_element, find_replies, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, ENG, HELP, OPS
from tests.hands import Control, Json, find_option
from tests.journeys.hasty import HASTE
from tests.journeys.home_files import Journal, list_files


def environment_of(slack: LocalSlack, home: Path) -> dict[str, str]:
    """Return the variables the bot needs to reach the throw-away workspace."""
    return {
        "TRIAGE_HOME": str(home),
        "SLACK_BOT_TOKEN": DEMO.bot_token,
        "SLACK_APP_TOKEN": DEMO.app_token,
        "SLACK_API_URL": slack.api_url,
    }


def write_config(home: Path, codebase: Path, **more: Any) -> Path:
    """Write an ordinary triage.yml and return its path."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    chats = [{"chat_id": channel.channel_id, "name": channel.name} for channel in (HELP, ENG)]
    code = {} if "codebases" in more else {"codebase": str(codebase)}
    settings = {
        **code,
        "ops_channel": OPS.channel_id,
        "watched_chats": chats,
        **more,
    }
    path = home / "triage.yml"
    path.write_text(yaml.safe_dump(settings))
    return path


class Office:
    """One bot on one data directory, and the hands of everybody who talks to it."""

    def __init__(
        self,
        slack: LocalSlack,
        control: Control,
        home: Path,
        codebase: Path,
        *,
        clock: Clock | None = None,
        time_scale: float = HASTE,
        api_url: str | None = None,
        **more: Any,
    ) -> None:
        self.control, self.home = control, home
        environment = {**environment_of(slack, home), "SLACK_API_URL": api_url or slack.api_url}
        settings = load_settings(write_config(home, codebase, **more))
        self.bot = App(settings, read_environment(environment), clock=clock, time_scale=time_scale)
        self.replies = Journal(home / "replies.ndjson")

    def ask(
        self, text: str, *, user: str = CHLOE.user_id, channel: str = HELP.channel_id, thread: str | None = None
    ) -> str:
        """Post a message and return its ts."""
        return self.control.say(channel, user, text, thread)

    def cards(self, ts: str, *, channel: str = HELP.channel_id) -> list[Json]:
        """Return every card of a thread in the ops channel (there should be one)."""
        marker = ids.card_block_id(f"{DEMO.team_id}.{channel}.{ts}")
        messages = self.control.messages(OPS.channel_id)
        return [m for m in messages if any(b.get("block_id") == marker for b in m.get("blocks") or [])]

    def card(self, ts: str, showing: str = "", *, channel: str = HELP.channel_id, offering: str | None = None) -> Json:
        """Return the thread's card once it shows `showing` and offers the button `offering`."""

        def found() -> Json | None:
            for card in self.cards(ts, channel=channel):
                if showing in shown_text(card) and (offering is None or find_element(card, offering)):
                    return card
            return None

        what = f"a card that shows {showing!r} and offers {offering}"
        return self.control.wait_for(found, what, channel=OPS.channel_id)

    def draft(self, ts: str, *, channel: str = HELP.channel_id) -> Json:
        """Return the card once a draft can be approved."""
        return self.card(ts, offering=ids.APPROVE, channel=channel)

    def click(self, card: Json, action: str, *, user: str = ANA.user_id) -> None:
        """Click a button of a card."""
        element = find_element(card, action)
        assert element is not None, f"no {action} on: {shown_text(card)}"
        self.control.click(OPS.channel_id, card["ts"], user, **element.click_fields())

    def choose(self, card: Json, label: str, *, user: str = ANA.user_id) -> None:
        """Choose an entry of a card's overflow menu."""
        element = find_option(card, label)
        assert element is not None, f"no {label} on: {shown_text(card)}"
        self.control.click(OPS.channel_id, card["ts"], user, **element.click_fields())

    def posted(self, ts: str, *, channel: str = HELP.channel_id) -> list[Json]:
        """Return what the bot said in a thread."""
        return find_replies(self.control.messages(channel), ts, DEMO.bot_id)

    def reply(self, ts: str, *, channel: str = HELP.channel_id) -> Json:
        """Return the bot's reply once it stands in the thread and in the log."""

        def found() -> Json | None:
            said = self.posted(ts, channel=channel)
            logged = any(r["posted_message_id"] == said[0]["ts"] for r in self.replies.records()) if said else False
            return said[0] if logged else None

        return self.control.wait_for(found, "the reply and its record", channel=channel)

    def told(self, user: str, text: str) -> Json:
        """Return the ephemeral answer to a user that holds `text`."""

        def found() -> Json | None:
            messages = self.control.messages(OPS.channel_id)
            private = [m for m in messages if m.get("ephemeral_to") == user]
            return next((m for m in private if text in m["text"]), None)

        return self.control.wait_for(found, f"{user} to be told {text!r}", channel=OPS.channel_id)

    def closed(self, ts: str, *, channel: str = HELP.channel_id) -> list[Path]:
        """Return the archive's files of a thread once it is archived, which comes after the card says so."""

        def found() -> list[Path]:
            return list_files(self.home / "closed", f"*/{DEMO.team_id}.{channel}.{ts}.*.json")

        return self.control.wait_for(found, "the thread to be archived")
