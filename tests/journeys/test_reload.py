"""A channel that is added to triage.yml is watched after a reload, without a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ENG, HELP, OPS
from tests.hands import Control, Json
from tests.journeys.office import Office, load_settings, write_config
from tests.journeys.shop import TIMEOUTS

QUESTION = "How long are the delays between retries of the payment gateway?"


def test_a_reload_takes_up_a_new_channel_and_drops_a_removed_one(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """What is open in the removed one can still be approved; nothing new is heard there."""
    home = tmp_path / "home"
    help_, eng = ({"chat_id": channel.channel_id, "name": channel.name} for channel in (HELP, ENG))
    office = Office(slack, control, home, shop, watched_chats=[help_])
    office.bot.start()
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        waiting = office.ask(QUESTION)
        office.draft(waiting)
        _reload(office, home, shop, watched_chats=[eng])
        _told(control, "`watched_chats` now: #eng.")
        asked = office.ask(TIMEOUTS, channel=ENG.channel_id)
        office.draft(asked, channel=ENG.channel_id)
        unheard = office.ask("Where is the retry limit set?")
        office.click(office.draft(waiting), ids.APPROVE)
        office.reply(waiting)
        assert office.cards(unheard) == []
    finally:
        office.bot.stop()


def test_removed_keys_are_named_at_the_start_and_at_a_reload(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In the log and in the ops channel; the bot works as without them."""
    home = tmp_path / "home"
    office = Office(slack, control, home, shop, save_notes="never")
    office.bot.start()
    try:
        _told(control, "save_notes was removed: a note is saved in its dialogue")
        _reload(office, home, shop, fixes={"max_lines": 5})
        _told(control, "fixes.max_lines was removed: a patch may add and remove 500 lines")
        assert [record.levelname for record in caplog.records if " was removed: " in record.getMessage()] == [
            "WARNING",
            "WARNING",
        ]
    finally:
        office.bot.stop()


def _reload(office: Office, home: Path, shop: Path, **more: Any) -> None:
    config = write_config(home, shop, **more)
    office.bot.reload(lambda: load_settings(config))


def _told(control: Control, words: str) -> Json:
    def found() -> Json | None:
        return next((one for one in control.messages(OPS.channel_id) if words in shown_text(one)), None)

    return control.wait_for(found, f"the ops channel to be told {words!r}", channel=OPS.channel_id)
