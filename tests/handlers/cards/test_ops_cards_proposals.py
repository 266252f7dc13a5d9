"""What is shown of a proposal, and the line in the asker's thread, over the wire."""

from __future__ import annotations

import pytest

from blocks.cards.playbook_cards import done_text
from bot.domain.playbooks.proposals import ProposalStatus
from handlers.cards.ops_cards import ProposalCards
from tests.handlers.buttons.test_playbook_buttons_proposals import a_proposal
from tests.handlers.slack_stub import Answer, SlackStub, a_poster, a_publisher, refusal
from tests.heartbeat.clockwork import START
from tests.heartbeat.playbooks.test_proposal_service import ID

CARD_TS = "1800000000.000007"


def cards(slack: SlackStub) -> ProposalCards:
    poster = a_poster(slack.url)
    publisher = a_publisher(slack.url, poster)
    return ProposalCards(publisher, poster, ops_channel="C0OPS", bot_user_id="U0BOT", not_allowed=lambda _: [])


@pytest.mark.parametrize(("standing", "posts"), [(ProposalStatus.OPEN, 1), (ProposalStatus.REJECTED, 0)])
def test_a_card_that_somebody_deleted_comes_again_while_it_waits(
    slack: SlackStub, standing: ProposalStatus, posts: int
) -> None:
    """What is decided stays away."""
    slack.will("chat.update", refusal("message_not_found"))
    cards(slack).show(a_proposal(standing=standing, decided_by="U2", card_channel="C0OPS", card_ts=CARD_TS))
    assert len(slack.of("chat.postMessage")) == posts


def test_the_line_in_the_thread_is_found_by_what_it_carries(slack: SlackStub) -> None:
    """Metadata decides; without it the same words since the intent; words of an earlier day are another line."""
    chat = cards(slack)
    proposal = a_proposal(said_intent=START)
    assert chat.say_done(proposal)
    [sent] = slack.of("chat.postMessage")
    assert (sent["channel"], sent["thread_ts"]) == ("C1", "1795165200.000100")
    early, late = START.timestamp() - 86_400, START.timestamp() + 1
    line = {"user": "U0BOT", "text": done_text(proposal), "ts": f"{late:.6f}"}
    other = {"event_type": "triage_proposal", "event_payload": {"proposal": "0" * 16}}
    mine = {"event_type": "triage_proposal", "event_payload": {"proposal": ID}}
    for messages, found in (
        ([line], True),
        ([{**line, "ts": f"{early:.6f}"}], False),
        ([{**line, "user": "U1"}], False),
        ([{**line, "metadata": other}], False),
        ([{**line, "text": "x", "metadata": mine}], True),
    ):
        slack.will("conversations.replies", Answer({"messages": messages}))
        assert (chat.find_said(proposal) is not None) == found
