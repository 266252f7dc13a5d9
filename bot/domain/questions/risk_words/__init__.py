"""The words of risky advice in each language a draft may be written in: one YAML file for each, and common.yml for all.

The files are read once. Patterns are RE2's and meet text that `folded` has made small and free of accents; `~` stands
for the rest of a word. In Japanese and Chinese they count anywhere, elsewhere as whole words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple

from bot.domain.questions.draft_tone import CODE
from bot.domain.tables import read_table
from bot.domain.text.linear_patterns import LinearPattern

LANGUAGES: Final = ("de", "en", "es", "fr", "id", "ja", "pt", "zh")
UNSPACED: Final = frozenset({"ja", "zh"})
"""Written without blanks between words."""
_CODE_WORD: Final = " codespan "
_LATIN_WITH_MARKS: Final = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_MARKS: Final = re.compile("[\u0300-\u036f]")


def folded(text: str) -> str:
    """Return a text in small letters, without accents on Latin letters; a piece of code becomes the word `codespan`.

    >>> folded("Lösche ‹code› SCHLIESSLICH, où ça?")
    'losche  codespan  schliesslich, ou ca?'
    """
    plain = unicodedata.normalize("NFKC", text.replace("’", "'").replace(CODE, _CODE_WORD)).casefold()
    return _LATIN_WITH_MARKS.sub(_without_marks, plain)


def _without_marks(letter: re.Match[str]) -> str:
    return _MARKS.sub("", unicodedata.normalize("NFD", letter[0]))


class Table(NamedTuple):
    """One language's file: signs of advice, and groups of words that the rules join."""

    words: dict[str, list[str]]
    advises: Sequence[str] = ()
    statements: Sequence[str] = ()
    remedies: Sequence[str] = ()
    leads: Sequence[str] = ()
    orders: Sequence[str] = ()
    not_orders: Sequence[str] = ()
    ends: Sequence[str] = ()
    ends_unless: Sequence[str] = ()
    asides: Sequence[str] = ()
    not_before: Sequence[str] = ()
    not_before_unless: Sequence[str] = ()
    not_after: Sequence[str] = ()


TABLES: Final = {code: read_table(__file__, f"{code}.yml", Table) for code in ("common", *LANGUAGES)}


def any_of(patterns: Sequence[str]) -> str:
    """Return a group that matches any of some patterns; `~` is the rest of a word."""
    return f"(?:{'|'.join(patterns)})".replace("~", r"\w*")


def whole_words(patterns: Sequence[str], language: str) -> str:
    """Return a pattern for words that stand alone, or anywhere where words have no blanks between."""
    return any_of(patterns) if language in UNSPACED else rf"\b{any_of(patterns)}\b"


def compiled(pattern: str, patterns: Sequence[str]) -> LinearPattern | None:
    """Return a pattern, or None where the list it was made of is empty."""
    return LinearPattern(pattern) if patterns else None
