"""What is said of a page nobody deals with: whom it mentions, where it leads, and that it rings nobody else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from blocks.cards.alert_card import NOTIFICATION_CHARS, escalation_blocks, notice_text, ring_blocks
from blocks.cards.draft_card import CardFacts, card_blocks
from bot.domain.alerts import Severity
from bot.domain.paging import Paging
from bot.domain.threads import ThreadState
from tests.blocks.limits import as_slack_takes_it
from tests.builders import NOW, a_thread
from tests.tables import each_row

WAITED = timedelta(minutes=20)
LINK = "https://acme.slack.com/archives/C1/p1795165200000100"


def page(**changes: Any) -> ThreadState:
    known = {"permalink": LINK, "card_channel": "C0OPS", "card_ts": "1795165201.000300"}
    return a_thread(severity=Severity.PAGE, **{"question": "prod is down!!", **known, **changes})


def shown(state: ThreadState) -> str:
    blocks = ring_blocks(state, ["U0ANA", "S0ONCALL"], number=2, waited=WAITED)
    return "\n".join(str(block.to_dict()) for block in blocks)


def test_a_ring_mentions_who_is_paged_and_leads_to_thread_and_card() -> None:
    """With how often it rang by now and since when nobody has it."""
    said = shown(page())
    for words in (
        "🚨 *Page:* <@U0ANA> <!subteam^S0ONCALL> *rings for the 3rd time*: nobody has acknowledged it for 20 min.",
        f"<{LINK}|open thread> · <https://acme.slack.com/archives/C0OPS/p1795165201000300|card>",
        "> prod is down!!",
    ):
        assert words in said
    assert notice_text(page(), WAITED) == "Page: nobody has acknowledged it for 20 min: prod is down!!"


def test_a_question_asked_again_in_the_same_thread_has_other_marks() -> None:
    """The rings of the one before stand in the channel still."""
    first, again = (
        ring_blocks(page(**known), (), number=1, waited=WAITED)[0].block_id
        for known in ({}, {"original_message_id": "1795169999.000100"})
    )
    assert first != again


@each_row("question", ["<!channel> <!here> <@U9>", "x" * 40_000, "", "```", "✓ proved"])
def test_hostile_questions_ring_nobody_and_fit(question: str) -> None:
    """They are quoted, cut, and set no mark of ours."""
    state = page(question=question)
    blocks = ring_blocks(state, ["U0ANA"], number=1, waited=WAITED)
    said = str([block.to_dict() for block in blocks[1:]]) + notice_text(state, WAITED)
    assert not any(mark in said for mark in ("<!channel>", "<!here>", "<@U9>", "✓"))
    assert len(notice_text(state, WAITED)) <= NOTIFICATION_CHARS
    as_slack_takes_it(blocks)


def test_a_page_of_a_later_message_quotes_that_message() -> None:
    """In the notification, the ring and the escalation; the question stays on the card."""
    raised = Paging(since=NOW, said="payments are failing & <!channel>", said_by="U0CARL")
    became = page().evolve(question="how often do we retry?", paging=raised)
    ring = shown(became)
    assert "payments are failing &amp;" in ring
    assert "<@U0CARL> wrote" in ring
    assert "how often" not in ring
    assert "payments are" in notice_text(became, WAITED)
    assert "payments are" in str(escalation_blocks(became, waited=WAITED)[1].to_dict())
    card = str([block.to_dict() for block in card_blocks(became, CardFacts(link_to=lambda _: None))])
    assert card.index("how often do we retry?") < card.index("payments are failing &amp;")


def test_what_became_a_page_later_rings_for_the_first_time() -> None:
    """Nobody's phone rang when it was asked."""
    became = page(paging=Paging(since=a_thread().started_at))
    assert "rings for the 1st time" in str(ring_blocks(became, (), number=1, waited=WAITED)[0].to_dict())


def test_who_is_told_next_is_mentioned_by_nobody() -> None:
    """They get a message of their own; another mark than a ring's finds it again."""
    told = escalation_blocks(page(), waited=WAITED)
    assert "🚨 *Page:* *escalated*: nobody has acknowledged it for 20 min." in str(told[0].to_dict())
    assert told[0].block_id != ring_blocks(page(), (), number=1, waited=WAITED)[0].block_id


def test_without_a_card_or_links_the_question_is_all_there_is() -> None:
    """Slack took no card yet; a link of another form leads to no other message."""
    assert "open thread" not in shown(page(permalink=None))
    assert "card in <#C0OPS>" in shown(page(permalink=None))
    assert "card" not in shown(page(card_channel=None, card_ts=None)).replace("the card", "")
