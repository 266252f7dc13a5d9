"""Finding the card, its buttons and the reply in plain message dictionaries."""

from __future__ import annotations

from typing import Any

from demo.headless import find_replies
from tests.hands import find_card

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
