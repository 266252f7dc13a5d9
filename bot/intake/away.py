"""The one line about an absence. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from bot.domain.distance import span

NOT_WORTH_A_LINE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Away:
    """How long the bot heard nothing and what it picked up afterwards; `reach` is how far back it read, if not all."""

    for_: timedelta
    questions: int
    others: int
    reach: timedelta | None = None


def away_line(away: Away) -> str | None:
    """Return what to tell the ops channel; None for a short absence in which nothing was said.

    >>> away_line(Away(for_=timedelta(minutes=12), questions=3, others=0))
    'The bot was away 12 min: 3 questions picked up.'
    >>> away_line(Away(for_=timedelta(seconds=40), questions=0, others=0)) is None
    True
    """
    parts = [_count(away.questions, "question"), _count(away.others, "other message" if away.questions else "message")]
    found = " and ".join(part for part in parts if part)
    if not found and away.for_ < NOT_WORTH_A_LINE:
        return None
    line = f"The bot was away {span(away.for_)}: " + (f"{found} picked up." if found else "nothing was missed.")
    return f"{line} What is older than {span(away.reach)} was not read." if away.reach else line


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}" if number else ""
