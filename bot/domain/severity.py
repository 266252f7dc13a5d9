"""How urgent something is, and what of that its words say. Pure.

`page` wakes somebody, `act` wants to be done today, `know` wants to be read. Words alone make a page only where they
speak of an outage, or of trouble in production; a negated word counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple

from bot.domain.languages.packs import tells_of_alarm
from bot.domain.tables import Phrases, read_table
from bot.domain.text.alarm_words import has_alarm_word

MAX_READ_CHARS: Final = 4_000
"""What is read of a text; urgency stands at its beginning."""

_SENTENCE: Final = re.compile(r"[\n\r\u2028\u2029\x85]+|(?<=[.!?。！？])\s")


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


class _SeverityTable(NamedTuple):
    page: Phrases
    production: Phrases


_PAGE, _PRODUCTION = (said.compiled() for said in read_table(__file__, "severity.yml", _SeverityTable))


def highest(severities: Iterable[Severity]) -> Severity:
    """Return the most urgent of some; `know` of none.

    >>> str(highest([Severity.KNOW, Severity.PAGE, Severity.ACT])), str(highest([]))
    ('page', 'know')
    """
    return min(severities, key=lambda each: each.rank, default=Severity.KNOW)


def severity_of_words(text: str) -> Severity:
    """Return what words alone say.

    >>> [str(severity_of_words(text)) for text in ("Production is down.", "Main is red.", "No outage.")]
    ['page', 'act', 'know']
    """
    text = text[:MAX_READ_CHARS]
    sentences = [each for each in _SENTENCE.split(text) if has_alarm_word(each)]
    if any(map(_pages, sentences)) or tells_of_alarm(text):
        return Severity.PAGE
    return Severity.ACT if sentences else Severity.KNOW


def _pages(sentence: str) -> bool:
    return bool(_PAGE.search(sentence) or _PRODUCTION.search(sentence))
