"""Submitted dialogues: what was typed into them, and giving it back where it was refused after the acknowledgement.

Slack waits 3 s for the answer to a submit, and an error that comes later is lost with what was typed. So what can be
told from the text alone is said in the dialogue; then it is acknowledged; only then Slack is asked anything.
Source: https://docs.slack.dev/surfaces/modals#handling_submissions
"""

from __future__ import annotations

from typing import Any

from blocks import ids
from blocks.text.typed_text import given_back
from handlers.answers import Ephemeral, answer

Body = dict[str, Any]
ERROR_CHARS = 1_900


def field_of(view: Body, block: str) -> Body | None:
    """Return the state of a dialogue's input, or None if the dialogue has no such input."""
    found = ((view.get("state") or {}).get("values") or {}).get(block, {}).get(ids.INPUT)
    return found if isinstance(found, dict) else None


def text_of(view: Body, block: str) -> str | None:
    """Return what was typed, or None where the input was left as it was."""
    value = (field_of(view, block) or {}).get("value")
    return value if isinstance(value, str) else None


def errors_in(block: str, error: Exception) -> dict[str, Any]:
    """Return the answer that keeps a dialogue open and says what is wrong under one of its inputs."""
    return {"response_action": "errors", "errors": {block: str(error)[:ERROR_CHARS]}}


def give_back(tell: Ephemeral, channel: str, user: str, why: str, typed: str | None) -> None:
    """Tell somebody why what they submitted was refused, with what they typed, so that nothing is lost."""
    for text in given_back(why, typed or ""):
        answer(tell, channel, user, text)
