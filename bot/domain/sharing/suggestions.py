"""A suggestion: one task line offered to one session, and what became of it. Pure.

Its id is made of the session and the check, so that the same check is offered to a session once, ever. Only an open
suggestion, or by a human a quarantined one, can be decided; whoever comes second is told who was first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, NamedTuple, Self

from pydantic import AwareDatetime, StringConstraints

from bot.domain.frozen_value import WITHOUT_UNDERSCORE, FrozenValue
from bot.domain.sharing.same_check import check_keys
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import Tier
from bot.errors import Conflict, InputError

SUGGESTION_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}-[0-9a-f]{6}")
MAX_TASK_CHARS: Final = 1_000
MAX_REASON_CHARS: Final = 300
_MARKDOWN: Final = re.compile(r"([\\\[\]<>*_])")


class SuggestionStatus(StrEnum):
    """How a suggestion stands; `quarantined` waits too, but for a human alone."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"


class DecidedBy(NamedTuple):
    """Who decides: a Slack user's id, `session:<id>` or `terminal`, and what people read."""

    id: str
    name: str


class Offer(FrozenValue):
    """A task that sessions could use, from a session or a team, and why.

    `moves_from` is the tier it stands in already, where only its tier is wrong; `quarantine` says why only a human may
    look at it, and stays after the decision.
    """

    model_config = WITHOUT_UNDERSCORE

    tier: Tier
    task: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TASK_CHARS)]
    from_: str
    reason: Annotated[str, StringConstraints(max_length=MAX_REASON_CHARS)]
    moves_from: Tier | None = None
    quarantine: str | None = None

    def made_to(self, session_id: str, at: datetime) -> Suggestion:
        """Return it as a suggestion to a session."""
        return Suggestion(
            id=suggestion_id(session_id, self.task, self.tier if self.moves_from else None),
            to=session_id,
            at=at,
            status=SuggestionStatus.QUARANTINED if self.quarantine else SuggestionStatus.OPEN,
            **dict(self),
        )


class Suggestion(Offer):
    """One line of suggestions/: the offer, the decision, and where its card stands.

    `settled_at` is when what its status says had been carried out and written down; `card_shows` is what the card said
    last.
    """

    id: Annotated[str, StringConstraints(pattern=SUGGESTION_ID.pattern)]
    to: str
    at: AwareDatetime
    status: SuggestionStatus = SuggestionStatus.OPEN
    decided_by: str | None = None
    decided_by_name: str | None = None
    decided_at: AwareDatetime | None = None
    decision_reason: str | None = None
    settled_at: AwareDatetime | None = None
    card_channel: str | None = None
    card_ts: str | None = None
    card_shows: SuggestionStatus | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether nobody has decided."""
        return self.status in (SuggestionStatus.OPEN, SuggestionStatus.QUARANTINED)

    def decided(self, status: SuggestionStatus, by: DecidedBy, at: datetime, reason: str | None) -> Self:
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


def suggestion_id(to: str, task: str, move_to: Tier | None = None) -> str:
    """Return the id of offering a check to a session, or of moving the session's own task to another tier.

    >>> suggestion_id("shop", "Look at CI") == suggestion_id("shop", "look at  ci"), suggestion_id("shop", "x")
    (True, 'shop-3c7e9b')
    """
    said = repr((move_to and move_to.value, sorted(check_keys(task))))
    return f"{to}-{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def check_suggestion_id(suggestion_id: str) -> str:
    """Return an id that is safe as a file name; raises InputError for anything else."""
    if not SUGGESTION_ID.fullmatch(suggestion_id):
        raise InputError(f"{suggestion_id[:60]!r} is no suggestion's id; one looks like shop-api-3f2a91")
    return suggestion_id


def describe_suggestion(suggestion: Suggestion) -> str:
    """Return what is suggested, without the task: `hourly, for shop-api`."""
    if suggestion.moves_from:
        return f"{suggestion.moves_from} → {suggestion.tier}, in {suggestion.to}"
    return f"{suggestion.tier}, for {suggestion.to}"


def describe_decision(suggestion: Suggestion) -> str:
    """Return who decided and why: `by ana: too noisy`."""
    why = f": {suggestion.decision_reason}" if suggestion.decision_reason else ""
    return f"by {suggestion.decided_by_name or 'somebody'}{why}"


def decision_lines(suggestion: Suggestion) -> Iterator[tuple[str, str]]:
    """Yield its lines of decisions.md, each with what no other line there holds: that it was sent, what became of it.

    Whatever was typed stands on one line there, and makes no link: no text gets past `_inert` with a bracket.
    """
    what = "quarantined" if suggestion.quarantine else "suggested"
    yield _line(suggestion, what, suggestion.at, suggestion.quarantine or suggestion.reason)
    if suggestion.decided_at:
        yield _line(suggestion, suggestion.status, suggestion.decided_at, describe_decision(suggestion))


def _line(suggestion: Suggestion, what: str, at: datetime, said: str) -> tuple[str, str]:
    mark = f"{what} [{suggestion.id}](suggestions/{suggestion.id}.json)"
    told = f"“{_inert(suggestion.task)}”, from {_inert(suggestion.from_)}; {_inert(said)}"
    return mark, f"{at:%Y-%m-%d %H:%M} UTC {mark}, {describe_suggestion(suggestion)}: {told}"


def _inert(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", one_line(text))
