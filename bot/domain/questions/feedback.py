"""What people said of a posted reply with its two buttons: one vote each, the last one counts. Pure values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from pydantic import AwareDatetime, Field

from bot.domain.frozen_value import FrozenValue
from bot.errors import InputError

_ID: Final = re.compile(r"[0-9a-f]{16}")


class Votes(NamedTuple):
    """How many people found a reply helpful, and how many did not."""

    helpful: int = 0
    not_helpful: int = 0


NO_VOTES: Final = Votes()


class Vote(FrozenValue):
    """What one person said last."""

    is_helpful: bool
    at: AwareDatetime


class Feedback(FrozenValue):
    """The votes on one posted reply, by user id; what follows from them is on file before and after it is said."""

    id: str
    """That of the reply, as its mark has it."""
    thread_id: str
    question: str = ""
    permalink: str | None = None
    votes: Mapping[str, Vote] = Field(default_factory=dict)
    telling_at: AwareDatetime | None = None
    """When the approvers began to be told of a vote against it; that happens once."""
    is_told: bool = False
    shown: tuple[int, int] = (0, 0)
    """What the card of its thread shows: helpful, not helpful."""
    version: int = 0

    @property
    def counts(self) -> Votes:
        """The votes as they stand."""
        return count_votes(self.votes.values())

    @property
    def against(self) -> list[str]:
        """Who did not find it helpful, the first one first."""
        return [user for user, vote in sorted(self.votes.items(), key=lambda one: one[1].at) if not vote.is_helpful]

    @property
    def last_at(self) -> datetime:
        """When somebody voted last."""
        return max(vote.at for vote in self.votes.values())


def count_votes(votes: Iterable[Vote]) -> Votes:
    """Return how many of some votes are for and against."""
    known = [vote.is_helpful for vote in votes]
    return Votes(known.count(True), known.count(False))


def votes_words(votes: Votes) -> str:
    """Return votes as people read them.

    >>> votes_words(Votes(3, 1))
    '3 helpful, 1 not helpful'
    """
    return f"{votes.helpful:,} helpful, {votes.not_helpful:,} not helpful"


def check_feedback_id(given: str) -> str:
    """Return a reply's id that is safe as a file name; raises InputError for anything else."""
    if not _ID.fullmatch(given):
        raise InputError("This button is from another version of triage; nothing was counted.")
    return given
