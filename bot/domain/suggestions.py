"""A suggestion: one task line offered to one session, and what became of it. Pure.

Its id is made of the session and what the task says, so that the same task is offered to a session once, ever: what was
rejected is on file under the id it would have again. Only an open suggestion, or by a human a quarantined one, can be
decided; whoever comes second is told who was first.
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple, Self

from pydantic import AwareDatetime, BaseModel, StringConstraints

from bot.domain.dedupe import normalised
from bot.domain.field_names import WITHOUT_UNDERSCORE
from bot.domain.tiers import Tier
from bot.errors import Conflict, InputError

SUGGESTION_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}-[0-9a-f]{6}")
MAX_TASK_CHARS: Final = 1_000
MAX_REASON_CHARS: Final = 300


class Status(StrEnum):
    """How a suggestion stands; `quarantined` waits too, but for a human alone."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"


class By(NamedTuple):
    """Who decides: a Slack user's id, `session:<id>` or `terminal`, and what people read."""

    id: str
    name: str


class Suggestion(BaseModel):
    """One line of suggestions/: the offer, the decision, and where its card stands.

    `moves_from` is the tier the task stands in already, where only its tier is wrong; `settled_at` is when the decision
    had been carried out and written down; `card_shows` is what the card said last.
    """

    model_config = WITHOUT_UNDERSCORE

    id: Annotated[str, StringConstraints(pattern=SUGGESTION_ID.pattern)]
    to: str
    tier: Tier
    task: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TASK_CHARS)]
    from_: str
    reason: Annotated[str, StringConstraints(max_length=MAX_REASON_CHARS)]
    at: AwareDatetime
    status: Status = Status.OPEN
    moves_from: Tier | None = None
    quarantine: str | None = None
    """Why only a human may look at it; stays after the decision."""
    decided_by: str | None = None
    decided_by_name: str | None = None
    decided_at: AwareDatetime | None = None
    decision_reason: str | None = None
    settled_at: AwareDatetime | None = None
    card_channel: str | None = None
    card_ts: str | None = None
    card_shows: Status | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether nobody has decided."""
        return self.status in (Status.OPEN, Status.QUARANTINED)

    def decided(self, status: Status, by: By, at: datetime, reason: str | None) -> Self:
        """Return it with a decision; raises Conflict, saying who was first, where there is one."""
        if not self.is_waiting:
            raise Conflict(f"{self.decided_by_name} {self.status} {self.id} already; nothing was changed.")
        return self.evolve(
            status=status,
            decided_by=by.id,
            decided_by_name=by.name,
            decided_at=at,
            decision_reason=(reason or "").strip()[:MAX_REASON_CHARS] or None,
            settled_at=None,
        )

    def undecided(self) -> Self:
        """Return it as it waited before a decision that could not be carried out."""
        waiting = Status.QUARANTINED if self.quarantine else Status.OPEN
        return self.evolve(status=waiting, decided_by=None, decided_by_name=None, decided_at=None, decision_reason=None)

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with fields replaced."""
        return self.model_copy(update=changes)


def suggestion_id(to: str, task: str, move_to: Tier | None = None) -> str:
    """Return the id of offering a task to a session, or of moving the session's own task to another tier.

    >>> suggestion_id("shop", "Look at *CI*") == suggestion_id("shop", "look at CI."), suggestion_id("shop", "x")
    (True, 'shop-3c7e9b')
    """
    said = f"{move_to or ''}\0{normalised(task) or task.strip()}"
    return f"{to}-{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def check_suggestion_id(suggestion_id: str) -> str:
    """Return an id that is safe as a file name; raises InputError for anything else."""
    if not SUGGESTION_ID.fullmatch(suggestion_id):
        raise InputError(f"{suggestion_id[:60]!r} is no suggestion's id; one looks like shop-api-3f2a91")
    return suggestion_id
