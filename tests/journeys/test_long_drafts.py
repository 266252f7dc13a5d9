"""A draft that Slack does not take as one message: its card comes all the same, and the whole reply is posted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from blocks import ids
from demo.headless import find_replies, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import DEMO, OPS
from tests.hands import Control
from tests.journeys.hasty import HASTE
from tests.journeys.limiting_proxy import LimitingProxy, block_chars, limiting_proxy
from tests.journeys.office import App, Office, environment_of, load_settings, read_environment, write_config
from tests.journeys.shop import SESSIONS
from tests.journeys.test_models import KEY, SCRIPTS
from tests.model_server import ModelServer, Script

Open = Callable[[list[dict[str, Any]], int], "LongDraftOffice"]


def a_draft(words: int) -> list[dict[str, Any]]:
    """Return the claims of a draft of so many words of 40 characters, each of its own, ten to a paragraph."""
    numbered = [f"sessioncookiesignaturedigestof{_mark(number)}words" for number in range(words)]
    lines = [" ".join(numbered[start : start + 10]) for start in range(0, words, 10)]
    return [
        {"text": "This is done in `${read.path}:${read.start}-${read.end}`.", "kind": "fact", "cites": [0]},
        *({"text": f"\n\n{line}", "kind": "other", "cites": []} for line in lines),
    ]


def _mark(number: int) -> str:
    """Return a number in letters, so that no claim holds what code could look for."""
    return "q" + "".join("abcdefghij"[int(digit)] for digit in f"{number:03}") + "q"


def missing_words(messages: list[dict[str, Any]], words: int) -> list[int]:
    """Return which numbered words stand in none of the messages, or in more than one."""
    said = " ".join(shown_text(message) for message in messages)
    return [number for number in range(words) if said.count(_mark(number)) != 1]


class LongDraftOffice(Office):
    """The office whose model writes one draft, and whose bot speaks through a proxy that refuses long messages."""

    def __init__(
        self, slack: LocalSlack, control: Control, home: Path, codebase: Path, model: str, proxy: LimitingProxy
    ) -> None:
        self.control, self.home, self.proxy = control, home, proxy
        environment = {
            **environment_of(slack, home),
            "SLACK_API_URL": proxy.url,
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": model,
        }
        self.bot = App(load_settings(write_config(home, codebase)), read_environment(environment), time_scale=HASTE)

    def below(self, card: dict[str, Any]) -> list[dict[str, Any]]:
        """Return what stands in a card's thread."""
        return find_replies(self.control.messages(OPS.channel_id), card["ts"], DEMO.bot_id)

    def whole_reply(self, ts: str, words: int) -> list[dict[str, Any]]:
        """Return the bot's messages in the asker's thread once every word of the draft stands there."""

        def found() -> list[dict[str, Any]] | None:
            said = self.posted(ts)
            return said if said and not missing_words(said, words) else None

        return self.control.wait_for(found, "the whole reply to stand in the thread")


@pytest.fixture
def open_office(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[Open]:
    """Opens an office for a draft and a limit of characters; closes it at the end."""
    with ExitStack() as stack:

        def opened(draft: list[dict[str, Any]], max_block_chars: int) -> LongDraftOffice:
            script = yaml.safe_load((SCRIPTS / "pass.yml").read_text())
            script["roles"]["investigator"]["parts"][0]["turns"][-1]["answer"]["claims"] = draft
            model = stack.enter_context(ModelServer(Script.model_validate(script)))
            proxy = stack.enter_context(limiting_proxy(slack.api_url))
            proxy.max_block_chars = max_block_chars
            office = LongDraftOffice(slack, control, tmp_path / "home", shop, model.url, proxy)
            office.bot.start()
            stack.callback(office.bot.stop)
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            return office

        yield opened


def test_a_draft_longer_than_a_message_is_read_in_the_card_s_thread_and_posted_whole(open_office: Open) -> None:
    """The card shows its beginning and says so; nothing that is sent is refused; the reply comes in two messages."""
    words = 240
    office = open_office(a_draft(words), 11_000)
    ts = office.ask(SESSIONS)
    card = office.draft(ts)
    assert "This is the beginning only" in shown_text(card)
    assert "Read it there before you approve it" in shown_text(card)
    assert missing_words(office.below(card), words) == []
    office.click(card, ids.APPROVE)
    assert len(office.whole_reply(ts, words)) == 2
    office.card(ts, "Posted")
    office.closed(ts)
    assert office.proxy.refused == []
    assert len(office.cards(ts)) == 1


def test_a_card_that_slack_refuses_comes_shorter_and_its_draft_is_posted_whole(open_office: Open) -> None:
    """Slack takes less than the bot counts on: the card names Slack's word for it, and the thread goes on."""
    words = 96
    office = open_office(a_draft(words), 4_200)
    ts = office.ask(SESSIONS)
    card = office.draft(ts)
    assert "This card is shortened: Slack did not take the whole one (msg_blocks_too_long)" in shown_text(card)
    refused = [block_chars(body) for _, body in office.proxy.refused]
    assert refused
    assert min(refused) > 4_200
    assert missing_words(office.below(card), words) == []
    office.click(card, ids.APPROVE)
    assert len(office.whole_reply(ts, words)) == 1
    office.card(ts, "Posted")
    office.closed(ts)
    assert len(office.cards(ts)) == 1
