"""Finds the value that a question asks for: a default, a limit, a port.

Reads the files of the passages closest to the question. What is given a value there is ranked by its own words and by
the text beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.casework.investigate import quotes
from bot.casework.investigate.findings import NONE, Answer, Finding, Search, of_lines
from bot.domain.search.definitions import DefinitionKind
from bot.domain.search.files import is_prose, path_weight
from bot.domain.search.questions import DEFINITION_WORDS, NUMBER, VALUE, VALUE_WORDS
from bot.domain.search.settings import Setting

LOOKED_AT: Final = 10
MAX_DEFINITIONS: Final = 3
MIN_WEIGHT: Final = 0.5
"""A file that counts less, such as a test, is not asked what it gives a value to."""

MAX_ASSIGNMENT_CHARS: Final = 80


def value_answer(search: Search) -> Answer:
    """Return where what the question asks the value of gets one; NONE where it asks for none, or none fits.

    Code that sets no number is no answer where one is asked for.
    """
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
        is_told = is_prose(one.path) or not question.wants(NUMBER) or _sets_number(one, lines)
        if is_told and share >= search.enough_of_code and subject.holds(one.path):
            is_inside = not subject.is_plain and any(
                each.path == one.path and each.line <= one.line <= each.end for each in subject.definitions
            )
            worth = search.share(one.name) + share + is_inside
            ranked.append((-worth, place, one))
    findings = (_as_finding(one, search) for _, _, one in sorted(ranked))
    return next((Answer([one]) for one in findings if one), NONE)


def _sets_number(one: Setting, lines: Sequence[str]) -> bool:
    """Whether a number stands where something gets its value."""
    return quotes.SETS_NUMBER.search("\n".join(lines[one.line - 1 : one.end])) is not None


def _settings(words: Sequence[str], search: Search) -> Iterator[Setting]:
    """Yield what is given a value in the definition that is named, in the closest passages, then by its own name."""
    told = [(one.path, one.line, one.end) for one in search.subject.definitions[:MAX_DEFINITIONS]]
    named = [
        (one.path, one.line, one.line)
        for name in search.index.names_holding(words)
        for one in search.index.definitions(name)[:MAX_DEFINITIONS]
    ]
    found = [
        (passage.path, passage.start, passage.end)
        for text in (" ".join((*words, "default")), " ".join(words))
        for passage in search.index.search(text, limit=LOOKED_AT)
    ]
    seen = set()
    for path, start, end in (*told, *found, *named):
        if path_weight(path, search.question.text) >= MIN_WEIGHT:
            for one in search.quotes.settings(path):
                if start <= one.line <= end and one not in seen:
                    seen.add(one)
                    yield one


def _as_finding(one: Setting, search: Search) -> Finding | None:
    line = search.quotes.lines(one.path)[one.line - 1].strip().rstrip(",;{")
    what = line if len(line) <= MAX_ASSIGNMENT_CHARS and "`" not in line else one.name
    lead = "The value is told in" if is_prose(one.path) else f"`{what}` is set in"  # prose may not repeat the name
    excerpt = search.quotes.around_setting(one)
    return of_lines(f"{lead} `{one.path}:{one.line}`.", excerpt) if excerpt else None
