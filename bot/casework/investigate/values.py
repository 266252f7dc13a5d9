"""Finds the value that a question asks for: a default, a limit, a port.

Reads the files of the passages closest to the question. What is given a value there is ranked by its own words and by
the text beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.casework.investigate import quotes
from bot.casework.investigate.findings import NONE, Answer, Finding, Search
from bot.domain.search.definitions import DefinitionKind, definitions_in
from bot.domain.search.files import is_prose, path_weight
from bot.domain.search.questions import DEFINITION_WORDS, NUMBER, VALUE, VALUE_WORDS
from bot.domain.search.settings import Setting, settings_in

LOOKED_AT: Final = 10
MIN_WEIGHT: Final = 0.5
"""A file that counts less, such as a test, is not asked what it gives a value to."""

MIN_SHARE: Final = 0.3
"""Of the question's words, rare ones counting more, that a setting and the text beside it hold."""

SETS_NUMBER: Final = 0.2
"""What a number counts beside these shares where one is asked for."""

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
    for place, one in enumerate(_settings(words, search)):
        lines = search.quotes.lines(one.path)
        share = search.share(" ".join((one.path, one.scope, one.name, *lines[one.start - 1 : one.end])))
        if share >= MIN_SHARE and subject.holds(one.path):
            is_number = question.wants(NUMBER) and quotes.SETS_NUMBER.search(lines[one.line - 1]) is not None
            worth = search.share(one.name) + share + SETS_NUMBER * is_number
            ranked.append((-worth, place, one))
    findings = (_as_finding(one, search) for _, _, one in sorted(ranked))
    return next((Answer([one]) for one in findings if one), NONE)


def _settings(words: Sequence[str], search: Search) -> Iterator[Setting]:
    """Yield what is given a value in the passages closest to the question, the best passages first."""
    found = [
        passage
        for text in (" ".join((*words, "default")), " ".join(words))
        for passage in search.index.search(text, limit=LOOKED_AT)
    ]
    seen = set()
    for passage in found:
        if path_weight(passage.path, search.question.text) >= MIN_WEIGHT:
            lines = search.quotes.lines(passage.path)
            for one in settings_in(passage.path, lines, definitions_in(passage.path, lines)):
                if passage.start <= one.line <= passage.end and one not in seen:
                    seen.add(one)
                    yield one


def _as_finding(one: Setting, search: Search) -> Finding | None:
    line = search.quotes.lines(one.path)[one.line - 1].strip().rstrip(",;{")
    what = line if len(line) <= MAX_ASSIGNMENT_CHARS and "`" not in line else one.name
    lead = "The value is told in" if is_prose(one.path) else f"`{what}` is set in"  # prose may not repeat the name
    return search.at(one.path, one.line, lead)
