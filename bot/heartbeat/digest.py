"""Many findings at once: a few ring for themselves, the rest stand on one list. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.domain.alerts import headline_of
from bot.domain.session import OpenFinding
from bot.domain.severity import SIGNS
from bot.heartbeat.verdict import FLAGS

ALERTS_AT_ONCE: Final = 5
"""How often one beat rings at most, the list included."""
LISTED: Final = 30
"""Lines of a list: so many fit a Telegram message."""


def shared_out(ringing: Sequence[OpenFinding]) -> tuple[list[OpenFinding], list[OpenFinding]]:
    """Return the findings with an alert of their own, the most urgent first, and those for the list: none, or two up.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 1, tzinfo=UTC)
    >>> many = [OpenFinding(key=str(n), task="ci", text="red", first_at=at, last_at=at) for n in range(7)]
    >>> [len(part) for part in shared_out(many)], [len(part) for part in shared_out(many[:5])]
    ([4, 3], [5, 0])
    """
    ordered = sorted(ringing, key=lambda each: (each.severity.rank, each.task != FLAGS))
    if len(ordered) <= ALERTS_AT_ONCE:
        return ordered, []
    return ordered[: ALERTS_AT_ONCE - 1], ordered[ALERTS_AT_ONCE - 1 :]


def digest_text(session_id: str, listed: Sequence[OpenFinding]) -> str:
    """Return the list as Markdown: how many are left, a line for each, and where the rest can be read."""
    left = sum(each.is_open for each in listed)
    count = f"{len(listed)} findings" if left == len(listed) else f"{left} of {len(listed)} findings left"
    said = "More at once than ring one by one; said again like any other, and ticked off here once gone."
    ordered = sorted(listed, key=lambda each: each.severity.rank)
    lines = [f"- {_sign(each)} {headline_of(each.text)}" for each in ordered[:LISTED]]
    if rest := len(listed[LISTED:]):
        lines.append(f"\n… and {rest} more: `/triage heartbeat why {session_id}` names the run that reported them.")
    return "\n".join([f"{count} on one list", said, "", *lines])


def _sign(finding: OpenFinding) -> str:
    if finding.removed is not None:
        return "➖ not checked any more:"
    return SIGNS[finding.severity] if finding.is_open else "✅"
