"""Which type of answer a question wants, and what a good answer of that type looks like.

Pure. The rules and the rubrics stand in rubrics.yml. The first rule that fits wins: a question on the state of things
is one even if it names an endpoint. What fits none is OTHER, whose rubric asks for the least. The rules of other
languages than English stand in question_words.yml; they meet a text in small letters without accents, and all are
tried, for nobody says in which language a question is. The rubric is part of the investigator's brief and the yardstick
of its checks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from bot.domain.returns import MAX_DRAFT_WORDS, EvidenceKind
from bot.domain.tables import Alternatives, Parts, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern, folded
from bot.domain.threads import QuestionType

_CODE_SPAN: Final = re.compile(r"`[^`\n]+`")

_READ_CHARS: Final = 4_000

# Whoever asks where or how wants to know about the code, even if the sentence says that something is done.
_LOCATES: Final = re.compile(r"\W*(?:<@\w+>\W*)?(?:where|how)\b", re.IGNORECASE)
_STATUS: Final = QuestionType.STATUS_CHECK


class _Language(NamedTuple):
    locates: str
    types: dict[QuestionType, Alternatives]
    wide: list[tuple[int, str]]


class _OtherLanguages(NamedTuple):
    parts: Parts
    languages: dict[str, _Language]


QUESTION_LISTS: Final = read_table(__file__, "question_words.yml", _OtherLanguages)
"""What each language has."""

_ASK_WHERE: Final = [LinearPattern(language.locates) for language in QUESTION_LISTS.languages.values()]
_TYPES: Final = [
    (kind, LinearPattern(fill(pattern, QUESTION_LISTS.parts)))
    for language in QUESTION_LISTS.languages.values()
    for kind, pattern in language.types.items()
]
_WIDE: Final = [
    [(minutes, LinearPattern(pattern)) for minutes, pattern in language.wide]
    for language in QUESTION_LISTS.languages.values()
]


def _is_locating(question: str) -> bool:
    """Whether a question asks where or how something is done; then it asks for no state of things.

    >>> _is_locating("Wo wird geprüft, ob der Job fertig ist?"), _is_locating("Ist der Job fertig?")
    (True, False)
    """
    known = folded(question)
    return any(pattern.is_in(known) for pattern in _ASK_WHERE)


def _types_in_other_languages(question: str) -> frozenset[QuestionType]:
    """Return every type whose rules a question fits in some language other than English.

    >>> sorted(_types_in_other_languages("¿Cuántos usuarios se registraron ayer?"))
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


def question_type_of(text: str) -> QuestionType:
    """Return the type of a question, by rules; OTHER where none fits.

    >>> str(question_type_of("Is the payments API down?")), str(question_type_of("Where is the retry limit set?"))
    ('status_check', 'technical_qa')
    """
    asked = text.replace("’", "'")[:_READ_CHARS]
    kinds = {kind for kind, pattern in _PATTERNS if pattern.search(asked)} | _types_in_other_languages(asked)
    if _LOCATES.match(asked) or _is_locating(asked):
        kinds.discard(_STATUS)
    return next((kind for kind in _IN_ORDER if kind in kinds), QuestionType.OTHER)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rubric:
    """The measure of a draft.

    At least one citation must be of a kind in `required_kinds`; empty means any. `language` is the primary subtag of
    the answer's language ("en"), None for whatever the draft says of itself.
    """

    question_type: QuestionType
    required_kinds: frozenset[EvidenceKind]
    expected_shape: str
    out_of_scope: str
    tone: str = "plain and short, as a colleague writes in a thread; no greeting, no hedging, no disclaimers"
    language: str | None = None
    also: tuple[str, ...] = ()
    """What the team asks for besides."""

    def render(self) -> str:
        """Return the rubric as the lines that go into the investigator's brief and the thread's state."""
        kinds = ", ".join(sorted(self.required_kinds)) or "any kind"
        return "\n".join(
            [
                f"Question type: {self.question_type}",
                f"Expected answer: {self.expected_shape}",
                *(f"Also: {' '.join(point.split())}" for point in self.also),
                f"Required evidence: at least one citation ({kinds})",
                f"Out of scope: {self.out_of_scope}",
                f"Tone: {self.tone}; at most {MAX_DRAFT_WORDS} words",
                f"Language: {self.language or 'the language of the question'}",
            ]
        )


class _Asked(NamedTuple):
    required_kinds: frozenset[EvidenceKind]
    expected_shape: str
    out_of_scope: str


class _RubricsTable(NamedTuple):
    rubrics: dict[QuestionType, _Asked]
    parts: Parts
    rules: tuple[tuple[QuestionType, str], ...]


_LISTS: Final = read_table(__file__, "rubrics.yml", _RubricsTable)
_PATTERNS: Final = tuple(
    (kind, re.compile(fill(rule, _LISTS.parts).replace("~", r"(?:[^.?!\n]|\.\w){0,80}?"), re.IGNORECASE))
    for kind, rule in _LISTS.rules
)
_IN_ORDER: Final = tuple(dict.fromkeys(kind for kind, _ in _LISTS.rules))
_RUBRICS: Final = {kind: Rubric(question_type=kind, **asked._asdict()) for kind, asked in _LISTS.rubrics.items()}


def rubric_for(question_type: QuestionType, *, language: str | None = None, also: Sequence[str] = ()) -> Rubric:
    """Return the rubric of a question type, for an answer in `language` if one is expected; `also` are the team's."""
    return replace(_RUBRICS[question_type], language=language, also=tuple(also))
