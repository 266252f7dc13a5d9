"""Answers with what a question names: its definition, and the lines that use it.

Reads the index and the files of one commit.

Finds the value that a question asks for: a default, a limit, a port.

Reads the files of the passages closest to the question. What is given a value there is ranked by its own words and by
the text beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from bot.agent.git.git_history import GitHistory
from bot.casework.investigate import quotes
from bot.casework.investigate.findings import NONE, Answer, Finding, Search, Subject, naming_all, of_lines
from bot.casework.investigate.quotes import Excerpt, Setting
from bot.domain.citations.citation_lines import Scan
from bot.domain.search import questions
from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.search.files import is_prose, path_weight
from bot.domain.search.passages import is_import
from bot.domain.search.questions import DEFINITION_WORDS, NUMBER, USE_WORDS, VALUE, VALUE_WORDS
from bot.domain.search.tokens import shared_stems

MAX_DEFINITIONS: Final = 3
MAX_USES: Final = 400
"""A name on more lines is an ordinary word; a list of them answers nothing."""

SHOWN_USES: Final = 3
MIN_SHARE: Final = 0.5
"""Of a question's other words that a definition holds, if it is the answer."""

_LISTED: Final = re.compile(r"\s*\w+,?\s*")
"""A line of an import or a list that holds a name and nothing else."""


def definition_answer(search: Search) -> Answer:
    """Return what defines the name that is asked for, all of them named, or the head of the file that is.

    NONE where more than that is asked.
    """
    question, subject = search.question, search.subject
    others = _others(search)
    if not (subject.definitions or others) and question.wants(questions.DEFINITION):
        heads = (search.at(place, 1, "It is", behind=9) for place in subject.places[:1])
        return Answer([head for head in heads if head])
    quoted = _quoted(search)
    is_asked_for = question.wants(questions.DEFINITION) and not subject.is_plain
    if not quoted or not (is_asked_for or _holds(quoted[0][1], others)):
        return NONE
    return Answer(_told(quoted, subject))


def named_answer(search: Search) -> Answer:
    """Return what defines a name that is written as code, whatever else is asked: where nothing answers that helps."""
    if search.subject.is_plain or not search.question.names:
        return NONE
    quoted = _quoted(search)
    return Answer(_told(quoted, search.subject), is_certain=False) if quoted else NONE


def _others(search: Search) -> tuple[str, ...]:
    """Return the stems of what a question says besides a name."""
    return search.question.others(search.subject.used, without=DEFINITION_WORDS | VALUE_WORDS)


def _quoted(search: Search) -> list[tuple[Definition, Excerpt]]:
    """Return the definitions of the name and the lines of each that answer best."""
    stems, of_meaning = frozenset(_others(search)), search.question.wants(questions.MEANING)
    found = search.subject.definitions[:MAX_DEFINITIONS]
    return [
        (one, excerpt) for one in found if (excerpt := search.quotes.of_definition(one, stems, of_meaning=of_meaning))
    ]


def _told(quoted: Sequence[tuple[Definition, Excerpt]], subject: Subject) -> list[Finding]:
    """Return quoted definitions as findings, the first with the places of all where there are several."""
    findings = [_as_finding(one, excerpt, subject) for one, excerpt in quoted]
    total = len(subject.definitions)
    if total == 1:
        return findings
    more = ", and in further places" if total > len(quoted) else ""
    places = (f"{excerpt.path}:{min(max(one.line, excerpt.start), excerpt.end)}" for one, excerpt in quoted)
    return naming_all(findings, f"{_offered(subject)}`{subject.name}` is defined in {{}}{more}.", places)


def _offered(subject: Subject) -> str:
    """Return what leads an answer about a name that was misspelt."""
    return f"Did you mean `{subject.name}`? " if subject.written else ""


def _holds(excerpt: Excerpt, others: Sequence[str]) -> bool:
    """Whether lines hold enough of what a question says besides a name."""
    return len(shared_stems(frozenset(others), f"{excerpt.path} {excerpt.text}")) >= MIN_SHARE * len(others)


def _as_finding(one: Definition, excerpt: Excerpt, subject: Subject) -> Finding:
    is_head = excerpt.start <= one.line <= excerpt.end
    said = (
        f"`{one.name}` is defined in `{excerpt.path}:{one.line}`."
        if is_head
        else f"From `{one.name}`: `{excerpt.ref}`."
    )
    found = of_lines(said, excerpt)
    return found._replace(sentence=f"{_offered(subject)}{said}")


class _Use(NamedTuple):
    """A line of code that holds a name."""

    path: str
    line: int
    is_call: bool


