"""What credentials look like: the forms that issuers gave their tokens, and what follows a telling name."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import Final, Literal, NamedTuple

from bot.domain.tables import Alternatives, Parts, Pattern, Words, WordSet, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern

VERSION: Final = 13
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

    One of `needles`, if there are any, and what `quick` matches, if given, stand in every text that holds it.
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


JUDGED_CHARS: Final = 256
_MIN_CHARS: Final = {"password": 4, "secret": 4}
_MIN_ISSUED_CHARS: Final = 8
_MIN_MIXED_CHARS: Final = 10
_MIN_DISTINCT_CHARS: Final = 8
_MIN_DIGITS: Final = 6
_MIN_KINDS_OF_CHAR: Final = 3
_MIN_PHRASE_WORDS: Final = 3
_MAX_WORDS: Final = 12
_SYMBOL: Final = re.compile(r".[^\n]{0,254}?[!#$%&*?@^~]")
_HAS_HUMPS: Final = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]")
_AROUND_HOLES: Final = re.compile(
    r"(?>(?:[\s_./:?&=,'\"`()@+-]|(?<![A-Za-z0-9])(?:[A-Za-z][a-z]{0,14}\d?|[A-Z]{1,15})(?![A-Za-z0-9]))*)"
)
_PUNCTUATION: Final = " \t()[]{}\"'`,.;:!?*"

Judge = Literal["form", "value", "word", "generated"]
"""What a place asks of a value: nothing, its form says all; any value; no plain word; one that looks generated."""


class _SecretValuesTable(NamedTuple):
    parts: Parts
    stand_in: Alternatives
    word: Pattern
    camel: Pattern
    path: Pattern
    of_sentences: WordSet


_LISTS: Final = read_table(__file__, "secret_values.yml", _SecretValuesTable)
HOLE: Final = re.compile(fill("{HOLE}", _LISTS.parts))
_STAND_IN: Final = re.compile(fill(_LISTS.stand_in, _LISTS.parts))


def is_secret(value: str, kind: str, judge: Judge) -> bool:
    """Whether what follows a name for a credential is one, by what its place asks of it.

    >>> [is_secret("hunter", "password", judge) for judge in ("value", "word", "generated")]
    [True, False, False]
    >>> [is_secret(value, "password", "value") for value in ("${X}", "changeme", "$kq2Lz9!pW", "set it in the vault")]
    [False, False, True, False]
    """
    shown = value[:JUDGED_CHARS].strip()
    least = max(_MIN_CHARS.get(kind, _MIN_ISSUED_CHARS), _MIN_DIGITS if shown.isdigit() else 0)
    is_word = judge == "word" and shown.isascii() and not is_plain(shown)
    is_asked = judge == "value" or is_word or looks_generated(shown)
    is_value = is_asked and len(shown) >= least and not is_stand_in(shown) and not is_sentence(shown)
    return is_value or judge == "form"


def looks_generated(value: str) -> bool:
    """Whether a value that no telling name stands before looks as if drawn by chance.

    >>> [looks_generated(value) for value in ("f3A9c07b21De88aa", "Winter#2025", "utf8mb4", "settings.slack_token")]
    [True, True, False, False]
    """
    shown = value[:JUDGED_CHARS].rstrip(".?!:")
    if len(shown) < _MIN_ISSUED_CHARS or " " in shown or "(" in shown or is_plain(shown):
        return False
    if shown.isalpha():
        return shown.isascii()
    kinds = [any(map(test, shown)) for test in (str.isupper, str.islower, str.isdigit)]
    if sum(kinds) + (len(shown) >= _MIN_MIXED_CHARS) < _MIN_KINDS_OF_CHAR:
        return False
    is_mixed = kinds[2] and not _LISTS.path.fullmatch(shown) and len(set(shown)) >= _MIN_DISTINCT_CHARS
    return is_mixed or bool(_SYMBOL.match(shown))


def is_sentence(text: str) -> bool:
    """Whether several words tell about a credential instead of being one, as the words of a passphrase are.

    >>> is_sentence("the password of the shop"), is_sentence("correct horse battery staple")
    (True, False)
    """
    words = [word for word in (each.strip(_PUNCTUATION) for each in text.split(None, _MAX_WORDS)[:_MAX_WORDS]) if word]
    plain = [word for word in words if _LISTS.word.fullmatch(word)]
    if len(words) < 2 or 2 * len(plain) < len(words):
        return False
    is_short = len(words) < _MIN_PHRASE_WORDS or any(len(word) <= 2 for word in plain)
    return is_short or any(word.lower() in _LISTS.of_sentences or _STAND_IN.fullmatch(word) for word in plain)


def is_plain(word: str) -> bool:
    """Whether a word may be one of a language, or a name in camel case.

    >>> [is_plain(word) for word in ("state-of-art", "ListTemplates", "qivhczzravqpyzkpyqml", "VimzDMekOFAdAPjqZrEg")]
    [True, True, False, False]
    """
    bare = word.strip(_PUNCTUATION)
    return bool((_LISTS.camel if _HAS_HUMPS.search(bare) else _LISTS.word).fullmatch(bare))


def is_stand_in(value: str) -> bool:
    """Whether a text is listed, a type, a name for a credential or a reference; around its holes are short words."""
    if _STAND_IN.fullmatch(value):
        return True
    rest, holes = HOLE.subn(" ", value)
    return holes > 0 and bool(_AROUND_HOLES.fullmatch(rest))
