"""Questions in other languages than English have a type, and the wide ones among them are known to take long."""

from __future__ import annotations

from bot.domain.questions.escalation_rules import expected_minutes
from bot.domain.questions.rubrics import QUESTION_LISTS, question_type_of
from bot.domain.threads import QuestionType
from tests.domain.questions.risk_data import read_risk_data
from tests.tables import each_row

QUESTIONS = read_risk_data("questions")


@each_row("kind", QuestionType)
@each_row("language", QUESTIONS)
def test_a_question_is_of_its_type_in_its_language(language: str, kind: QuestionType) -> None:
    """The same types as in English."""
    asked = QUESTIONS[language][kind]
    assert [text for text in asked if question_type_of(text) is not kind] == []


@each_row("language", QUESTIONS)
def test_much_work_is_recognised_in_its_language(language: str) -> None:
    """At the default threshold of ten minutes; an ordinary question stays short."""
    asked = QUESTIONS[language]
    minutes = {text: expected_minutes(text, question_type_of(text)) for text in asked["wide"] + asked["narrow"]}
    assert [text for text in asked["wide"] if minutes[text] < 10] == []
    assert [text for text in asked["narrow"] if minutes[text] >= 10] == []


def test_every_language_has_rules_for_every_type() -> None:
    """All but `other`, which is what is left."""
    for language in QUESTION_LISTS.languages.values():
        assert set(language.types) == set(QuestionType) - {QuestionType.OTHER}
        assert language.wide
