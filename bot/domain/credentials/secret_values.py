"""The one rule for what follows a telling name: it is a credential unless it is one of a few things known as a whole.

Those are: nothing, a reference (`${X}`, `{{ x }}`, `os.environ["X"]`), a type, a constant, a word of the short list in
secret_values.yml, the name of a credential itself, and a sentence. No first character and no part of a value excuses
it. Where a place only hints at a credential, the value must be no plain word, or look as if drawn by chance.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from bot.domain.tables import Alternatives, Parts, Pattern, WordSet, fill, read_table

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
