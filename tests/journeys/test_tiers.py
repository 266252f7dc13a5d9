"""Tasks listed and changed in Slack, with the ordinary bot at work over a real local-slack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.control import Control, Json
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, OPS
from tests.journeys.hasty import HASTE
from tests.journeys.office import App, Office, environment_of, load_settings, read_environment, write_config

PLAYBOOK = "# Heartbeat\n## Quick\n- [x] Tree: `git status --porcelain`\n## Hourly\n- [ ] Certificates\n## Daily\n"


class Watched(Office):
    """The office whose bot watches the shop for Ana; beats are far off."""

    def __init__(self, slack: LocalSlack, control: Control, home: Path, shop: Path) -> None:
        self.slack, self.control, self.home, self.file = slack, control, home, shop / "HEARTBEAT.md"
        self.file.write_text(PLAYBOOK)
        beat = {"every": "7d", "active_hours": {"start": "00:00", "end": "24:00", "timezone": "UTC"}}
        session = {"cwd": str(shop), "owner": ANA.user_id, "heartbeat": beat}
        self.config = write_config(home, shop, sessions={"shop": session})
        self.start()

    def start(self) -> None:
        """Start the bot on what is on disk."""
        self.bot = App(
            load_settings(self.config), read_environment(environment_of(self.slack, self.home)), time_scale=HASTE
        )
        self.bot.start()
        self.control.wait_for(self.control.modals.is_bot_connected, "the bot to connect")

    def restart(self) -> None:
        """Stop it, and start another on the same disk."""
        self.bot.stop()
        self.control.wait_for(lambda: not self.control.modals.is_bot_connected(), "the bot to leave")
        self.start()

    @property
    def text(self) -> str:
        return self.file.read_text()

    def types(self, text: str, says: str, *, user: str = ANA.user_id) -> Json:
        """Type `/triage tiers …` and return the newest private answer that holds `says`."""
        self.control.command(user, OPS.channel_id, f"tiers {text}")

        def found() -> Json | None:
            private = [m for m in self.control.messages(OPS.channel_id) if m.get("ephemeral_to") == user]
            return next((m for m in reversed(private) if says in json.dumps(m, ensure_ascii=False)), None)

        return self.control.wait_for(found, f"{text!r} to say {says!r}", channel=OPS.channel_id)

    def proposal(self, showing: str) -> Json:
        """Return the newest proposal's card, once it shows `showing`."""

        def found() -> Json | None:
            cards = [m for m in self.control.messages(OPS.channel_id) if "Proposal for" in shown_text(m)]
            return cards[-1] if cards and showing in shown_text(cards[-1]) else None

        return self.control.wait_for(found, f"a card that shows {showing!r}", channel=OPS.channel_id)


@pytest.fixture
def watched(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[Watched]:
    """The bot runs and is connected."""
    watched = Watched(slack, control, tmp_path / "home", shop)
    yield watched
    watched.bot.stop()


def test_tasks_are_listed_added_moved_and_removed(watched: Watched) -> None:
    """By the owner, unseen by strangers; a list that a human changed meanwhile is shown again, after a restart too."""
    watched.types("shop", "Only approvers and the session", user=CHLOE.user_id)
    watched.types("shop", "Certificates")
    watched.types("shop add daily x", "Only approvers and the session", user=CHLOE.user_id)
    watched.types("shop add daily Stale branches", "as number 3: Stale branches")
    watched.types("shop move 1 daily", "now number 3: Tree")
    assert watched.text == PLAYBOOK.replace("- [x] Tree: `git status --porcelain`\n", "") + (
        "- [ ] Stale branches\n- [x] Tree: `git status --porcelain`\n"
    )
    watched.restart()
    watched.file.write_text(watched.text.replace("## Quick\n", "## Quick\n- Mine\n"))
    before = watched.text
    watched.types("shop remove 1", "The list changed since you saw it")
    assert watched.text == before
    watched.types("shop remove 1", "Removed from the quick tasks of shop: Mine")
    assert watched.text == before.replace("- Mine\n", "")


def test_a_mention_becomes_a_card_and_after_a_click_a_task(watched: Watched) -> None:
    """Not investigated; the bot is restarted in between; one line in the thread, however often the click comes."""
    ts = watched.ask("<@U0TRIAGE> watch the CDN cache hourly from now on")
    card = watched.proposal("Watch the CDN cache")
    assert watched.cards(ts) == []
    assert watched.text == PLAYBOOK
    watched.restart()
    watched.click(card, ids.ACCEPT_PROPOSAL, user=CHLOE.user_id)
    watched.told(CHLOE.user_id, "Only approvers and the session")
    watched.click(card, ids.ACCEPT_PROPOSAL)
    watched.click(card, ids.ACCEPT_PROPOSAL)
    watched.told(ANA.user_id, "decided this already")
    watched.proposal("Accepted")
    assert watched.text == PLAYBOOK.replace("- [ ] Certificates\n", "- [ ] Certificates\n- [ ] Watch the CDN cache\n")
    watched.restart()
    [line] = watched.posted(ts)
    assert line["text"] == "Done: added to shop's hourly checks: Watch the CDN cache"
