"""The rules on questions in other languages than English: of which type one is, and how much work it wants. Pure.

The patterns stand in question_words.yml. They are linear, and meet a text in small letters without accents, in which a
piece of code is the word `codespan`. All languages are tried: nobody says in which one a question is.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from bot.domain.tables import Alternatives, Parts, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern, folded
from bot.domain.threads import QuestionType


class _Language(NamedTuple):
    locates: str
    types: dict[QuestionType, Alternatives]
    wide: list[tuple[int, str]]


class _Lists(NamedTuple):
    parts: Parts
    languages: dict[str, _Language]


QUESTION_LISTS: Final = read_table(__file__, "question_words.yml", _Lists)
"""What each language has."""
_CODE_SPAN: Final = re.compile(r"`[^`\n]+`")
_LOCATES: Final = [LinearPattern(language.locates) for language in QUESTION_LISTS.languages.values()]
_TYPES: Final = [
    (kind, LinearPattern(fill(pattern, QUESTION_LISTS.parts)))
    for language in QUESTION_LISTS.languages.values()
    for kind, pattern in language.types.items()
]
_WIDE: Final = [
    [(minutes, LinearPattern(pattern)) for minutes, pattern in language.wide]
    for language in QUESTION_LISTS.languages.values()
]


def is_locating(question: str) -> bool:
    """Whether a question asks where or how something is done; then it asks for no state of things.

    >>> is_locating("Wo wird geprüft, ob der Job fertig ist?"), is_locating("Ist der Job fertig?")
    (True, False)
    """
    known = folded(question)
    return any(pattern.is_in(known) for pattern in _LOCATES)


def types_in_other_languages(question: str) -> frozenset[QuestionType]:
    """Return every type whose rules a question fits in some language other than English.

    >>> sorted(types_in_other_languages("¿Cuántos usuarios se registraron ayer?"))
    [<QuestionType.DATA_LOOKUP: 'data_lookup'>]
    """
    known = folded(_CODE_SPAN.sub(" codespan ", question))
    return frozenset(kind for kind, pattern in _TYPES if pattern.is_in(known))


def minutes_of_scope(question: str) -> int:
    """Return how many minutes more a wide question takes, by the language whose rules see most in it.

    >>> minutes_of_scope("Finde die Ursache der doppelten Rechnungen."), minutes_of_scope("Wo steht das Limit?")
    (8, 0)
    """
    known = folded(question)
    return max(sum(minutes for minutes, pattern in rules if pattern.is_in(known)) for rules in _WIDE)
