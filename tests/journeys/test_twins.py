"""One question in several threads, over a real local-slack: one card, and one click that answers them all."""

from __future__ import annotations

from blocks import ids
from demo.headless import shown_text
from demo.workspace import ANA, BEN, CHLOE, ENG, HELP
from tests.hands import Json
from tests.journeys.office import Office
from tests.journeys.shop import SESSIONS


def listing(office: Office, ts: str, count: int) -> Json:
    """Return the card of the first thread once a draft waits on it and it lists so many others."""
    return office.control.wait_for(
        lambda: next((card for card in [office.draft(ts)] if f"{count} other thread" in shown_text(card)), None),
        f"a card with {count} other threads",
    )


def test_one_click_answers_the_same_alert_in_five_threads(office: Office) -> None:
    """Each thread has its own post and its own line in the log, and nobody has two."""
    first = office.ask(SESSIONS)
    office.card(first)
    others = [
        (HELP.channel_id, office.ask(SESSIONS, user=BEN.user_id)),
        (ENG.channel_id, office.ask(SESSIONS, channel=ENG.channel_id)),
        (HELP.channel_id, office.ask(f"{SESSIONS.upper()}! :pray:", user=BEN.user_id)),
        (ENG.channel_id, office.ask(SESSIONS, user=CHLOE.user_id, channel=ENG.channel_id)),
    ]
    card = listing(office, first, 4)
    assert all(office.cards(ts, channel=channel) == [] for channel, ts in others)
    office.click(card, ids.ANSWER_TOO)
    said = office.reply(first)
    for channel, ts in others:
        assert office.reply(ts, channel=channel)["text"] == said["text"]
        assert len(office.posted(ts, channel=channel)) == 1
    office.card(first, "Answered there too")
    assert len(list(office.replies.records())) == 5


def test_one_that_is_not_the_same_gets_its_own_card(office: Office) -> None:
    """And the click that answers the rest leaves it alone."""
    first = office.ask(SESSIONS)
    office.card(first)
    other = office.ask(SESSIONS, user=BEN.user_id)
    office.click(listing(office, first, 1), ids.NOT_SAME)
    own = office.draft(other)
    office.click(office.card(first, offering=ids.APPROVE), ids.APPROVE)
    office.reply(first)
    assert office.posted(other) == []
    office.click(own, ids.APPROVE)
    office.reply(other)


def test_what_asks_the_same_in_other_words_is_joined_by_hand(office: Office) -> None:
    """A dialogue offers the open questions; the chosen one's card shows both, and one click answers both."""
    first = office.ask(SESSIONS)
    office.draft(first)
    other = office.ask("Which hash algorithm protects a session cookie?", user=BEN.user_id, channel=ENG.channel_id)
    office.click(office.card(other, channel=ENG.channel_id, offering=ids.SAME_AS), ids.SAME_AS)
    dialogue = office.control.wait_for(office.control.modals.current, "the dialogue")
    options = dialogue["blocks"][1]["element"]["options"]
    assert [option["value"].endswith(first) for option in options] == [True]
    assert options[0]["text"]["text"].startswith(SESSIONS[:20])
    office.control.modals.submit(ANA.user_id, {ids.OTHER: {ids.INPUT: select_value(options[0])}})
    card = listing(office, first, 1)
    assert "Which hash algorithm protects" in shown_text(card)
    office.control.wait_for(lambda: not office.cards(other, channel=ENG.channel_id), "its own card to go")
    office.click(card, ids.ANSWER_TOO)
    said = office.reply(first)
    assert office.reply(other, channel=ENG.channel_id)["text"] == said["text"]
    assert len(list(office.replies.records())) == 2


def select_value(option: Json) -> Json:
    """Return what Slack sends for a chosen option."""
    return {"type": "static_select", "selected_option": option}
