"""What a good answer to each type of question looks like.

Pure. The rubric is part of the investigator's brief and the yardstick of its checks; a question of no clear type gets
the one that asks for the least.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from bot.domain.questions.question_types import question_type_of
from bot.domain.returns import MAX_DRAFT_WORDS, EvidenceKind
from bot.domain.threads import QuestionType

__all__ = ["Rubric", "question_type_of", "rubric_for"]


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

    def render(self) -> str:
        """Return the rubric as the lines that go into the investigator's brief and the thread's state."""
        kinds = ", ".join(sorted(self.required_kinds)) or "any kind"
        return "\n".join(
            [
                f"Question type: {self.question_type}",
                f"Expected answer: {self.expected_shape}",
                f"Required evidence: at least one citation ({kinds}), each with a verbatim quote",
                f"Out of scope: {self.out_of_scope}",
                f"Tone: {self.tone}; at most {MAX_DRAFT_WORDS} words",
                f"Language: {self.language or 'the language of the question'}",
            ]
        )


_K = EvidenceKind
_RUBRICS: Final = {
    rubric.question_type: rubric
    for rubric in (
        Rubric(
            question_type=QuestionType.TECHNICAL_QA,
            required_kinds=frozenset({_K.FILE, _K.GIT_COMMIT}),
            expected_shape="the answer in one or two sentences, then where in the code it stands",
            out_of_scope="redesign, opinions on the code, changes nobody asked for",
        ),
        Rubric(
            question_type=QuestionType.STATUS_CHECK,
            required_kinds=frozenset({_K.LOG_QUERY, _K.GIT_COMMIT}),
            expected_shape="the state now, since when, and how that was established",
            out_of_scope="predictions, promises of a date, causes not yet established",
        ),
        Rubric(
            question_type=QuestionType.DATA_LOOKUP,
            required_kinds=frozenset({_K.LOG_QUERY, _K.FILE}),
            expected_shape="the figure with its unit, its period and the query or file it comes from",
            out_of_scope="estimates, personal data, advice to a particular customer",
        ),
        Rubric(
            question_type=QuestionType.API_CONTRACT,
            required_kinds=frozenset({_K.FILE}),
            expected_shape="method, path or signature, its fields with type and default, its errors",
            out_of_scope="how the caller should be built, behaviour that only a test or a comment claims",
        ),
        Rubric(
            question_type=QuestionType.OTHER,
            required_kinds=frozenset(),
            expected_shape="the answer first, then what it rests on",
            out_of_scope="anything the citations do not show",
        ),
    )
}


def rubric_for(question_type: QuestionType, *, language: str | None = None) -> Rubric:
    """Return the rubric of a question type, for an answer in `language` if one is expected."""
    return replace(_RUBRICS[question_type], language=language)
