"""The words of risky advice in each language a draft may be written in: one YAML file for each, and common.yml for all.

The files are read once. Patterns are RE2's and meet text in small letters without accents; `~` stands
for the rest of a word. In Japanese and Chinese they count anywhere, elsewhere as whole words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from bot.domain.questions.draft_tone import CODE
from bot.domain.tables import read_table
from bot.domain.text.linear_patterns import LinearPattern, folded

LANGUAGES: Final = ("de", "en", "es", "fr", "id", "ja", "pt", "zh")
UNSPACED: Final = frozenset({"ja", "zh"})
"""Written without blanks between words."""
_CODE_WORD: Final = " codespan "


def folded_sentence(text: str) -> str:
    """Return a sentence as the patterns meet it; a piece of code becomes the word `codespan`.

    >>> folded_sentence("Lösche ‹code›!")
    'losche  codespan !'
    """
    return folded(text.replace(CODE, _CODE_WORD))


class Table(NamedTuple):
    """One language's file: signs of advice, and groups of words that the rules join.

    A command right behind `forbids`, or before `forbids_after`, is a warning, unless it has one of the `conditions`.
    """

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
    forbids: Sequence[str] = ()
    forbids_after: Sequence[str] = ()
    conditions: Sequence[str] = ()


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
