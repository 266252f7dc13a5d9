"""How urgent something is. Pure.

`page` wakes somebody, `act` wants to be done today, `know` wants to be read. It is a field of whatever reports it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """How urgent something is, most urgent first."""

    PAGE = "page"
    ACT = "act"
    KNOW = "know"

    @property
    def rank(self) -> int:
        """Where it stands in a list: 0 for `page`."""
        return list(Severity).index(self)


SIGNS: Final = {Severity.PAGE: "🚨", Severity.ACT: "🟠", Severity.KNOW: "🔵"}
WORDS: Final = {Severity.PAGE: "Page", Severity.ACT: "Act", Severity.KNOW: "Know"}
"""What leads a message, by its severity."""


def highest(severities: Iterable[Severity]) -> Severity:
    """Return the most urgent of some; `know` of none.

    >>> str(highest([Severity.KNOW, Severity.PAGE, Severity.ACT])), str(highest([]))
    ('page', 'know')
    """
    return min(severities, key=lambda each: each.rank, default=Severity.KNOW)
