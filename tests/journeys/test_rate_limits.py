"""Slack refuses for its rate, over the wire: what was approved is posted once, and every card is right in the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import find_element
from demo.slack_server import LocalSlack
from demo.workspace import ANA, HELP
from tests.hands import Control
from tests.journeys.hasty import HASTE
from tests.journeys.home_files import Journal, list_files
from tests.journeys.limiting_proxy import LimitingProxy, limiting_proxy
from tests.journeys.office import App, Office, environment_of, load_settings, read_environment, write_config
from tests.journeys.shop import SESSIONS


class LimitedOffice(Office):
    """The ordinary office whose bot speaks through the proxy."""

    def __init__(self, slack: LocalSlack, control: Control, home: Path, codebase: Path, proxy: LimitingProxy) -> None:
        self.control, self.home, self.proxy = control, home, proxy
        environment = {**environment_of(slack, home), "SLACK_API_URL": proxy.url}
        self.bot = App(load_settings(write_config(home, codebase)), read_environment(environment), time_scale=HASTE)
        self.replies = Journal(home / "replies.ndjson")

    def state_of(self, ts: str) -> str:
        """Return the thread's state file as it is, or nothing yet."""
        return "".join(path.read_text() for path in list_files(self.home / "state", f"*{ts}.json"))


@pytest.fixture
def limited(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[LimitedOffice]:
    """The ordinary bot, connected through a proxy that can refuse."""
    with limiting_proxy(slack.api_url) as proxy:
        office = LimitedOffice(slack, control, tmp_path / "home", shop, proxy)
        office.bot.start()
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        yield office
        office.bot.stop()


def replies_to(office: LimitedOffice, ts: str) -> int:
    return len(office.posted(ts, channel=HELP.channel_id))


def test_an_approval_while_slack_asks_for_patience_is_posted_once(limited: LimitedOffice) -> None:
    """A refusal of a second is waited out; the reply stands once and the card says so."""
    ts = limited.ask(SESSIONS)
    card = limited.draft(ts)
    limited.proxy.refuse("chat.postMessage", 1)
    limited.click(card, ids.APPROVE)
    limited.reply(ts)
    limited.card(ts, "Posted")
    assert len(limited.proxy.refused) == 1
    assert replies_to(limited, ts) == 1


def test_an_approval_slack_refuses_for_minutes_says_so_and_can_be_repeated(limited: LimitedOffice) -> None:
    """Nobody waits for minutes behind a click; nothing was posted, and the next click is told so, too."""
    ts = limited.ask(SESSIONS)
    card = limited.draft(ts)
    limited.proxy.refuse("chat.postMessage", 600)
    limited.click(card, ids.APPROVE)
    limited.told(ANA.user_id, "try again in 600 s")
    assert replies_to(limited, ts) == 0
    limited.click(limited.draft(ts), ids.APPROVE)
    limited.told(ANA.user_id, "too many messages at once")
    assert [method for method, _ in limited.proxy.refused] == ["chat.postMessage"]
    assert replies_to(limited, ts) == 0


def test_refused_updates_stop_no_work_and_the_last_state_is_shown(limited: LimitedOffice) -> None:
    """The investigation, the approval and the archive go on; the card catches up."""
    limited.proxy.refuse("chat.update", 1)
    ts = limited.ask(SESSIONS)
    card = limited.draft(ts)
    assert limited.proxy.refused
    limited.proxy.refuse("chat.update", 1)
    limited.click(card, ids.APPROVE)
    limited.reply(ts)
    limited.card(ts, "Posted")
    limited.closed(ts)
    assert replies_to(limited, ts) == 1
    assert len(limited.cards(ts)) == 1


def test_a_card_that_was_behind_when_the_bot_stopped_is_right_after_the_next_start(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Slack wanted no update for a minute, and the bot was stopped meanwhile; a new process knows nothing of either."""
    with limiting_proxy(slack.api_url) as proxy:
        office = LimitedOffice(slack, control, tmp_path / "home", shop, proxy)
        office.bot.start()
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        proxy.refuse("chat.update", *[60] * 9)
        ts = office.ask(SESSIONS)
        control.wait_for(lambda: "pending-user" in office.state_of(ts), "the investigation to end all the same")
        (card,) = office.cards(ts)
        assert find_element(card, ids.APPROVE) is None
        office.bot.stop()
        proxy.refuse("chat.update")
        control.wait_for(lambda: not control.modals.is_bot_connected(), "the bot to leave")
        office = LimitedOffice(slack, control, tmp_path / "home", shop, proxy)
        office.bot.start()
        office.click(office.draft(ts), ids.APPROVE)
        office.reply(ts)
        assert len(office.cards(ts)) == 1
        assert replies_to(office, ts) == 1
        office.bot.stop()
