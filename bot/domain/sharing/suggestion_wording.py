"""Suggestions in plain words, for lists and for decisions.md. Pure; nothing here is escaped for Slack."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.domain.sharing.suggestions import Suggestion, SuggestionStatus
from bot.domain.text.sanitize import strip_hidden

DECIDED_SHOWN: Final = 5
NO_SUGGESTIONS: Final = "No suggestions yet."
ANYWAY: Final = "anyway"
"""The word that accepts a quarantined suggestion which somebody has read."""
_MARKDOWN: Final = re.compile(r"([\\\[\]<>*_])")


def describe_suggestion(suggestion: Suggestion) -> str:
    """Return what is suggested, without the task: `hourly, for shop-api`."""
    if suggestion.moves_from:
        return f"{suggestion.moves_from} → {suggestion.tier}, in {suggestion.to}"
    return f"{suggestion.tier}, for {suggestion.to}"


def describe_outcome(suggestion: Suggestion) -> str:
    """Return what became of it, who decided and why, on one line."""
    if suggestion.is_waiting:
        return f"quarantined: {suggestion.quarantine}" if suggestion.quarantine else "waiting"
    why = f": {suggestion_line(suggestion.decision_reason)}" if suggestion.decision_reason else ""
    return f"{suggestion.status} by {suggestion_line(suggestion.decided_by_name or 'somebody')}{why}"


def order(suggestions: Sequence[Suggestion]) -> tuple[Sequence[Suggestion], Sequence[Suggestion]]:
    """Return what waits, oldest first, and what was decided last, newest first."""
    waiting = [one for one in suggestions if one.is_waiting]
    decided = sorted((one for one in suggestions if one.decided_at), key=lambda one: str(one.decided_at), reverse=True)
    return waiting, decided[:DECIDED_SHOWN]


def ran(sent: Sequence[Suggestion]) -> str:
    """Return what a look around brought, and what to type next."""
    held = [one for one in sent if one.quarantine]
    plain = len(sent) - len(held)
    if not sent:
        return "Nothing new to suggest. What waits: /triage pollinate list"
    aside = f" {len(held)} quarantined, for a human to read." if held else ""
    return f"{plain} suggestion{'s' * (plain != 1)} sent.{aside} Next: /triage pollinate accept {sent[0].id}"


def accepted(suggestion: Suggestion) -> str:
    """Return what was done with an accepted suggestion, and what to type next."""
    done = f"moved to {suggestion.tier}" if suggestion.moves_from else f"added to the {suggestion.tier} tasks"
    return f"{suggestion.id} accepted: {done} of {suggestion.to}. Next: /triage heartbeat run {suggestion.to}"


def rejected(suggestion: Suggestion) -> str:
    """Return what was done with a rejected suggestion."""
    return f"{suggestion.id} rejected; {suggestion.to} is not offered it again. Next: /triage pollinate list"


def decision_mark(suggestion: Suggestion) -> str:
    """Return what no other line of decisions.md holds: no text gets past `_inert` with a bracket of its own."""
    return f"{suggestion.status} [{suggestion.id}](suggestions/{suggestion.id}.json)"


def decision_line(suggestion: Suggestion) -> str:
    """Return the line of decisions.md, whatever was typed into it on one line and without links of its own."""
    at = suggestion.decided_at or suggestion.at
    said = (
        f"{at:%Y-%m-%d %H:%M} UTC {decision_mark(suggestion)}, {describe_suggestion(suggestion)}: "
        f"“{_inert(suggestion.task)}”"
    )
    if suggestion.status is SuggestionStatus.QUARANTINED:
        return f"{said}. Why: {suggestion.quarantine}; from {suggestion.from_}."
    why = f": {_inert(suggestion.decision_reason)}" if suggestion.decision_reason else ""
    return f"{said}. From {suggestion.from_}; by {_inert(suggestion.decided_by_name or 'somebody')}{why}"


def suggestion_line(text: str) -> str:
    """Return text on one line, without hidden characters."""
    return " ".join(strip_hidden(text)[0].split())


def _inert(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", suggestion_line(text))
