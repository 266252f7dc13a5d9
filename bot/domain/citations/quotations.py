"""What a quotation shows at a glance: its most telling line, and whether it calls itself outdated. Pure.

All patterns are linear: words beside each other with bounded gaps.
"""

from __future__ import annotations

import re
from typing import Final

from bot.domain.search.tokens import question_stems, text_stems

LOOKED_AT_LINES: Final = 60
LOOKED_AT_CHARS: Final = 8_000
LINE_CHARS: Final = 400
"""Of a line that is compared; a longer one is data."""

_OUTDATED: Final = re.compile(
    r"(?<![^\W_])(?:"
    r"no longer (?:\w{1,20} ){0,2}(?:used|needed|supported|valid|true|applies|maintained|active|called|current)"
    r"|not (?:\w{1,20} ){0,1}(?:used|needed|supported|maintained) any ?more|(?:currently )?unused|dead code"
    r"|deprecat(?:ed|ion)|obsolete|out ?dated|out of date|superseded|legacy|end[ -]of[ -]life"
    r"|(?:todo|fixme|xxx|hack)\b[:(\w) -]{0,24}\b(?:remove|delete|drop|get rid)"
    r"|(?:will|to|should|must|can) be (?:\w{1,20} ){0,1}(?:removed|deleted|dropped)|do(?: not|n['’]t) use"
    r"|(?:for|keep|kept)(?: for)? backwards?[ -]compat\w{0,10}|old(?=:)|formerly|used to be|was replaced by"
    r"|veraltet\w{0,3}|nicht mehr (?:\w{1,20} ){0,1}(?:verwendet|benutzt|gebraucht|genutzt)|überholt"
    r"|obsolet[oae]s?|ya no se (?:usa|utiliza)|não é mais (?:usad[oa]|utilizad[oa])|descontinuad[oa]"
    r"|obsolètes?|n['’]est plus utilisée?|déprécié\w{0,2}|usang|tidak (?:lagi )?digunakan(?: lagi)?"
    r")(?![^\W_])|非推奨|廃止|使われていない|使用されていない|已弃用|已棄用|不再使用|已废弃|已過時|已过时",
    re.IGNORECASE,
)
_OLD_PLACE: Final = re.compile(r"(?:^|/)(deprecated|obsolete|legacy|archived?|attic|old|unused)/", re.IGNORECASE)


def telling_line(quote: str, about: str) -> str:
    r"""Return the line of a quotation that holds most of the words of `about`, the first of those; "" for a blank one.

    >>> telling_line("[timeouts]\nconnect = 2\nread = 10", "What is the read timeout?")
    '[timeouts]'
    >>> telling_line("[timeouts]\nconnect = 2\nread = 10", "How long do we wait to connect?")
    'connect = 2'
    """
    lines = [line.strip() for line in quote[:LOOKED_AT_CHARS].split("\n")[:LOOKED_AT_LINES]]
    wanted = question_stems(about[:LOOKED_AT_CHARS])
    said = [line for line in lines if any(sign.isalnum() for sign in line)] or [line for line in lines if line]
    return max(said, key=lambda line: len(wanted & text_stems(line[:LINE_CHARS])), default="")


def outdated_words(quote: str, ref: str = "") -> str | None:
    """Return the words by which a quotation calls itself outdated, or the folder of old things it stands in.

    >>> outdated_words("TIMEOUT = 5  # no longer used"), outdated_words("x = 1", "src/legacy/a.py:1")
    ('no longer used', 'legacy/')
    >>> outdated_words("# TODO(ana): remove once v2 is out"), outdated_words("retries = 5")
    ('TODO(ana): remove', None)
    """
    found = _OUTDATED.search(quote[:LOOKED_AT_CHARS])
    if found is not None:
        return found[0]
    place = _OLD_PLACE.search(ref)
    return f"{place[1]}/" if place else None
