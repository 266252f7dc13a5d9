"""A suggestion: one task line offered to one session, and what became of it; and whether two tasks are one. Pure.

Its id is made of the session and what the task says, so that the same task is offered to a session once, ever. Only an
open suggestion, or by a human a quarantined one, can be decided; whoever comes second is told who was first. Two tasks
are one with the same words in any order, or the same commands.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Final, NamedTuple, Self

from pydantic import AwareDatetime, StringConstraints

from bot.domain.frozen_value import WITHOUT_UNDERSCORE, FrozenValue
from bot.domain.heartbeats.alerts import normalised
from bot.domain.search.tokens import STOP_WORDS, stem
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import Tier
from bot.errors import Conflict, InputError

NEAR: Final = 0.6
"""The share of words two tasks have in common from which on they are one."""

_COMMAND: Final = re.compile(r"`([^`\s]+\s[^`]*)`")
"""Two words or more in backticks; a lone one there is a name."""

_WORD: Final = re.compile(r"\w+")


SUGGESTION_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}-[0-9a-f]{6}")
MAX_TASK_CHARS: Final = 1_000
MAX_REASON_CHARS: Final = 300

DECIDED_SHOWN: Final = 5
NO_SUGGESTIONS: Final = "No suggestions yet."
ANYWAY: Final = "anyway"
"""The word that accepts a quarantined suggestion which somebody has read."""

_MARKDOWN: Final = re.compile(r"([\\\[\]<>*_])")


def is_same_task(one: str, other: str) -> bool:
    """Whether two task lines ask for the same check.

    >>> (
    ...     is_same_task("Open PRs and their CI: `gh pr status`", "CI of open PRs"),
    ...     is_same_task("Stale branches", "Stale flags"),
    ... )
    (True, False)
    """
    mine, its = _sense(one), _sense(other)
    if mine.said == its.said:
        return True
    if mine.commands and its.commands:
        return mine.commands == its.commands
    shared = len(mine.words & its.words)
    return shared > 0 and shared >= NEAR * len(mine.words | its.words)


def is_any_alike(task: str, others: Iterable[str]) -> bool:
    """Whether a task is one of those."""
    return any(is_same_task(task, other) for other in others)


class _Sense(NamedTuple):
    """What a task says: as it stands, by its commands, by its words."""

    said: str
    commands: frozenset[str]
    words: frozenset[str]


@lru_cache(maxsize=4_096)
def _sense(text: str) -> _Sense:
    words = _COMMAND.sub(" ", text).strip() or text
    return _Sense(
        said=normalised(text),
        commands=frozenset(" ".join(command.split()) for command in _COMMAND.findall(text)),
        words=frozenset(stem(word) for word in _WORD.findall(words.casefold()) if word not in STOP_WORDS),
    )


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


class Suggestion(FrozenValue):
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
    status: SuggestionStatus = SuggestionStatus.OPEN
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
    card_shows: SuggestionStatus | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether nobody has decided."""
        return self.status in (SuggestionStatus.OPEN, SuggestionStatus.QUARANTINED)

    @property
    def is_unread(self) -> bool:
        """Whether it is quarantined and waits for somebody to read it as data."""
        return bool(self.quarantine) and self.is_waiting

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

    def undecided(self) -> Self:
        """Return it as it waited before a decision that could not be carried out."""
        waiting = SuggestionStatus.QUARANTINED if self.quarantine else SuggestionStatus.OPEN
        return self.evolve(status=waiting, decided_by=None, decided_by_name=None, decided_at=None, decision_reason=None)


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


def describe_suggestion(suggestion: Suggestion) -> str:
    """Return what is suggested, without the task: `hourly, for shop-api`."""
    if suggestion.moves_from:
        return f"{suggestion.moves_from} → {suggestion.tier}, in {suggestion.to}"
    return f"{suggestion.tier}, for {suggestion.to}"


def describe_outcome(suggestion: Suggestion) -> str:
    """Return what became of it, who decided and why, on one line."""
    if suggestion.is_waiting:
        return f"quarantined: {suggestion.quarantine}" if suggestion.quarantine else "waiting"
    why = f": {one_line(suggestion.decision_reason)}" if suggestion.decision_reason else ""
    return f"{suggestion.status} by {one_line(suggestion.decided_by_name or 'somebody')}{why}"


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
        return "Nothing new to suggest. Sessions: /triage heartbeat list; what waits: /triage pollinate list"
    aside = f" {len(held)} quarantined, for a human to read." if held else ""
    return f"{counted(plain, 'suggestion')} sent.{aside} Next: /triage pollinate accept {sent[0].id}"


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


def _inert(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", one_line(text))
