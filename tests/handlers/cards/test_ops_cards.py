"""The Slack surface against a real HTTP server: one card per finding, found before it is posted, said again aloud."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from blocks import ids
from blocks.cards.alert_card import alert_blocks
from bot.domain.heartbeats.alerts import Alert, OpenFinding
from bot.errors import Unconfirmed
from handlers.cards.ops_cards import SlackAlerts
from tests.fakes import FakeClock
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, a_poster, refusal, slack_stub

AT = datetime(2026, 11, 21, 3, 12, tzinfo=UTC)
FINDING = OpenFinding(key="shop/ci/main-red", task="ci", text="Main is red.", first_at=AT, last_at=AT)
BEGAN = AT + timedelta(minutes=5)
"""When the process began: the finding was on file before."""
ANA, DM = "U0ANA", "D0ANA"
GROUPS = {"S0ONCALL": ["U0BEN", "U0ANA"], "S0EMPTY": []}


def alert(finding: OpenFinding | None = FINDING) -> Alert:
    return Alert(session_id="shop", session_name="Shop", text="Main is red.", finding=finding, at=AT)


def card(ts: str, shown: Alert | None = None) -> dict[str, Any]:
    """Return the alert as Slack's history has it."""
    return {"ts": ts, "blocks": [block.to_dict() for block in alert_blocks(shown or alert())]}


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with slack_stub() as stub:
        stub.will("conversations.open", Answer({"channel": {"id": DM}}))
        yield stub


@pytest.fixture
def surface(slack: SlackStub) -> SlackAlerts:
    clock = FakeClock(BEGAN)
    poster = a_poster(slack.url, posts_per_second=100.0, clock=clock)
    return SlackAlerts(poster, members=lambda group: GROUPS[group], wait=clock.advance)


def test_a_person_is_written_to_in_their_direct_messages(slack: SlackStub, surface: SlackAlerts) -> None:
    """The conversation is opened first; the card carries the mark of its finding."""
    posted = surface.send(ANA, alert())
    (sent,) = slack.of("chat.postMessage")
    assert slack.of("conversations.open")[0]["users"] == ANA
    assert (posted[0][0], sent["channel"], sent["text"]) == (DM, DM, "Act: Main is red. · Shop")
    assert ids.alert_block_id("shop", FINDING) in str(sent["blocks"])


def test_a_card_that_a_crash_left_is_found_and_not_posted_again(slack: SlackStub, surface: SlackAlerts) -> None:
    """It is brought up to date where it stands."""
    slack.will(
        "conversations.history",
        Answer({"messages": [{"ts": "1795231000.000009", "text": "hi"}, card("1795231000.000007")]}),
    )
    assert surface.send(ANA, alert()) == [(DM, "1795231000.000007")]
    assert slack.of("chat.postMessage") == []
    assert [call["ts"] for call in slack.of("chat.update")] == ["1795231000.000007"]


def test_a_card_that_may_yet_come_from_a_dead_process_is_waited_for(slack: SlackStub, surface: SlackAlerts) -> None:
    """The beat that it tells of was paid; looked for once more after ten seconds, it is found."""
    slack.will("conversations.history", Answer({"messages": []}), Answer({"messages": [card("1795231000.000007")]}))
    assert surface.send(ANA, alert()) == [(DM, "1795231000.000007")]
    assert slack.of("chat.postMessage") == []


def test_a_post_nobody_can_tell_of_is_looked_for_before_the_next(slack: SlackStub, surface: SlackAlerts) -> None:
    """The connection broke after Slack had read it."""
    new = alert(FINDING.evolve(first_at=BEGAN))
    slack.will("chat.postMessage", HangUp)
    with pytest.raises(Unconfirmed):
        surface.send(ANA, new)
    slack.will("conversations.history", Answer({"messages": [card("1795231000.000007", new)]}))
    assert surface.send(ANA, new) == [(DM, "1795231000.000007")]


def test_a_finding_that_is_said_again_rings_and_its_old_card_loses_its_buttons(
    slack: SlackStub, surface: SlackAlerts
) -> None:
    """An update rings nobody's phone, so a new card is posted; the old one points to it."""
    slack.will("conversations.history", Answer({"messages": []}))
    posted = surface.send(ANA, alert(FINDING.evolve(place=DM, reference="1795231000.000007", sent_at=AT)))
    assert {asked["oldest"] for asked in slack.of("conversations.history")} == {"1795231000.000007"}
    assert len(slack.of("chat.postMessage")) == 1
    assert posted[0][1] != "1795231000.000007"
    (retired,) = slack.of("chat.update")
    assert retired["ts"] == "1795231000.000007"
    assert "see the new alert below" in str(retired["blocks"])
    assert ids.ACKNOWLEDGE not in str(retired["blocks"])


