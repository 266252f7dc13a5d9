"""Finding the card, its buttons and the reply in plain message dictionaries."""

from __future__ import annotations

import io
from typing import Any

from demo.headless import Transcript, find_element, find_replies, shown_text
from tests.hands import find_card, find_option

_QUESTION = "Why does `a < b` fail in the retry loop when the server answers with a 503 twice?"


def _card(ts: str, quoted: str, block_id: str = "triage_card:T.C.1") -> dict[str, Any]:
    menu = {"type": "overflow", "action_id": "more", "options": [{"text": {"text": "Show evidence"}, "value": "s"}]}
    button = {"type": "button", "action_id": "approve", "value": "v1"}
    blocks = [
        {"type": "section", "block_id": block_id, "text": {"type": "mrkdwn", "text": quoted}},
        {"type": "divider"},
        {"type": "actions", "block_id": "buttons", "elements": [button]},
        {"type": "section", "block_id": "menu", "text": {"type": "mrkdwn", "text": "more"}, "accessory": menu},
    ]
    return {"ts": ts, "text": "fallback", "blocks": blocks}


def test_a_card_is_found_by_its_escaped_quoted_and_shortened_question() -> None:
    """What the card shows is compared as people read it: entities decoded, quote marks and line ends aside."""
    card = _card("2", "> Why does `a &lt; b` fail in the\n> retry loop when the server answers with …")
    assert find_card([_card("1", "> Something else"), card], _QUESTION) is card


def test_a_card_is_found_by_its_block_id_and_the_newest_wins() -> None:
    """The id names one thread exactly."""
    older, newer, other = _card("1", "> x"), _card("2", "> x"), _card("3", "> x", "triage_card:T.C.2")
    assert find_card([older, newer, other], "triage_card:T.C.1") is newer


def test_a_message_without_blocks_is_no_card() -> None:
    """The asker's own message holds the question too, but no buttons."""
    assert find_card([{"ts": "1", "text": _QUESTION}], _QUESTION) is None


def test_elements_are_found_wherever_they_stand() -> None:
    """Buttons in actions blocks, menu options in accessories; None for what the card does not offer."""
    card = _card("1", "> x")
    button, option = find_element(card, "approve"), find_option(card, "Show evidence")
    assert button is not None
    assert (button.block_id, button.value, button.type) == ("buttons", "v1", "button")
    assert option is not None
    assert (option.block_id, option.action_id, option.selected_option and option.selected_option["value"]) == (
        "menu",
        "more",
        "s",
    )
    assert find_element(card, "dismiss") is None
    assert find_option(card, "Escalate") is None


def test_only_the_bots_public_replies_in_that_thread_count() -> None:
    """Not the parent, not other threads, not other people, not what only one person sees."""
    reply = {"ts": "5", "thread_ts": "1", "user": "UBOT", "text": "answer"}
    others = [
        {"ts": "1", "user": "UBOT"},
        {"ts": "2", "thread_ts": "9", "user": "UBOT"},
        {"ts": "3", "thread_ts": "1", "user": "U1"},
        {"ts": "4", "thread_ts": "1", "user": "UBOT", "subtype": "ephemeral"},
        {"ts": "1", "thread_ts": "1", "user": "UBOT"},
    ]
    assert find_replies([*others, reply], "1", "UBOT") == [reply]


def test_a_message_without_blocks_shows_its_text() -> None:
    """As Slack does."""
    assert shown_text({"text": "a &amp; b\nc"}) == "a & b c"


def test_a_transcript_tells_times_since_its_start() -> None:
    """Each step is printed once, with seconds; a silent one keeps them."""
    ticks = iter([100.0, 100.5, 103.0])
    out = io.StringIO()
    transcript = Transcript(out=out, clock=lambda: next(ticks))
    assert [transcript.note("asked"), transcript.note("answered")] == [0.5, 3.0]
    assert out.getvalue() == "    0.50 s  asked\n    3.00 s  answered\n"
    assert transcript.steps == [(0.5, "asked"), (3.0, "answered")]
