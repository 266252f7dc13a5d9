"""Tells whether a text says that something people depend on has failed, now and for others than its writer.

Reads outages.yml beside this file. Words between quotation marks are somebody else's and raise no alarm, and neither
does a clause about a case, a negation or the past, nor a sentence about the writer's own machine, a test, or what
people can do in another way. The same holds for a team's own phrases. Pure; every pattern is RE2's, so no text is slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final

from pydantic import BaseModel, ConfigDict

from bot.domain.tables import Alternatives, Parts, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern

_EDGE_BEFORE, _EDGE_AFTER = r"(?:^|[^\pL\pN_])", r"(?:$|[^\pL\pN_])"
_QUOTED = re.compile(r'"[^"\n]{1,300}"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|「[^」\n]{1,300}」')
_SENTENCES = re.compile(r"[!?？！。\n]+|\.(?=\s|$)")
_CLAUSES = re.compile(r"[,;:，、；：()（）]|\s[-–—]+\s|\bbut\b|\baber\b")
_MAX_CHARS: Final = 4_000
"""What is read of a text: an alarm is said soon."""


class OutageWords(BaseModel):
    """The patterns of one language, see outages.yml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    spaced: bool = True
    vital: Alternatives
    service: Alternatives
    glue: Alternatives
    hard: Alternatives
    soft: Alternatives
    everyone: Alternatives
    blocked: Alternatives
    undelivered: Alternatives
    condition: Alternatives
    one_way: Alternatives
    urgent: Alternatives
    parts: Parts
    case: Alternatives
    own: Alternatives


class Outages:
    """The words for outages in some languages, of all where none is named; `has_phrase` finds more phrases in a text.

    >>> outages = Outages()
    >>> said = ("payments are failing", "payments are failing for me", "if payments are failing")
    >>> [outages.are_in(text) for text in said]
    [True, False, False]
    """

    def __init__(
        self, languages: Sequence[str] | None = None, has_phrase: Callable[[str], bool] = lambda _: False
    ) -> None:
        tables = _tables()
        chosen = [tables[language] for language in (tables if languages is None else languages)]
        self._has_phrase = has_phrase
        self._alarm = _Patterns(chosen, map(_alarm_pattern, chosen))
        self._undelivered = _Patterns(chosen, (fill(words.undelivered, words.parts) for words in chosen))
        self._condition = _Patterns(chosen, (words.condition for words in chosen))
        self._one_way = _Patterns(chosen, (fill(words.one_way, words.parts) for words in chosen))
        self._urgent = _Patterns(chosen, (words.urgent for words in chosen))
        self._case = _Patterns(chosen, (words.case for words in chosen))
        self._own = _Patterns(chosen, (words.own for words in chosen))

    def are_in(self, text: str) -> bool:
        """Whether lower-case text, in which runs of blanks are one blank, raises an alarm."""
        text = text[:_MAX_CHARS]
        if not self._raises(text):
            return False
        sentences = _SENTENCES.split(_QUOTED.sub(" ", text))
        return any(map(self._is_in_sentence, sentences, [*sentences[1:], ""]))

    def are_limits_in(self, text: str) -> bool:
        """Whether lower-case text says that people cannot do something in one way and can in another."""
        return self._is_one_way(text[:_MAX_CHARS], "")

    def _is_in_sentence(self, sentence: str, following: str) -> bool:
        if not self._raises(sentence) or self._own.is_in(sentence):
            return False
        clauses = [clause for clause in _CLAUSES.split(sentence) if not self._case.is_in(clause)]
        if any(map(self._undelivered.is_in, clauses)) and not self._condition.is_in(sentence):
            return True
        return any(map(self._stands_still, clauses)) and not self._is_one_way(sentence, following)

    def _is_one_way(self, sentence: str, following: str) -> bool:
        """Whether people cannot do it in one way and can in another, which the next sentence may say."""
        return self._one_way.is_in(f"{sentence}.{following}") and not self._urgent.is_in(sentence)

    def _raises(self, text: str) -> bool:
        return self._stands_still(text) or self._undelivered.is_in(text)

    def _stands_still(self, text: str) -> bool:
        return self._alarm.is_in(text) or self._has_phrase(text)


def tells_of_outage(text: str) -> bool:
    """Whether a text tells of an outage, in any language that is known.

    >>> tells_of_outage("Payments are\tFAILING"), tells_of_outage("How do payments fail?")
    (True, False)
    """
    return _all_languages().are_in(_plain(text))


def tells_of_limit(text: str) -> bool:
    """Whether a text says that people cannot do something in one way and can in another.

    >>> tells_of_limit("Customers can't pay with a card, only by invoice.")
    True
    """
    return _all_languages().are_limits_in(_plain(text))


def _plain(text: str) -> str:
    return "\n".join(" ".join(line.lower().split()) for line in text[:_MAX_CHARS].splitlines())


@cache
def _all_languages() -> Outages:
    return Outages()


class _Patterns:
    """One pattern for each language; those of scripts without blanks are not asked about ASCII."""

    def __init__(self, languages: Iterable[OutageWords], patterns: Iterable[str]) -> None:
        made = [(words.spaced, pattern) for words, pattern in zip(languages, patterns, strict=True)]
        self._spaced = [
            LinearPattern(f"{_EDGE_BEFORE}(?:{pattern}){_EDGE_AFTER}") for spaced, pattern in made if spaced
        ]
        self._unspaced = [LinearPattern(pattern) for spaced, pattern in made if not spaced]

    def is_in(self, text: str) -> bool:
        """Whether any of them matches somewhere, whole words only where words have edges."""
        asked = self._spaced if text.isascii() else [*self._spaced, *self._unspaced]
        return any(pattern.is_in(text) for pattern in asked)


@cache
def _tables() -> dict[str, OutageWords]:
    return read_table(__file__, "outages.yml", dict[str, OutageWords])


def _alarm_pattern(words: OutageWords) -> str:
    """Return what says in one language that something stands still."""
    blank = " " if words.spaced else ""
    glue = rf"{blank}(?:(?:{words.glue}){blank})*"
    subject = rf"(?:{words.vital}|{words.service})"
    states = rf"(?:{words.hard}|{words.soft})"
    forms = (
        rf"{subject}{glue}(?:{words.hard})",
        rf"(?:{words.vital}){glue}(?:{words.soft})",
        rf"{states}{glue}(?:{words.everyone})" if words.spaced else rf"(?:{words.everyone}){glue}{states}",
        fill(words.blocked, words.parts),
    )
    return "|".join(f"(?:{form})" for form in forms)
