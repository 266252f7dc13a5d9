"""What is broken in a data directory is broken alone: the bot starts, says so, and does the rest of its work."""

from __future__ import annotations

from pathlib import Path

from slack_sdk import WebClient

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import DEMO, OPS
from tests.hands import Control
from tests.journeys.beat_office import BeatOffice, sessions_of, watched
from tests.journeys.office import Office
from tests.journeys.shop import SESSIONS

REPLACEABLE_FOLDERS = (
    "acknowledgements",
    "auto_replies",
    "cards",
    "codebases",
    "fixes",
    "index",
    "runs",
    "sessions",
    "slack",
    "suggestions",
    "wakes",
)
LOGS = ("replies", "heartbeats")


def test_files_in_the_place_of_folders_and_a_session_without_a_way_stop_nobody_else(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Questions are answered, the whole session beats, and the owner of the broken one is told in Slack, once.

    Lines that cannot be read are told of, too.
    """
    home, whole, broken = tmp_path / "home", watched(tmp_path, "whole"), watched(tmp_path, "broken")
    home.mkdir(mode=0o700)
    for name in REPLACEABLE_FOLDERS:
        (home / name).write_text("not a folder")
    for name in LOGS:
        (home / f"{name}.ndjson").write_bytes(b"\xff\n")
    lost = sessions_of(broken, deliver={"mode": "explicit", "channel": "telegram", "to": "77"})
    office = BeatOffice(slack, control, home, shop, sessions={**sessions_of(whole), **lost})
    office.bot.start()
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        office.click(office.draft(ts := office.ask(SESSIONS)), ids.APPROVE)
        office.reply(ts)
        whole.becomes("bad")
        office.beat(whole, result="sent")
        for _ in range(2):
            office.beats.faults.check()
        office.alert("TELEGRAM_BOT_TOKEN is not set")
        told = [alert for alert in office.alerts() if "broken: heartbeats are stopped" in shown_text(alert)]
        assert len(told) == 1
        control.wait_for(lambda: not _unsaid(control, home), "the ops channel to be told of every folder")
        said = _said("unreadable line in ", control)
        assert [sum(f"in {name}.ndjson" in line for line in said) for name in LOGS] == [1, 1]
    finally:
        office.bot.stop()


def _unsaid(control: Control, home: Path) -> list[str]:
    """Return the folders of which the ops channel was not told."""
    said = " ".join(message["text"] for message in control.messages(OPS.channel_id))
    return [name for name in REPLACEABLE_FOLDERS if f"{home / name}.corrupt was set aside" not in said]


def test_a_bot_starts_on_a_damaged_codebase_and_answers_once_it_is_mended(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """It listens, the ops channel hears of it once, and the question's card says why it waits."""
    head = shop / ".git" / "HEAD"
    whole = head.read_bytes()
    head.unlink()
    office = Office(slack, control, tmp_path / "home", shop)
    office.bot.start()
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        ts = office.ask(SESSIONS)
        office.card(ts, "git cannot read the codebase")
        control.wait_for(lambda: _said("cannot be searched", control), "the ops channel to be told")
        head.write_bytes(whole)
        office.draft(ts)
        control.wait_for(lambda: _said("can be searched again", control), "the ops channel to be told")
        assert len(_said("cannot be searched", control)) == 1
    finally:
        office.bot.stop()


def _said(what: str, control: Control) -> list[str]:
    """Return the messages of the ops channel that hold some words."""
    return [said for message in control.messages(OPS.channel_id) if what in (said := message["text"])]


def test_a_card_that_was_deleted_while_the_bot_was_down_is_posted_again(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """At the start, without any change of its thread; its buttons work."""
    first = Office(slack, control, tmp_path / "home", shop)
    first.bot.start()
    try:
        ts = first.ask(SESSIONS)
        gone = first.draft(ts)
    finally:
        first.bot.stop()
    WebClient(token=DEMO.bot_token, base_url=slack.api_url).chat_delete(channel=OPS.channel_id, ts=gone["ts"])
    assert first.cards(ts) == []
    second = Office(slack, control, tmp_path / "home", shop)
    second.bot.start()
    try:
        second.click(second.draft(ts), ids.APPROVE)
        second.reply(ts)
    finally:
        second.bot.stop()
