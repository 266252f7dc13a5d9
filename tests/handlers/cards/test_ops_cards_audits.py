"""The card of an automatic reply, and the way back, over the wire."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.domain.questions.autonomy_record import AutoReply
from handlers.cards.ops_cards import AuditCards
from tests.handlers.slack_stub import Answer, SlackStub, a_poster, refusal

TAKEN = AutoReply(
    id="0123456789abcdef",
    thread_id="T1.C1.1800000000.000001",
    chat_id="C1",
    message_id="1800000000.000001",
    question="Where is the limit?",
    reply="In app/retry.py.",
    at=datetime(2026, 11, 23, tzinfo=UTC),
    posted_message_id="1800000000.000002",
    taken_back_by="U1",
)


def withdraw(slack: SlackStub, *thread: dict[str, Any]) -> None:
    """Have the reply withdrawn whose thread has these messages."""
    slack.will("conversations.replies", Answer({"messages": list(thread)}))
    AuditCards(a_poster(slack.url), ops_channel="C0OPS").withdraw(TAKEN)


@pytest.mark.parametrize("code", ["edit_window_closed", "cant_update_message"])
def test_a_reply_that_slack_changes_no_more_is_taken_back_below_it(slack: SlackStub, code: str) -> None:
    """Once, whatever died in between."""
    slack.will("chat.update", refusal(code))
    reply = {"ts": TAKEN.posted_message_id, "text": TAKEN.reply}
    withdraw(slack, reply)
    (post,) = slack.of("chat.postMessage")
    assert "withdrew this automatic reply" in str(post)
    slack.will("chat.update", refusal(code))
    withdraw(
        slack,
        reply,
        {"ts": "1800000000.000009", "blocks": [{"type": "section", "block_id": "withdrawn:0123456789abcdef"}]},
    )
    assert len(slack.of("chat.postMessage")) == 1


def test_nothing_is_said_of_a_reply_that_somebody_deleted(slack: SlackStub) -> None:
    """Nobody can rely on it."""
    slack.will("chat.update", refusal("message_not_found"))
    withdraw(slack, {"ts": "1800000000.000001", "text": "Where?"})
    assert slack.of("chat.postMessage") == []
