"""What is said before anybody relies on a note: that it is a lesson, and that its lines of code have changed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.domain.hidden import one_line
from bot.domain.note_facts import Cite, NoteKind

NAMED: Final = 3
_LESSONS: Final = {
    NoteKind.DISMISSAL: (
        "a lesson, not a fact about the code: a draft that said this was dismissed by people, for the reason given"
    ),
    NoteKind.CORRECTION: (
        "a lesson, not a fact about the code: people changed a draft as shown; look up what they say in the code"
    ),
}
UNKNOWN: Final = "nobody could look up just now whether the lines this note cites still stand"


def caution(kind: NoteKind, changed: Sequence[Cite] | None) -> str:
    """Return the warning for a note, the most pressing part first, or "" where there is none.

    `changed` are its citations that no longer stand at HEAD, None where that could not be looked up.

    >>> caution(NoteKind.NOTE, [Cite(path="a.py", lines="3-4", commit="1a2b3c4d5e", quote="x")])
    'the lines this note cites changed since 1a2b3c4 (a.py:3-4): check before you rely on it'
    >>> caution(NoteKind.NOTE, [])
    ''
    """
    return "; ".join(part for part in (doubt(changed), _LESSONS.get(kind, "")) if part)


def doubt(changed: Sequence[Cite] | None) -> str:
    """Return that cited lines changed, which, and since when they stood; "" where all of them stand."""
    if changed is None:
        return UNKNOWN
    if not changed:
        return ""
    named = ", ".join(one_line(cite.ref, 120) for cite in changed[:NAMED])
    more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    return (
        f"the lines this note cites changed since {changed[0].commit[:7]} ({named}{more}): check before you rely on it"
    )
