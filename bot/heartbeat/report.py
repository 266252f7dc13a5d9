"""A worker's daily report to the master session: how the beat ended and what its receipts say. Pure."""

from __future__ import annotations

from typing import Any, Final

from bot.heartbeat.outcome import Ending
from bot.heartbeat.session import Session

MAX_CHARS: Final = 1_500
LISTED: Final = 8
LINE_CHARS: Final = 160


def daily_report(session: Session, ending: Ending) -> tuple[str, dict[str, Any]]:
    """Return the report as text, and the same as data, of a beat that carried out its tasks."""
    assert ending.view is not None
    receipts = ending.report.receipts if ending.report else ()
    found = [_line(receipt.evidence) for receipt in receipts if receipt.status == "finding"][:LISTED]
    skipped = sum(receipt.status == "skipped" for receipt in receipts)
    seen = [_line(one.evidence) for one in receipts if one.status == "ok" and one.evidence.strip()][:LISTED]
    changed = [_line(result.command) for result in ending.view.changed][:LISTED]
    lines = [
        f"Daily report of {session.id}: {ending.result}, {len(receipts)} tasks, {skipped} skipped.",
        *(f"Found: {each}" for each in found),
        *(f"Saw: {each}" for each in seen),
    ]
    return "\n".join(lines)[:MAX_CHARS], {
        "result": str(ending.result),
        "found": found,
        "seen": seen,
        "changed": changed,
    }


def _line(text: str) -> str:
    return " ".join(text.split())[:LINE_CHARS]
