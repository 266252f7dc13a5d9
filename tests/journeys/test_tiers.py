"""Tasks listed and changed in Slack, with the ordinary bot at work over a real local-slack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from slack_sdk import WebClient

from blocks import ids
from blocks.elements import actions, button
from blocks.text.outgoing_text import section
from bot.adapters.storage.files.spool_queue import encode_job
from bot.domain.events import Sender, thread_key
from bot.domain.jobs import Job, JobKind, QuestionAsked
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, HELP, OPS
from tests.builders import an_event
from tests.hands import Control, Json
from tests.journeys.hasty import HASTE
from tests.journeys.office import App, Office, environment_of, load_settings, read_environment, write_config

PLAYBOOK = "# Heartbeat\n## Quick\n- [x] Tree: `git status --porcelain`\n## Hourly\n- [ ] Certificates\n## Daily\n"
ORDER = "<@U0TRIAGE> check the migrations every hour in shop"


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
    watched.types("shop remove 1", "This is not the list you saw last")
    assert watched.text == before
    watched.types("shop remove 1", "Removed from the quick tasks of shop: Mine")
    assert watched.text == before.replace("- Mine\n", "")


def test_an_order_that_an_earlier_release_queued_is_answered_as_a_question(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Its job is done, and nothing of it is set aside or fails."""
    ts, home = control.say(HELP.channel_id, CHLOE.user_id, ORDER), tmp_path / "home"
    said = {"team_id": DEMO.team_id, "chat_id": HELP.channel_id, "sender": Sender(id=CHLOE.user_id)}
    event = an_event(ORDER, ts, mentions=(DEMO.bot_id,), **said)
    job = Job(kind=JobKind.USER, job_id="000001", epoch_ms=1, key=thread_key(event), work=QuestionAsked(event=event))
    request = {"verb": "add", "task": "Check the migrations", "tier": "hourly", "names": ["shop"]}
    stored = encode_job(job)
    stored["payload"] |= {"class": "playbook-requested", "request": request}
    (home / "queue").mkdir(parents=True)
    (home / "queue" / job.name).write_text(json.dumps(stored))
    watched = Watched(slack, control, home, shop)
    try:
        watched.card(ts, "check the migrations every hour")
        control.wait_for(lambda: not list((home / "queue").rglob("*.json")), "the job to be done")
        assert not list(home.rglob("*.corrupt"))
        assert watched.text == PLAYBOOK
    finally:
        watched.bot.stop()


def test_a_button_of_a_removed_feature_says_so_and_goes(watched: Watched) -> None:
    """On a card that an earlier release posted; whoever clicks, nothing is changed."""
    buttons = [button("Accept", ids.ACCEPT_PROPOSAL, "00112233aabbccdd|shop")]
    client = WebClient(token=DEMO.bot_token, base_url=watched.slack.api_url)
    blocks = [section("Proposal for HEARTBEAT.md of shop"), actions("proposal_actions:00112233aabbccdd", *buttons)]
    ts = client.chat_postMessage(channel=OPS.channel_id, text="Adds a task", blocks=blocks)["ts"]

    def card() -> Json:
        return next(m for m in watched.control.messages(OPS.channel_id) if m["ts"] == ts)

    watched.click(card(), ids.ACCEPT_PROPOSAL, user=CHLOE.user_id)
    watched.told(CHLOE.user_id, "`/triage help` lists what it does now")
    watched.control.wait_for(lambda: find_element(card(), ids.ACCEPT_PROPOSAL) is None, "the button to go")
    assert "Proposal for HEARTBEAT.md of shop" in shown_text(card())
    assert watched.text == PLAYBOOK
