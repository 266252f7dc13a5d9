"""The forms that issuers gave their tokens: what each starts with, and what follows.

The forms stand in secret_forms.yml. A form is looked for only where one of its beginnings stands, and what follows is
one run of characters, so that the time is proportional to the text's length.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from bot.domain.credentials.secret_values import Judge
from bot.domain.tables import Parts, Words, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern

VERSION: Final = 12
"""Rises with every change of what counts as a credential: what was stored under another version is read anew."""

PRIVATE_KEY: Final = "private key"
_MAX_CLOSED_KEY_CHARS: Final = 4_000
_KEY_BEGIN: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE: Final = re.compile(r"[A-Za-z0-9+/=]{40}")
_KEY_BODY: Final = re.compile(
    r"[\s\\nr\"'+,>#*/]{0,40}(?:[A-Z][A-Za-z-]{1,20}: [^\\\n]{0,80}(?:\\r)?(?:\\n|\n)[\s\\nr\"'+,]{0,8}){0,4}"
    r"[A-Za-z0-9+/=]{12}"
)

# kind, how many characters its beginning has, what follows that
_Row = tuple[str, int, re.Pattern[str]]


class SecretSpan(NamedTuple):
    """Where a credential stands in a text, and its kind."""

    start: int
    end: int
    kind: str


class _Begun(NamedTuple):
    """A form that some beginnings give away, and what follows them."""

    kind: str
    beginnings: Words
    follows: str


class Place(NamedTuple):
    """Where a credential stands: in the group `value`, or in all that a form of its own matches, or behind the match.

    One of `needles`, or what `quick` matches, stands in every text that holds it.
    """

    kind: str
    needles: Words
    pattern: str
    quick: str = ""
    judge: Judge = "value"


class _SecretFormsTable(NamedTuple):
    parts: Parts
    beginnings: tuple[_Begun, ...]
    shapes: tuple[Place, ...]


class _Forms:
    """The forms of secret_forms.yml, compiled."""

    def __init__(self) -> None:
        lists = read_table(__file__, "secret_forms.yml", _SecretFormsTable)
        rows: dict[str, list[_Row]] = {}
        for kind, beginnings, follows in lists.beginnings:
            pattern = re.compile(fill(follows, lists.parts))
            for beginning in beginnings:
                rows.setdefault(beginning, []).append((kind, len(beginning), pattern))
        longest = sorted(rows, key=len, reverse=True)
        self.by_beginning = {
            one: [row for each in longest if one.startswith(each) for row in rows[each]] for one in rows
        }
        self.any_beginning = LinearPattern("|".join(map(re.escape, longest)))
        self.at_start = re.compile(lists.parts["START"])
        self.shapes = [one._replace(pattern=fill(one.pattern, lists.parts), judge="form") for one in lists.shapes]


@cache
def forms() -> _Forms:
    """Return the published forms."""
    return _Forms()


def issued(text: str) -> Iterator[SecretSpan]:
    """Yield where `text` holds a credential that its own form gives away."""
    yield from _begun(text)
    yield from _private_keys(text)


def _begun(text: str) -> Iterator[SecretSpan]:
    table = forms()
    done: dict[int, int] = {}  # how far each form has read: what it read once it does not read again
    for start, end in table.any_beginning.spans(text):
        rows = table.by_beginning[text[start:end]] if table.at_start.match(text, start) else ()
        for kind, size, follows in rows:
            match = follows.match(text, start + size) if start >= done.get(id(follows), 0) else None
            if match:
                done[id(follows)] = match.end()
                yield SecretSpan(match.start("value") if "value" in follows.groupindex else start, match.end(), kind)


def _private_keys(text: str) -> Iterator[SecretSpan]:
    """Yield the keys in armour; one whose end is not shown reaches to the end of the text."""
    ends = [match.end() for match in _KEY_END.finditer(text)]
    done = 0
    for begin in _KEY_BEGIN.finditer(text):
        at = bisect_left(ends, begin.end())
        end = ends[at] if at < len(ends) else len(text)
        is_closed = at < len(ends) and end <= begin.end() + _MAX_CLOSED_KEY_CHARS
        is_key = _KEY_BODY.match(text, begin.end()) or (is_closed and _KEY_LINE.search(text, begin.end(), end))
        if is_key and begin.start() >= done:
            done = end
            yield SecretSpan(begin.start(), end, PRIVATE_KEY)
