"""The picture of the week in the ops channel of a real local-slack: under the brief, and when an approver asks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
import requests
from PIL import Image

from bot.casework.reports.week_picture import HEIGHT, SCALE, WIDTH
from demo.control import LIMIT_S, Control, Json
from demo.slack_server import LocalSlack
from demo.workspace import ANA, DEMO, OPS
from tests.journeys.hasty import HASTE
from tests.journeys.office import App, environment_of, load_settings, read_environment, write_config


@pytest.fixture
def bot(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[App]:
    """The ordinary bot, whose brief is due: it is some time after noon in the zone of its settings."""
    brief = {"morning": "12:00", "timezone": f"Etc/GMT{datetime.now(UTC).hour - 12:+d}"}
    config = write_config(tmp_path / "home", shop, brief=brief)
    bot = App(load_settings(config), read_environment(environment_of(slack, tmp_path / "home")), time_scale=HASTE)
    bot.start()
    control.wait_for(control.modals.is_bot_connected, "the bot to connect")
    yield bot
    bot.stop()


def pictures(control: Control) -> list[Json]:
    """Return the messages with a file in the ops channel, oldest first."""
    return [message for message in control.messages(OPS.channel_id) if message.get("files")]


def wait_for_pictures(control: Control, count: int) -> list[Json]:
    def found() -> list[Json] | None:
        seen = pictures(control)
        return seen if len(seen) == count else None

    return control.wait_for(found, f"{count} pictures", channel=OPS.channel_id)


def test_the_week_stands_under_the_brief_and_comes_when_it_is_asked_for(bot: App, control: Control) -> None:
    """After the words, once, as a PNG that Slack serves."""
    bot.team.casework.upkeep.briefs.tick()
    [message] = wait_for_pictures(control, 1)
    bot.team.casework.upkeep.briefs.tick()
    said = [each["ts"] for each in control.messages(OPS.channel_id) if each["text"].startswith("Morning brief")]
    assert [ts < message["ts"] for ts in said] == [True]
    [file] = message["files"]
    assert (file["name"], file["mimetype"]) == ("week.png", "image/png")
    content = requests.get(
        file["url_private"], headers={"Authorization": f"Bearer {DEMO.bot_token}"}, timeout=LIMIT_S
    ).content
    assert Image.open(BytesIO(content)).size == (WIDTH * SCALE, HEIGHT * SCALE)
    control.command(ANA.user_id, OPS.channel_id, "brief picture")
    wait_for_pictures(control, 2)
