"""Each type of question has a rubric, and rules tell the types apart."""

from __future__ import annotations

from bot.domain.questions.rubrics import question_type_of, rubric_for
from bot.domain.threads import QuestionType
from tests.tables import each_row

QUESTIONS = {
    QuestionType.STATUS_CHECK: [
        "Is prod down?",
        "is the payments API up again?",
        "What's the status of the migration?",
        "any update on the incident?",
        "Has the fix for login been deployed yet?",
        "Did PR 812 get merged?",
        "When was v2.3 released?",
        "is staging healthy",
        "Are the nightly builds green?",
        "we are getting 500s from checkout, is it known?",
    ],
    QuestionType.DATA_LOOKUP: [
        "How many users signed up yesterday?",
        "How many orders failed last week?",
        "Which customers are on the legacy plan?",
        "can someone look up the account id for acme",
        "What was the error rate of checkout over the last hour?",
        "Give me the list of tenants with SSO",
        "How many rows are in the events table?",
        "what's the p95 latency for search today?",
    ],
    QuestionType.API_CONTRACT: [
        "What does POST /v1/orders return on a duplicate?",
        "Which fields of the order payload are required?",
        "What parameters does create_user take?",
        "Is `email` nullable in the response body?",
        "What status code do we send when the token expired?",
        "does the public API support pagination?",
        "What's the rate limit on the search endpoint?",
        "what does get_session() return if there's none?",
    ],
    QuestionType.TECHNICAL_QA: [
        "Where is the retry limit set?",
        "How does the scheduler decide what is due?",
        "Why do we hash the draft in the database?",
        "what is the default timeout of the HTTP client?",
        "How do I run the tests locally?",
        "which function parses the playbook?",
        "Why does `watcher.py` drop edits?",
        "How many retries does the client make before giving up?",
        "How many requests are allowed per minute in the config?",
        "How is the password hashed?",
        "What happens when the database is locked?",
        "How is the worker running in staging?",
        "Where are the blocks left alone by whatever is done to the lines of a file?",
    ],
    QuestionType.OTHER: [
        "Who wants lunch?",
        "Can I take Friday off?",
        "Is anyone around?",
        "Where's the office party?",
        "thoughts?",
        "what time is the all-hands?",
    ],
}


@each_row("expected, text", [(kind, text) for kind, texts in QUESTIONS.items() for text in texts])
def test_a_question_is_of_its_type(expected: QuestionType, text: str) -> None:
    """The rules read the words an engineer would use."""
    assert question_type_of(text) is expected


@each_row("question_type", QuestionType)
def test_every_type_has_a_rubric_that_states_all_it_asks(question_type: QuestionType) -> None:
    """The text that goes into the brief names shape, evidence, scope, tone and language."""
    rubric = rubric_for(question_type)
    assert rubric.question_type is question_type
    for word in (question_type, "Expected answer", "Required evidence", "Out of scope", "Tone", "Language"):
        assert word in rubric.render()


def test_a_team_may_ask_for_more() -> None:
    """A point is one line, whatever was written."""
    rubric = rubric_for(QuestionType.TECHNICAL_QA, also=("Name the\nowner of the file.", "Say since when."))
    lines = rubric.render().splitlines()
    assert [line for line in lines if line.startswith("Also: ")] == [
        "Also: Name the owner of the file.",
        "Also: Say since when.",
    ]