def test_a_crash_after_it_was_said_again_posts_no_third_card(slack: SlackStub, surface: SlackAlerts) -> None:
    """The newer card is found, though the finding is known by the old one."""
    slack.will("conversations.history", Answer({"messages": [card("1795231000.000010"), card("1795231000.000007")]}))
    posted = surface.send(ANA, alert(FINDING.evolve(place=DM, reference="1795231000.000007", sent_at=AT)))
    assert posted == [(DM, "1795231000.000010")]
    assert slack.of("chat.postMessage") == []


def test_a_list_that_a_crash_left_is_found_and_its_ends_are_said_in_its_thread(
    slack: SlackStub, surface: SlackAlerts
) -> None:
    """Like a card; what is gone is named there, once."""
    listed = tuple(FINDING.evolve(key=f"shop/ci/n{n}", text=f"Number {n} is red.") for n in range(3))
    the_list = alert(None).model_copy(update={"listed": listed})
    slack.will("conversations.history", Answer({"messages": [card("1795231000.000007", the_list)]}))
    assert surface.send(ANA, the_list) == [(DM, "1795231000.000007")]
    assert slack.of("chat.postMessage") == []
    gone = (listed[0].evolve(resolved_at=AT, is_unshown=True), *listed[1:])
    surface.update((DM, "1795231000.000007"), the_list.model_copy(update={"listed": gone}))
    (said,) = slack.of("chat.postMessage")
    assert (said["thread_ts"], said["text"]) == (
        "1795231000.000007",
        ":white_check_mark: Resolved:\n• Number 0 is red.",
    )


def test_an_update_is_quiet_and_the_end_is_said_once_in_the_thread(slack: SlackStub, surface: SlackAlerts) -> None:
    """While it stands the card alone changes."""
    surface.update((DM, "1795231000.000007"), alert())
    assert slack.of("chat.postMessage") == []
    surface.update((DM, "1795231000.000007"), alert(FINDING.evolve(resolved_at=AT, is_unshown=True)))
    (said,) = slack.of("chat.postMessage")
    assert (said["thread_ts"], said["text"]) == ("1795231000.000007", ":white_check_mark: Resolved.")


def test_each_member_of_a_user_group_gets_a_card_and_sees_what_becomes_of_it(
    slack: SlackStub, surface: SlackAlerts
) -> None:
    """In their own direct messages; one who cannot be reached keeps it from nobody else."""
    slack.will("conversations.open", Answer({"channel": {"id": "D0ANA"}}), Answer({"channel": {"id": "D0BEN"}}))
    slack.will("chat.postMessage", Answer({"ts": "1795231000.000001"}), Answer({"ts": "1795231000.000002"}))
    new = alert(FINDING.evolve(first_at=BEGAN))
    posted = surface.send("S0ONCALL", new)
    assert posted == [("D0ANA", "1795231000.000001"), ("D0BEN", "1795231000.000002")]
    for place in posted:
        surface.update(place, new)
    assert [call["channel"] for call in slack.of("chat.update")] == ["D0ANA", "D0BEN"]
    slack.will("conversations.open", refusal("user_disabled"), Answer({"channel": {"id": "D0BEN"}}))
    assert surface.send("S0ONCALL", alert(FINDING.evolve(key="other", first_at=BEGAN)))[0][0] == "D0BEN"


def test_a_ring_for_some_leaves_the_copies_of_others_their_buttons(slack: SlackStub, surface: SlackAlerts) -> None:
    """Whom a page was escalated to has one card, whatever rings elsewhere."""
    copies = ((DM, "1795231000.000003"), ("D0BOSS", "1795231000.000004"))
    known = FINDING.evolve(place=DM, reference="1795231000.000007", sent_at=AT, first_at=BEGAN, copies=copies)
    surface.send(ANA, alert(known))
    assert [call["ts"] for call in slack.of("chat.update")] == ["1795231000.000007", "1795231000.000003"]


def test_what_is_posted_is_json_that_slack_takes(slack: SlackStub, surface: SlackAlerts) -> None:
    """Every row of buttons has an id of its own in its message."""
    surface.send(ANA, alert())
    blocks = slack.of("chat.postMessage")[0]["blocks"]
    found = [block.get("block_id") for block in (json.loads(blocks) if isinstance(blocks, str) else blocks)]
    named = [each for each in found if each]
    assert len(named) == len(set(named)) == 2
