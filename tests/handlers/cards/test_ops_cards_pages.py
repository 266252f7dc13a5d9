"""Rings and escalations over Slack: in the right place, once, whatever died between the post and its record."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from blocks import ids
from bot.domain.alerts import Severity
from bot.errors import ProviderError, Unavailable, Unconfirmed
from bot.ports import PageRing
from handlers.cards.ops_cards import PagePosts
from tests.builders import NOW, QUESTION_TS, a_thread
from tests.fakes import FakeClock
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, a_poster, refusal, slack_stub

PAGE = a_thread(question="prod is down!!", severity=Severity.PAGE, started_at=NOW)
WAITED = timedelta(minutes=15)
GROUPS = {"S0ONCALL": ["U0BEN", "U0ANA"], "S0EMPTY": list[str]()}


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with slack_stub() as stub:
        stub.will("conversations.open", Answer({"channel": {"id": "D0ANA"}}))
        stub.will("conversations.history", Answer({"messages": []}))
        yield stub


@pytest.fixture
def clock() -> FakeClock:
    """When the process began: the question was on file a moment later."""
    return FakeClock(NOW - timedelta(seconds=1))


@pytest.fixture
def posts(slack: SlackStub, clock: FakeClock) -> PagePosts:
    poster = a_poster(slack.url, posts_per_second=100.0, clock=clock)
    clock.at = NOW + WAITED
    return PagePosts(poster, ops_channel="C0OPS", pages=lambda: ("U0ANA",), members=lambda group: GROUPS[group])


def standing(ring: int | None) -> Answer:
    """Return a channel's history in which a ring stands."""
    block: dict[str, Any] = {"type": "section", "block_id": ids.page_block_id(PAGE, ring)}
    return Answer({"messages": [{"ts": f"{float(QUESTION_TS) + 900:.6f}", "blocks": [block]}]})


def test_a_ring_is_a_message_of_its_own_in_the_ops_channel(slack: SlackStub, posts: PagePosts) -> None:
    """It mentions who is paged; the second one is another message."""
    posts.ring([PageRing(PAGE, 1, WAITED)])
    posts.ring([PageRing(PAGE, 2, 2 * WAITED)])
    first, second = slack.of("chat.postMessage")
    assert (first["channel"], "thread_ts" in first) == ("C0OPS", False)
    assert "<@U0ANA>" in str(first["blocks"])
    assert ids.page_block_id(PAGE, 2) in str(second["blocks"])


def test_pages_that_are_due_together_ring_in_one_message(slack: SlackStub, posts: PagePosts) -> None:
    """It mentions once who is paged; what stands in the channel already is left out, and each has its mark."""
    others = [
        PAGE.evolve(original_message_id=f"{float(QUESTION_TS) + n:.6f}", question=f"part {n} is down") for n in (1, 2)
    ]
    slack.will("conversations.history", standing(1))
    posts.ring([PageRing(state, 1, WAITED) for state in (PAGE, *others)])
    [post] = slack.of("chat.postMessage")
    said = str(post["blocks"])
    assert said.count("<@U0ANA>") == 1
    assert [ids.page_block_id(state, 1) in said for state in (PAGE, *others)] == [False, True, True]
    assert "2 pages ring again" in said
    assert "part 2 is down" in said


@pytest.mark.parametrize("ring", [1, None])
def test_what_a_crash_left_is_found_and_not_posted_again(slack: SlackStub, posts: PagePosts, ring: int | None) -> None:
    """Neither the ring nor the escalation."""
    slack.will("conversations.history", standing(ring))
    if ring is None:
        posts.escalate(PAGE, "U0BOSS", waited=WAITED)
    else:
        posts.ring([PageRing(PAGE, ring, WAITED)])
    assert slack.of("chat.postMessage") == []


def test_a_post_nobody_can_tell_of_is_looked_for_before_the_next(
    slack: SlackStub, posts: PagePosts, clock: FakeClock
) -> None:
    """It may come for a while; then it is posted again."""
    slack.will("chat.postMessage", HangUp)
    with pytest.raises(Unconfirmed):
        posts.ring([PageRing(PAGE, 1, WAITED)])
    with pytest.raises(Unavailable):
        posts.ring([PageRing(PAGE, 1, WAITED)])
    slack.will("chat.postMessage", Answer({"ts": "1795166200.000100"}))
    clock.advance(60)
    posts.ring([PageRing(PAGE, 1, WAITED)])
    assert len(slack.of("chat.postMessage")) >= 2


def test_each_member_of_a_group_is_told_in_private(slack: SlackStub, posts: PagePosts) -> None:
    """One who cannot be reached stops nobody else."""
    slack.will("conversations.open", refusal("user_disabled"), Answer({"channel": {"id": "D0BEN"}}))
    posts.escalate(PAGE, "S0ONCALL", waited=WAITED)
    assert [call["users"] for call in slack.of("conversations.open")] == ["U0ANA", "U0BEN"]
    assert [call["channel"] for call in slack.of("chat.postMessage")] == ["D0BEN"]


@pytest.mark.parametrize("then", ["S0EMPTY", "C0WAR"])
def test_where_nobody_is_reached_it_is_due_again(slack: SlackStub, posts: PagePosts, then: str) -> None:
    """A group without members, a channel that was archived."""
    slack.will("chat.postMessage", refusal("is_archived"))
    with pytest.raises(ProviderError):
        posts.escalate(PAGE, then, waited=WAITED)
