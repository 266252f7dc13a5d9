"""What casework is handed with a message: the event, and what the rules say of it beyond its class. Pure."""

from __future__ import annotations

from typing import Any, Final

from bot.domain.events import Classification, Event, MessageType
from bot.intake.classifier import classify
from bot.intake.rules import Rules
from bot.intake.settled import settles

_SHOWS: Final = frozenset({MessageType.IMAGE, MessageType.FILE})
"""Whoever sends a picture with an "ok" may answer with the picture."""


def job_payload(event: Event, found: Classification, rules: Rules) -> dict[str, Any]:
    """Return the queue's job for a message: the event, and what the rules say that casework needs to know.

    `opens`: it deserves a thread of its own, should the one it was written in be closed by then. `is_ack`: it is
    nobody's answer, whoever it names. `is_alarm`: it pages. `settles`: from the asker, it ends the matter.
    """
    alone = classify(event, rules, inflight=False)
    return {
        "event": event.model_dump(mode="json"),
        "opens": alone.classification == "actionable",
        "is_ack": found.is_ack_or_emoji and event.msg_type not in _SHOWS,
        "is_alarm": found.is_alarm,
        "settles": not found.is_question and settles(event.content, rules),
    }
