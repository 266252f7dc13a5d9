"""A recheck: a note whose cited lines changed, what a person was shown of it, and what they decided. Pure.

Its id is made of the note and of all it cites, so that people are told of a note once for as long as it cites the same
lines. Only an open one can be decided; whoever comes second is told who was first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import AwareDatetime, StringConstraints

from bot.domain.frozen_value import FrozenValue
from bot.domain.memory.notes import NoteCitation
from bot.errors import Conflict

RECHECK_ID: Final = re.compile(r"[0-9a-f]{16}")
EXCERPT_CHARS: Final = 300


class RecheckOutcome(StrEnum):
    """How a recheck stands; `moot`: the lines stand again, or the note cites others; `gone`: the note is not there."""

    OPEN = "open"
    KEPT = "kept"
    RETIRED = "retired"
    MOOT = "moot"
    GONE = "gone"


class ChangedLines(FrozenValue):
    """Lines a note cites, and what stands in their place; `now` is None where nothing does."""

    cite: NoteCitation
    now: NoteCitation | None


class Recheck(FrozenValue):
    """What was seen of one note at one HEAD; `card_shows` is the outcome that its card said last."""

    id: Annotated[str, StringConstraints(pattern=RECHECK_ID.pattern)]
    ref: str
    title: str
    excerpt: str
    saved_by: str | None = None
    saved_at: str | None = None
    head: str
    changes: tuple[ChangedLines, ...]
    at: AwareDatetime
    outcome: RecheckOutcome = RecheckOutcome.OPEN
    decided_by: str | None = None
    decided_at: AwareDatetime | None = None
    retired_as: str | None = None
    card_channel: str | None = None
    card_ts: str | None = None
    card_shows: RecheckOutcome | None = None

    @property
    def is_shown(self) -> bool:
        """Whether everything about it is done for now: what was decided is carried out, and the card says so."""
        return self.card_shows is self.outcome

    def decided(self, outcome: RecheckOutcome, by: str, at: datetime) -> Self:
        """Return it with a decision; raises Conflict, saying who was first, where there is one."""
        if self.outcome in (RecheckOutcome.KEPT, RecheckOutcome.RETIRED):
            raise Conflict(f"<@{self.decided_by}> decided already: {self.outcome}. Your click changed nothing.")
        if self.outcome is not RecheckOutcome.OPEN:
            raise Conflict(
                "There is nothing to decide any more: the note is gone, cites other lines, or its lines stand again."
            )
        return self.evolve(outcome=outcome, decided_by=by, decided_at=at)

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with fields replaced."""
        return self.model_copy(update=changes)


def recheck_id(ref: str, cites: Sequence[NoteCitation]) -> str:
    """Return the id of what is asked about a note that cites these lines."""
    parts = [ref, *(f"{cite.ref}@{cite.commit}\n{cite.quote}" for cite in cites)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def with_new_pins(cites: Sequence[NoteCitation], changes: Sequence[ChangedLines]) -> list[NoteCitation]:
    """Return what a note cites once somebody said that it is still true: what changed as it is now, if it is there."""
    now = {change.cite: change.now for change in changes}
    found = [now.get(cite, cite) for cite in cites]
    return [cite for cite in found if cite is not None]
