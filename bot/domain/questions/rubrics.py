"""Which type of answer a question wants, and what a good answer of that type looks like.

Pure. The rules, which know English, and the rubrics stand in rubrics.yml. The first rule that fits wins: a question on
the state of things is one even if it names an endpoint. What fits none is OTHER, whose rubric asks for the least; the
investigator may correct the type in a field. The rubric is part of its brief and the yardstick of its checks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from bot.domain.returns import MAX_DRAFT_WORDS, EvidenceKind
from bot.domain.tables import Parts, fill, read_table
from bot.domain.threads import QuestionType

_READ_CHARS: Final = 4_000

# Whoever asks where or how wants to know about the code, even if the sentence says that something is done.
_LOCATES: Final = re.compile(r"\W*(?:<@\w+>\W*)?(?:where|how)\b", re.IGNORECASE)
_STATUS: Final = QuestionType.STATUS_CHECK


def question_type_of(text: str) -> QuestionType:
    """Return the type of a question, by rules; OTHER where none fits.

    >>> str(question_type_of("Is the payments API down?")), str(question_type_of("Where is the retry limit set?"))
    ('status_check', 'technical_qa')
    """
    asked = text.replace("’", "'")[:_READ_CHARS]
    kinds = {kind for kind, pattern in _PATTERNS if pattern.search(asked)}
    if _LOCATES.match(asked):
        kinds.discard(_STATUS)
    return next((kind for kind in _IN_ORDER if kind in kinds), QuestionType.OTHER)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rubric:
    """The measure of a draft.

    At least one proved citation must be of a kind in `required_kinds`; empty means any.
    """

    question_type: QuestionType
    required_kinds: frozenset[EvidenceKind]
    expected_shape: str
    out_of_scope: str
    tone: str = "plain and short, as a colleague writes in a thread; no greeting, no hedging, no disclaimers"
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
                "Language: the language of the question",
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


def rubric_for(question_type: QuestionType, *, also: Sequence[str] = ()) -> Rubric:
    """Return the rubric of a question type; `also` is what the team asks for besides."""
    return replace(_RUBRICS[question_type], also=tuple(also))
