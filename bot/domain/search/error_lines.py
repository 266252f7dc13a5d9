"""Which lines of a report tell what went wrong, so that they stay where the rest of a long one is cut.

Pure, and linear in the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.domain.search.report_parts import names_error

_TRACEBACK: Final = "Traceback (most recent call last)"
_CAUSES: Final = ("Caused by:", "[cause]:")


def error_lines(lines: Sequence[str]) -> list[int]:
    """Return the numbers of the lines that name an error, counted from 0, the most telling first.

    What a trace ends with and what it was caused by come before other lines that name an error; later ones, which are
    nearer to the cause or to what was raised at last, before earlier ones. Indented lines are frames or their source.

    >>> error_lines(["ERROR: no reply", "Traceback (most recent call last):", "  raise Gone()", "app.Gone: cart 7"])
    [3, 0]
    """
    ends = {*_ends_of_tracebacks(lines)}
    causes = {number for number, line in enumerate(lines) if line.lstrip().startswith(_CAUSES)}
    named = {number for number, line in enumerate(lines) if line[:1].strip() and names_error(line)}
    first = ends | causes
    return [*sorted(first, reverse=True), *sorted(named - first, reverse=True)]


def _ends_of_tracebacks(lines: Sequence[str]) -> Iterator[int]:
    """Yield the line below the frames of each of Python's tracebacks: the error and its message."""
    margin: str | None = None
    for number, line in enumerate(lines):
        before, found, _ = line.partition(_TRACEBACK)
        if found:
            margin = before if not before.strip(" |+-") else ""
        elif margin is not None and not line.removeprefix(margin).startswith((" ", "\t")):
            if line.strip():
                yield number
            margin = None
