"""Finds the value that a question asks for: a default, a limit, a port.

Reads the index of settings, which ranks names that are given a value by their own words and by the text beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.casework.investigate import quotes
from bot.casework.investigate.findings import NONE, Answer, Finding, Search
from bot.domain.search.definitions import DefinitionKind
from bot.domain.search.files import is_prose
from bot.domain.search.questions import DEFINITION_WORDS, NUMBER, VALUE, VALUE_WORDS
from bot.domain.search.settings import Setting
from bot.domain.search.tokens import split_identifier, stem

LOOKED_AT: Final = 12
MIN_SHARE: Final = 0.3
"""Of the question's words, rare ones counting more, that a setting and the text beside it hold."""

SETS_NUMBER: Final = 0.2
"""What a number counts beside these shares where one is asked for."""

MIN_PART: Final = 3
"""Letters of a name's part that stand for a longer word."""

MAX_ASSIGNMENT_CHARS: Final = 80


def value_answer(search: Search) -> Answer:
    """Return where what the question asks the value of gets one; NONE where it asks for none, or none fits."""
    question = search.question
    words = question.told(without=VALUE_WORDS)
    if not question.wants(VALUE) or not words:
        return NONE
    subject = search.subject
    is_type = bool(subject.definitions) and subject.definitions[0].kind is DefinitionKind.TYPE
    if is_type and not question.others(subject.used, without=DEFINITION_WORDS | VALUE_WORDS):
        return NONE
    ranked = []
    for place, one in enumerate(search.index.settings(" ".join((*words, "default")), limit=LOOKED_AT)):
        lines = search.quotes.lines(one.path)
        name = " ".join((one.name, *_abbreviated(words, one.name)))
        share = search.share(" ".join((one.path, one.scope, name, *lines[one.start - 1 : one.end])))
        if share >= MIN_SHARE and subject.holds(one.path):
            is_number = question.wants(NUMBER) and quotes.SETS_NUMBER.search(lines[one.line - 1]) is not None
            worth = search.share(name) + share + SETS_NUMBER * is_number
            ranked.append((-worth, place, one))
    findings = (_as_finding(one, search) for _, _, one in sorted(ranked))
    return next((Answer([one]) for one in findings if one), NONE)


def _as_finding(one: Setting, search: Search) -> Finding | None:
    line = search.quotes.lines(one.path)[one.line - 1].strip().rstrip(",;{")
    what = line if len(line) <= MAX_ASSIGNMENT_CHARS and "`" not in line else one.name
    lead = "The value is told in" if is_prose(one.path) else f"`{what}` is set in"  # prose may not repeat the name
    return search.at(one.path, one.line, lead)


def _abbreviated(words: Sequence[str], name: str) -> list[str]:
    """Return the words that a part of a name begins: names are abbreviated.

    >>> _abbreviated(["workers", "minimum"], "MIN_POOL")
    ['minimum']
    """
    parts = [part for part in split_identifier(name) if len(part) >= MIN_PART]
    return [word for word in words if any(word.lower().startswith(part) and stem(part) != stem(word) for part in parts)]
