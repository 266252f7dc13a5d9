"""Tells whether a text says that something people depend on has failed, now and for others than its writer.

Reads outages.yml beside this file. Words between quotation marks are somebody else's and raise no alarm, and neither
does a clause about a case, a negation or the past, nor a sentence about the writer's own machine, a test, or what
people can do in another way. The same holds for a team's own phrases. Pure; every pattern is RE2's, so no text is slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from bot.domain.table_files import fill, load_table
from bot.domain.text.linear_patterns import LinearPatterns

_NOT_OF_WORDS: Final = r"[^[:word:]\x80-\x{10ffff}]"  # of ASCII: all classes of letters take a millisecond a pattern
_EDGE_BEFORE, _EDGE_AFTER = f"(?:^|{_NOT_OF_WORDS})", f"(?:$|{_NOT_OF_WORDS})"
_FOREIGN_SIGN = re.compile(r"[^\w\x00-\x7f]")
_SIGN: Final = "\x01"  # in place of any other that is no letter, which no pattern for words with blanks between names
_QUOTED = re.compile(r'"[^"\n]{1,300}"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|「[^」\n]{1,300}」')
_SENTENCES = re.compile(r"[!?？！。\n]+|\.(?=\s|$)")
_CLAUSES = re.compile(r"[,;:，、；：()（）]|\s[-–—]+\s|\bbut\b|\baber\b")
_NONE: Final[frozenset[str]] = frozenset()
_MAX_CHARS: Final = 4_000
"""What is read of a text: an alarm is said soon."""


@dataclass(frozen=True, kw_only=True)
class OutageWords:
    """The patterns of one language, see outages.yml."""

    spaced: bool
    vital: str
    service: str
    glue: str
    hard: str
    soft: str
    everyone: str
    blocked: str
    undelivered: str
    condition: str
    one_way: str
    urgent: str
    parts: Mapping[str, str]
    case: str
    own: str

    @classmethod
    def from_table(cls, *, parts: Mapping[str, str], spaced: bool = True, **patterns: Sequence[str]) -> OutageWords:
        """Return the patterns of a language as they stand in outages.yml: of each kind a list of alternatives."""
        return cls(spaced=spaced, parts=parts, **{kind: "|".join(listed) for kind, listed in patterns.items()})


class Outages:
    """The words for outages in some languages, of all where none is named; `kinds_in` finds more phrases in a text.

    >>> outages = Outages()
    >>> said = ("payments are failing", "payments are failing for me", "if payments are failing")
    >>> [outages.are_in(text) for text in said]
    [True, False, False]
    """

    def __init__(
        self, languages: Sequence[str] | None = None, kinds_in: Callable[[str], frozenset[str]] = lambda _: _NONE
    ) -> None:
        """With `kinds_in`, a text that holds a phrase of the kind `alarm` may raise one, too."""
        tables = _tables()
        chosen = [tables[language] for language in (tables if languages is None else languages)]
        self._phrases = kinds_in
        self._failing = _Patterns(chosen, alarm=_alarm_pattern, undelivered=_undelivered_pattern)
        self._condition = _Patterns(chosen, condition=lambda words: words.condition)
        self._one_way = _Patterns(chosen, one_way=lambda words: fill(words.one_way, words.parts))
        self._urgent = _Patterns(chosen, urgent=lambda words: words.urgent)
        self._case = _Patterns(chosen, case=lambda words: words.case)
        self._own = _Patterns(chosen, own=lambda words: words.own)

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
        if not self._raises(sentence) or self._own.kinds_in(sentence):
            return False
        clauses = [clause for clause in _CLAUSES.split(sentence) if not self._case.kinds_in(clause)]
        kinds = frozenset().union(*map(self._failing.kinds_in, clauses))
        if "undelivered" in kinds and not self._condition.kinds_in(sentence):
            return True
        return (
            "alarm" in kinds or any("alarm" in self._phrases(clause) for clause in clauses)
        ) and not self._is_one_way(sentence, following)

    def _is_one_way(self, sentence: str, following: str) -> bool:
        """Whether people cannot do it in one way and can in another, which the next sentence may say."""
        return bool(self._one_way.kinds_in(f"{sentence}.{following}")) and not self._urgent.kinds_in(sentence)

    def _raises(self, text: str) -> bool:
        return bool(self._failing.kinds_in(text)) or "alarm" in self._phrases(text)


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
    """Patterns of some kinds, one of each for each language; those of scripts without blanks are not run on ASCII."""

    def __init__(self, languages: Sequence[OutageWords], **kinds: Callable[[OutageWords], str]) -> None:
        spaced = [words for words in languages if words.spaced]
        unspaced = [words for words in languages if not words.spaced]
        self._spaced = LinearPatterns(
            [f"{_EDGE_BEFORE}(?:{pattern(words)}){_EDGE_AFTER}" for pattern in kinds.values() for words in spaced]
        )
        self._unspaced = LinearPatterns([pattern(words) for pattern in kinds.values() for words in unspaced])
        self._spaced_kinds = [kind for kind in kinds for _ in spaced]
        self._unspaced_kinds = [kind for kind in kinds for _ in unspaced]

    def kinds_in(self, text: str) -> frozenset[str]:
        """Return the kinds of which a pattern matches somewhere, whole words only where words have edges."""
        others: Sequence[int] = ()
        if not text.isascii():
            others = self._unspaced.found_in(text)
            text = _FOREIGN_SIGN.sub(_SIGN, text)
        found = self._spaced.found_in(text)
        if not found and not others:
            return _NONE
        return frozenset([*(self._spaced_kinds[at] for at in found), *(self._unspaced_kinds[at] for at in others)])


@cache
def _tables() -> dict[str, OutageWords]:
    tables = load_table(__file__, "outages.yml")
    return {language: OutageWords.from_table(**table) for language, table in tables.items()}


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


def _undelivered_pattern(words: OutageWords) -> str:
    return fill(words.undelivered, words.parts)
