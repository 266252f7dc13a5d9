"""Finds the value that a question asks for: a default, a limit, a port.

Reads the index of settings, which ranks names that are given a value by their own words and by the text beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.casework.investigate.findings import NONE, Answer, Finding, Search
from bot.casework.investigate.quotes import Wanted
from bot.domain.search.definitions import DefinitionKind
from bot.domain.search.files import is_prose
from bot.domain.search.questions import DEFINITION_WORDS, VALUE, VALUE_WORDS
from bot.domain.search.tokens import split_identifier, stem

MAX_FINDINGS: Final = 2
LOOKED_AT: Final = 12
ORDERED: Final = 6
"""So many settings are put in the order of what their names hold; the index counts words of most rows for nothing."""

MIN_SHARE: Final = 0.3
"""Of the question's words, rare ones counting more, that a setting and the text beside it hold."""

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
    findings: list[Finding] = []
    found = search.index.settings(" ".join((*words, "default")), limit=LOOKED_AT)
    named = sorted(found[:ORDERED], key=lambda one: -search.share(f"{one.scope} {one.name}"))
    for one in (*named, *found[ORDERED:]):
        beside = "\n".join(search.quotes.lines(one.path)[one.start - 1 : one.end])
        meant = " ".join(_abbreviated(words, one.name))
        told = f"{one.path} {one.scope} {one.name} {beside} {meant}"
        if not subject.holds(one.path) or search.share(told) < MIN_SHARE:
            continue
        line = search.quotes.lines(one.path)[one.line - 1].strip().rstrip(",;{")
        what = line if len(line) <= MAX_ASSIGNMENT_CHARS and "`" not in line else one.name
        lead = f"The default of `{one.name}` is told in" if is_prose(one.path) else f"`{what}` is set in"
        if finding := search.at(one.path, one.line, lead, wanted=Wanted(search.stems)):
            findings += [] if any(map(finding.is_same, findings)) else [finding]
    return Answer(findings[:MAX_FINDINGS]) if findings else NONE


def _abbreviated(words: Sequence[str], name: str) -> list[str]:
    """Return the words that a part of a name begins: names are abbreviated.

    >>> _abbreviated(["workers", "minimum"], "MIN_POOL")
    ['minimum']
    """
    parts = [part for part in split_identifier(name) if len(part) >= MIN_PART]
    return [word for word in words if any(word.lower().startswith(part) and stem(part) != stem(word) for part in parts)]
