"""A recheck: a note whose cited lines changed, what a person was shown of it, and what they decided. Pure.

Also what is said before anybody relies on a note or an earlier reply: cited lines changed, or it is a lesson.

Its id is made of the note and of all it cites, so that people are told of a note once for as long as it cites the same
lines. Only an open one can be decided; whoever comes second is told who was first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, NamedTuple, Self

from pydantic import AwareDatetime, StringConstraints

from bot.domain.frozen_value import FrozenValue
from bot.domain.memory.notes import NoteCitation, NoteKind
from bot.domain.text.sanitize import one_line
from bot.errors import Conflict

NAMED: Final = 3
UNKNOWN: Final = "could not check whether the cited lines have changed"

_LESSONS: Final = {
    NoteKind.DISMISSAL: (
        "a lesson, not a fact about the code: a draft that said this was dismissed by people, for the reason given"
    ),
    NoteKind.CORRECTION: (
        "a lesson, not a fact about the code: people changed a draft as shown; look up what they say in the code"
    ),
}

RECHECK_ID: Final = re.compile(r"[0-9a-f]{16}")
EXCERPT_CHARS: Final = 300


class StaleCitations(NamedTuple):
    """Citations that do not stand: their lines `changed`, or no codebase has their commit (`unconfigured`)."""

    changed: Sequence[NoteCitation] = ()
    unconfigured: Sequence[NoteCitation] = ()

    @property
    def is_empty(self) -> bool:
        """Whether all of them stand."""
        return not self.changed and not self.unconfigured


def lesson_notice(kind: NoteKind, stale: StaleCitations | None) -> str:
    """Return the warning for a note, the most pressing part first, or "" where there is none.

    `stale` are its citations that do not stand at HEAD, None where that could not be looked up.

    >>> cite = NoteCitation(path="a.py", lines="3-4", commit="1a2b3c4d5e", quote="x")
    >>> lesson_notice(NoteKind.NOTE, StaleCitations(changed=[cite]))
    'the cited lines changed since 1a2b3c4 (a.py:3-4): check before you rely on it'
    >>> lesson_notice(NoteKind.NOTE, StaleCitations())
    ''
    """
    return "; ".join(part for part in (stale_lines_notice(stale), _LESSONS.get(kind, "")) if part)


def stale_lines_notice(stale: StaleCitations | None) -> str:
    """Return which cited lines changed, and since when, or are in no codebase any more; "" where all of them stand.

    >>> cite = NoteCitation(path="a.py", lines="3", commit="1a2b3c4d5e", quote="x")
    >>> stale_lines_notice(StaleCitations(unconfigured=[cite]))
    'cited from a codebase that is not configured here (a.py:3): nobody can check it'
    """
    return UNKNOWN if stale is None else "; ".join(_notices(stale))


def _notices(stale: StaleCitations) -> Iterator[str]:
    if stale.changed:
        since = stale.changed[0].commit[:7]
        yield f"the cited lines changed since {since} ({_named(stale.changed)}): check before you rely on it"
    if stale.unconfigured:
        named = _named(stale.unconfigured)
        yield f"cited from a codebase that is not configured here ({named}): nobody can check it"


def _named(cites: Sequence[NoteCitation]) -> str:
    more = f" and {len(cites) - NAMED} more" if len(cites) > NAMED else ""
    return ", ".join(one_line(cite.ref, 120) for cite in cites[:NAMED]) + more


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


def recheck_id(ref: str, cites: Sequence[NoteCitation]) -> str:
    """Return the id of what is asked about a note that cites these lines."""
    parts = [ref, *(f"{cite.ref}@{cite.commit}\n{cite.quote}" for cite in cites)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def with_new_pins(cites: Sequence[NoteCitation], changes: Sequence[ChangedLines]) -> list[NoteCitation]:
    """Return what a note cites once somebody said that it is still true: what changed as it is now, if it is there."""
    now = {change.cite: change.now for change in changes}
    found = [now.get(cite, cite) for cite in cites]
    return [cite for cite in found if cite is not None]
