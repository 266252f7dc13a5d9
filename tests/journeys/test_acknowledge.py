"""What an asker sees of the work on their question, over a real local-slack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from blocks import ids
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, HELP
from tests.hands import Control, text_value
from tests.journeys.home_files import list_files
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS

LOOKING = "I am looking into this; a person checks the answer before it is posted."


def bears(office: Office, ts: str, *reactions: str) -> None:
    """Wait until these reactions, and no others, stand on a message."""
    wanted = sorted(reactions)
    office.control.wait_for(lambda: office.control.reactions(HELP.channel_id, ts) == wanted, f"{wanted} on the message")


@contextmanager
def at_work(slack: LocalSlack, control: Control, home: Path, shop: Path, acknowledge: str) -> Iterator[Office]:
    office = Office(slack, control, home, shop, acknowledge=acknowledge)
    office.bot.start()
    control.wait_for(control.modals.is_bot_connected, "the bot to connect")
    try:
        yield office
    finally:
        office.bot.stop()


def test_eyes_become_a_check_mark_when_the_reply_stands_and_go_when_it_is_dismissed(office: Office) -> None:
    """Chatter bears nothing, and of two questions each has its own."""
    chatter, answered, dismissed = office.ask("nice weather today"), office.ask(SESSIONS), office.ask(RETRIES)
    bears(office, answered, "eyes")
    bears(office, dismissed, "eyes")
    office.click(office.draft(answered), ids.APPROVE)
    bears(office, answered, "white_check_mark")
    office.click(office.draft(dismissed), ids.DISMISS)
    office.control.wait_for(office.control.modals.current, "the dialogue")
    office.control.modals.submit(ANA.user_id, {ids.REASON: {ids.INPUT: text_value("answered in person")}})
    bears(office, dismissed)
    bears(office, chatter)
    office.reply(answered)
    office.control.wait_for(
        lambda: not list_files(office.home / "acknowledgements", "*.json"), "nothing to be left on file"
    )


def test_the_asker_alone_reads_one_line(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> None:
    """With `acknowledge: ephemeral`, and no reaction."""
    with at_work(slack, control, tmp_path / "home", shop, "ephemeral") as office:
        ts = office.ask(SESSIONS)
        office.draft(ts)
        said = [m for m in control.messages(HELP.channel_id) if m.get("ephemeral_to")]
        assert [(m["ephemeral_to"], m["text"]) for m in said] == [(CHLOE.user_id, LOOKING)]
        assert control.reactions(HELP.channel_id, ts) == []
