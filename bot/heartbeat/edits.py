"""What one beat changed in its session's HEARTBEAT.md: for its trace, its alert and its line in the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from bot.domain.tiers import Tier

SHOWN: Final = 3
SHOWN_CHARS: Final = 80


class What(StrEnum):
    """Kinds of edits; the value is the tool's name and what is written to trace.json."""

    ADD_TASK = "add_task"
    CHECK_TASK = "check_task"
    REMOVE_TASK = "remove_task"
    MOVE_TASK = "move_task"
    RAISE_FLAG = "raise_flag"
    CLEAR_FLAG = "clear_flag"
    NOTE = "note"
    DROP_NOTE = "drop_note"


_PHRASES: Final = {
    What.ADD_TASK: "new {tier} task",
    What.REMOVE_TASK: "removed from {tier}",
    What.MOVE_TASK: "moved from {before} to {tier}",
    What.RAISE_FLAG: "flag raised",
    What.CLEAR_FLAG: "flag cleared",
    What.NOTE: "noted",
    What.DROP_NOTE: "note dropped",
}
"""How an alert tells of an edit; a box is no news."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """One change; `tier` is where a task stands now, or stood, `before` where a moved one came from."""

    what: What
    text: str
    at: datetime
    tier: Tier | None = None
    before: Tier | None = None

    def record(self) -> dict[str, Any]:
        """Return the edit as it stands in trace.json."""
        moved = {"from_tier": self.before} if self.before else {}
        return {"what": self.what, "tier": self.tier, **moved, "text": self.text, "at": self.at.isoformat()}


@dataclass(slots=True)
class Edits:
    """The changes of one beat, in order."""

    made: list[Edit] = field(default_factory=list)

    @property
    def news(self) -> list[Edit]:
        """Those an owner hears of: all but ticked boxes."""
        return [edit for edit in self.made if edit.what in _PHRASES]

    def described(self) -> str:
        """Return what changed on one line, or nothing.

        >>> at = datetime(2026, 11, 21)
        >>> Edits([Edit(what=What.ADD_TASK, text="Disk: `df -h`", at=at, tier=Tier.HOURLY)]).described()
        'Changed in HEARTBEAT.md: new hourly task “Disk: `df -h`”'
        """
        told = [f"{_phrase(edit)} “{_short(edit.text)}”" for edit in self.news[:SHOWN]]
        more = [f"and {len(self.news) - SHOWN} more"] if len(self.news) > SHOWN else []
        return f"Changed in HEARTBEAT.md: {'; '.join([*told, *more])}" if told else ""

    def counted(self) -> str:
        """Return how much changed, without a word of what, for lines that more people read; or nothing.

        >>> Edits([Edit(what=What.NOTE, text="secret", at=datetime(2026, 11, 21))]).counted()
        '1 edit to HEARTBEAT.md'
        """
        count = len(self.news)
        return f"{count} edit{'s' * (count != 1)} to HEARTBEAT.md" if count else ""


def _phrase(edit: Edit) -> str:
    return _PHRASES[edit.what].format(tier=edit.tier, before=edit.before)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1].rstrip() + "…"
