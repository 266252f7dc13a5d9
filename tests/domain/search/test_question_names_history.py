"""Which questions git history answers."""

from bot.domain.search.question_names import asks_for_history, asks_for_origin, asks_why
from tests.tables import each_row

HISTORY = (
    "who last changed the retry logic?",
    "who wrote `send`?",
    "who's the last one to touch X?",
    "when was X changed?",
    "what changed in transport.py lately?",
    "what's new in the search?",
    "what has changed?",
    "why was the limit removed?",
    "git blame for X",
    "latest commits?",
    "why did we change the timeout?",
    "what did they change?",
    "and what has the last commit changed?",
)
CODE = (
    "who is on call this weekend?",
    "what changes the log level?",
    "what happens when a setting was changed?",
    "why does X retry?",
    "big file uploads, when do they go to disk rather than memory?",
    "what is the order of commits in a batch?",
    "how are settings changed by the environment?",
    "what did the timeout change to?",
)


@each_row("question", HISTORY)
def test_history_is_asked_for(question: str) -> None:
    """Who, when, what and why of changes."""
    assert asks_for_history(question)


@each_row("question", CODE)
def test_code_is_asked_for(question: str) -> None:
    """Words of change alone do not make it a question about history."""
    assert not asks_for_history(question)


def test_the_first_commit_and_the_reasons() -> None:
    """Who wrote something is not who last changed it."""
    assert asks_for_origin("who added `send`?")
    assert not asks_for_origin("who last added anything to `send`?")
    assert asks_why("why was it removed?")
    assert not asks_why("when was it removed?")