def use_answer(search: Search) -> Answer:
    """Return the lines that use the name a question asks for; NONE where it asks for something else.

    A line counts by its text: a use under another name is not seen, and a line that means something else of the same
    name is.
    """
    question = search.question
    if not question.wants(questions.USES):
        return NONE
    subject = search.subject
    name = subject.name or next((one.name for one in question.names), "")
    others = question.others((*subject.used, name), without=DEFINITION_WORDS | USE_WORDS)
    if not name or (question.wants(questions.ENGLISH) and len(others) > 1):
        return NONE
    uses = _lines(name, subject.definitions, search)
    if uses is None:
        return NONE
    if not uses:
        found = [
            _as_finding(one, excerpt, subject)
            for one in subject.definitions[:1]
            if (excerpt := search.quotes.of_definition(one, frozenset()))
        ]
        said = f"No line but its definition, imports and comments holds `{name}`."
        return Answer([one._replace(sentence=f"{said} {one.sentence}") for one in found])
    quoted = [
        (f"{one.path}:{one.line}", shown)
        for one in uses[:SHOWN_USES]
        if (shown := search.at(one.path, one.line, f"`{name}` is used in", before=2, behind=2))
    ]
    more = ", and on further lines" if len(uses) > len(quoted) else ""
    places, findings = [place for place, _ in quoted], [shown for _, shown in quoted]
    return Answer(naming_all(findings, f"`{name}` is used in {{}}{more}.", places)) if findings else NONE


def _lines(name: str, defined: Sequence[Definition], search: Search) -> list[_Use] | None:
    """Return the lines that use a name, those of the product's own code first; None where there are too many."""
    hits, complete = GitHistory(search.repo).lines_with(search.commit, name)
    if not complete or len(hits) > MAX_USES:
        return None
    found = [
        use
        for path, _ in groupby(hits, key=lambda hit: hit.path)
        for use in _of_file(name, path, search.quotes.lines(path), {one.line for one in defined if one.path == path})
    ]
    text = search.question.text
    return sorted(found, key=lambda one: (-path_weight(one.path, text), not one.is_call, one.path, one.line))


def _of_file(name: str, path: str, lines: Sequence[str], defining: set[int]) -> Iterator[_Use]:
    """Yield the lines of a file that hold a name outside of comments, imports and what defines it."""
    if is_prose(path) or not lines:
        return
    scan = Scan(path, lines)
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    for number, line in enumerate(lines, 1):
        found = None if number in defining or is_import(line) or _LISTED.fullmatch(line) else word.search(line)
        if found and not scan.is_comment_at(number, found.start()):
            yield _Use(path, number, line[found.end() :].lstrip().startswith("("))


LOOKED_AT: Final = 10
MIN_WEIGHT: Final = 0.5
"""A file that counts less, such as a test, is not asked what it gives a value to."""

SETS_NUMBER: Final = 0.2
"""What a number counts beside these shares where one is asked for."""

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
    ranked, wants_number = [], question.wants(NUMBER)
    for place, one in enumerate(_settings(words, search)):
        lines = search.quotes.lines(one.path)
        share = search.share(" ".join((one.path, one.scope, one.name, *lines[one.start - 1 : one.end])))
        is_number = wants_number and _sets_number(lines[one.line - 1 : one.line])
        is_told = not wants_number or is_prose(one.path) or _sets_number(lines[one.line - 1 : one.end])
        if is_told and share >= search.enough_of_code and subject.holds(one.path):
            is_inside = not subject.is_plain and any(
                each.path == one.path and each.line <= one.line <= each.end for each in subject.definitions
            )
            worth = search.share(one.name) + share + SETS_NUMBER * is_number + is_inside
            ranked.append((-worth, place, one))
    findings = (_as_value(one, search) for _, _, one in sorted(ranked))
    return next((Answer([one]) for one in findings if one), NONE)


def _sets_number(lines: Sequence[str]) -> bool:
    """Whether something gets a number as its value there."""
    return quotes.SETS_NUMBER.search("\n".join(lines)) is not None


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


def _as_value(one: Setting, search: Search) -> Finding | None:
    line = search.quotes.lines(one.path)[one.line - 1].strip().rstrip(",;{")
    what = line if len(line) <= MAX_ASSIGNMENT_CHARS and "`" not in line else one.name
    lead = "The value is told in" if is_prose(one.path) else f"`{what}` is set in"  # prose may not repeat the name
    excerpt = search.quotes.around_setting(one)
    return of_lines(f"{lead} `{one.path}:{one.line}`.", excerpt) if excerpt else None
