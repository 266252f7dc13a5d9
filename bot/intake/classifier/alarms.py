"""Tells whether a text says that something people depend on has failed, now and for others than its writer.

Reads alarms.yml beside this file. Words between quotation marks are somebody else's and raise no alarm, and neither
does a clause about a case, a negation or the past, nor a sentence about the writer's own machine or a test. The same
holds for the phrases of the word lists. Pure; every pattern is RE2's, so no text is slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from pydantic import BaseModel, ConfigDict

from bot.domain.tables import Alternatives, read_table
from bot.domain.text.linear_patterns import LinearPattern
from bot.intake.classifier.keywords import Keywords

_EDGE_BEFORE, _EDGE_AFTER = r"(?:^|[^\pL\pN_])", r"(?:$|[^\pL\pN_])"
_QUOTED = re.compile(r'"[^"\n]{1,300}"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|「[^」\n]{1,300}」')
_SENTENCES = re.compile(r"[!?？！。\n]+|\.(?=\s|$)")
_CLAUSES = re.compile(r"[,;:，、；：()（）]|\s[-–—]+\s|\bbut\b|\baber\b")
_MAX_CHARS: Final = 4_000
"""What is read of a text: an alarm is said soon."""


class AlarmWords(BaseModel):
    """The patterns of one language, see alarms.yml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    spaced: bool = True
    vital: Alternatives
    service: Alternatives
    glue: Alternatives
    hard: Alternatives
    soft: Alternatives
    everyone: Alternatives
    blocked: Alternatives
    case: Alternatives
    own: Alternatives


class Alarms:
    """The alarms of some languages; `phrases` also has the word lists' own, as the kind `alarm`.

    >>> from bot.intake.classifier.keywords import LANGUAGES
    >>> alarms = Alarms(LANGUAGES, Keywords({}))
    >>> said = ("payments are failing", "payments are failing for me", "if payments are failing")
    >>> [alarms.are_in(text, has_phrase=False) for text in said]
    [True, False, False]
    """

    def __init__(self, languages: Sequence[str], phrases: Keywords) -> None:
        tables = _tables()
        chosen = [tables[language] for language in languages]
        self._phrases = phrases
        self._alarm = _Patterns(chosen, map(_alarm_pattern, chosen))
        self._case = _Patterns(chosen, (words.case for words in chosen))
        self._own = _Patterns(chosen, (words.own for words in chosen))

    def are_in(self, text: str, *, has_phrase: bool) -> bool:
        """Whether lower-case text, in which runs of blanks are one blank, raises an alarm.

        `has_phrase`: whether a phrase of the word lists stands in it.
        """
        text = text[:_MAX_CHARS]
        if not (has_phrase or self._alarm.is_in(text)):
            return False
        return any(map(self._is_in_sentence, _SENTENCES.split(_QUOTED.sub(" ", text))))

    def _is_in_sentence(self, sentence: str) -> bool:
        if not self._raises(sentence) or self._own.is_in(sentence):
            return False
        clauses = _CLAUSES.split(sentence)
        return any(self._raises(clause) and not self._case.is_in(clause) for clause in clauses)

    def _raises(self, text: str) -> bool:
        return self._alarm.is_in(text) or "alarm" in self._phrases.kinds_in(text)


class _Patterns:
    """One pattern for each language; those of scripts without blanks are not asked about ASCII."""

    def __init__(self, languages: Iterable[AlarmWords], patterns: Iterable[str]) -> None:
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
def _tables() -> dict[str, AlarmWords]:
    return read_table(__file__, "alarms.yml", dict[str, AlarmWords])


def _alarm_pattern(words: AlarmWords) -> str:
    """Return what raises the alarm in one language."""
    blank = " " if words.spaced else ""
    glue = rf"{blank}(?:(?:{words.glue}){blank})*"
    subject = rf"(?:{words.vital}|{words.service})"
    states = rf"(?:{words.hard}|{words.soft})"
    forms = (
        rf"{subject}{glue}(?:{words.hard})",
        rf"(?:{words.vital}){glue}(?:{words.soft})",
        rf"{states}{glue}(?:{words.everyone})" if words.spaced else rf"(?:{words.everyone}){glue}{states}",
        words.blocked,
    )
    return "|".join(f"(?:{form})" for form in forms)
