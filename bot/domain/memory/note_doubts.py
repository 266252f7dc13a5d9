"""What is said before anybody relies on a note or an earlier reply: cited lines changed, or it is a lesson. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from bot.domain.memory.notes import NoteCitation, NoteKind
from bot.domain.text.sanitize import one_line

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
