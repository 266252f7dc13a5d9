"""The ops channel: private, or silent; and what becomes of cards while Slack refuses them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE, DEMO, ENG, HELP, OPS
from tests.hands import Control
from tests.journeys.home_files import Journal
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS, TIMEOUTS
from tests.kept import Kept
from tests.promises.at_work import Later, at_work
from tests.promises.slack_end import SlackEnd, slack_end

ATTEMPTS_OF_A_JOB = 3
"""After so many that count, a job is given up."""


@pytest.fixture
def end(slack: LocalSlack) -> Iterator[SlackEnd]:
    """Slack, which can be made to refuse."""
    with slack_end(slack.api_url) as end:
        yield end


def heard(office: Office, ts: str) -> None:
    """Wait until a message was sorted."""
    sorted_ones = Journal(office.home / "events-classified.ndjson")
    office.control.wait_for(
        lambda: any(one["message_id"] == ts for one in sorted_ones.records()), "the message to be sorted"
    )


def posts_of(end: SlackEnd, marker: str) -> int:
    """Return how often Slack was asked to post a card."""
    return sum(method == "chat.postMessage" and marker in str(asked) for method, asked in end.calls)


def test_an_ops_channel_that_became_public_gets_no_new_card_until_it_is_private_again(
    end: SlackEnd, control: Control, tmp_path: Path, shop: Path
) -> None:
    """The channel is told once; the question waits and gets its draft then."""
    clock = Later()
    with at_work(end, control, tmp_path, clock=clock, time_scale=0.02) as office:
        office.draft(office.ask(SESSIONS))
        end.channels[OPS.channel_id] = {"is_private": False}
        clock.ahead = timedelta(minutes=2)
        ts = office.ask(RETRIES)
        control.wait_for(lambda: [m for m in control.messages(OPS.channel_id) if "private" in m["text"]], "the line")
        assert office.cards(ts) == []
        end.channels.clear()
        clock.ahead = timedelta(minutes=4)
        office.draft(ts)
        assert len([m for m in control.messages(OPS.channel_id) if "not private" in m["text"]]) <= 1


@pytest.mark.full
def test_an_open_card_moves_with_the_ops_channel(end: SlackEnd, control: Control, tmp_path: Path, shop: Path) -> None:
    """It is posted in the new one and deleted where it stood."""
    with at_work(end, control, tmp_path) as office:
        ts = office.ask(SESSIONS)
        office.draft(ts)
    end.channels[ENG.channel_id] = {"is_private": True}
    watched = [{"chat_id": HELP.channel_id, "name": HELP.name}]
    with at_work(end, control, tmp_path, ops_channel=ENG.channel_id, watched_chats=watched) as office:
        marker = ids.card_block_id(f"{DEMO.team_id}.{HELP.channel_id}.{ts}")
        control.wait_for(
            lambda: [m for m in control.messages(ENG.channel_id) if marker in str(m.get("blocks"))], "the card"
        )
        control.wait_for(lambda: office.cards(ts) == [], "the old card to go")


def test_a_question_waits_while_the_ops_channel_takes_no_card(
    end: SlackEnd, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Archived, or without the bot: its attempts are not counted, and its card follows by itself."""
    with at_work(end, control, tmp_path, time_scale=0.02) as office:
        end.refusals["chat.postMessage"] = "is_archived"
        ts = office.ask(RETRIES)
        marker = ids.card_block_id(f"{DEMO.team_id}.{HELP.channel_id}.{ts}")
        control.wait_for(lambda: posts_of(end, marker) > 2 * ATTEMPTS_OF_A_JOB, "more attempts than a job has")
        assert Kept(office.home).jobs("failed") == 0
        end.refusals.clear()
        office.draft(ts)
        assert len(office.cards(ts)) == 1


def test_a_closed_thread_whose_card_cannot_be_updated_stays_out_of_the_archive(
    end: SlackEnd, control: Control, tmp_path: Path, shop: Path
) -> None:
    """The reply stands all the same; the card says so as soon as Slack takes it."""
    with at_work(end, control, tmp_path, time_scale=0.02) as office:
        ts = office.ask(SESSIONS)
        card = office.draft(ts)
        end.refusals["chat.update"] = "internal_error"
        before = sum(method == "chat.update" for method, _ in end.calls)
        office.click(card, ids.APPROVE)
        office.reply(ts)
        control.wait_for(lambda: sum(method == "chat.update" for method, _ in end.calls) > before + 1, "two attempts")
        kept, thread = Kept(office.home), f"{DEMO.team_id}.{HELP.channel_id}.{ts}"
        assert kept.document("threads", thread)["status"] == "closed"
        assert kept.archived("threads", thread) == []
        end.refusals.clear()
        office.card(ts, "approved")
        office.closed(ts)
        assert len(office.posted(ts)) == 1


def test_a_live_message_does_not_hide_the_gap_before_it(
    end: SlackEnd, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Also not from the start after the next: what was said meanwhile is picked up once it can be read."""
    with at_work(end, control, tmp_path) as office:
        office.draft(office.ask(SESSIONS))
    missed = control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
    end.refusals[f"conversations.history {HELP.channel_id}"] = "internal_error"
    with at_work(end, control, tmp_path) as office:
        office.draft(office.ask(TIMEOUTS))
        assert office.cards(missed) == []
    end.refusals.clear()
    with at_work(end, control, tmp_path) as office:
        office.draft(missed)
        assert len(office.cards(missed)) == 1


@pytest.mark.full
def test_after_its_reply_a_remark_opens_no_thread_and_a_question_does(
    end: SlackEnd, control: Control, tmp_path: Path, shop: Path
) -> None:
    """The asker's thanks are nobody's work."""
    with at_work(end, control, tmp_path) as office:
        ts = office.ask(SESSIONS)
        office.click(office.draft(ts), ids.APPROVE)
        office.closed(ts)
        remark = office.ask("that explains the logs of yesterday", thread=ts)
        heard(office, remark)
        office.draft(office.ask(TIMEOUTS))
        assert len(office.cards(ts)) == 1
        office.ask(f"<@{DEMO.bot_id}> {RETRIES}", thread=ts)
        control.wait_for(lambda: any("retry.py" in shown_text(card) for card in office.cards(ts)), "a new card")
