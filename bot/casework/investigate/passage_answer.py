"""Finds the text of an error message, and the passages closest to a question that names nothing.

Reads the index and the files of one commit. A passage answers only if it holds enough of what the question says, rare
words counting most; a word that nothing in the codebase holds speaks against every answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.agent.git.git_history import GitHistory
from bot.casework.investigate.findings import NONE, Answer, Finding, Search, of_lines
from bot.casework.investigate.trace_places import is_report, trace_places
from bot.domain.search.files import is_indexed, path_weight
from bot.domain.search.questions import OF_PEOPLE
from bot.domain.search.tokens import shared_stems

RERANKED: Final = 10
MAX_FINDINGS: Final = 3
MAX_FRAGMENTS: Final = 6
MIN_FRAGMENT_CHARS: Final = 10
MAX_FRAGMENT_CHARS: Final = 120
MAX_HITS: Final = 60
MIN_SHARE, MIN_SHARE_OF_FEW = 0.4, 0.65
FEW: Final = 2
"""Of a question's words, rare ones counting more, that one quote holds if any is an answer; a few words need more."""

_QUOTED: Final = re.compile(r"[\"“«‘`]([^\"”»’`\n]{8,300})[\"”»’`]|'([^'\n]{8,300})'(?!\w)")
_BEHIND: Final = re.compile(r"(?:error|exception|warning|panic|fatal|fails? with|says?)\s{0,4}:\s{0,4}(.{8,300})", re.I)
_VARIES: Final = re.compile(
    r"['\"`][^'\"`\n]{0,80}['\"`]|[<{\[(][^<>{}()\[\]\n]{0,80}[>}\])]|\S*[\d/\\%$]\S*|[.:,;!?]+(?:\s|$)|\.\.\."
)


def trace_answer(search: Search) -> Answer:
    """Return the lines around the innermost frames of a stack trace; NONE without a trace of this codebase."""
    found: list[Finding] = []
    for place in trace_places(search.text, search.repo, search.index, search.commit):
        lead = "The stack trace leads to" if not found else "A frame further out is"
        if place.line and (one := search.at(place.path, place.line, lead)):
            found.append(one)
    return Answer(found[:MAX_FINDINGS]) if found else NONE


def error_answer(search: Search) -> Answer:
    """Return where the text of an error message stands; NONE where none is quoted, or code does not hold it."""
    for fragment in list(_fragments(search.text))[:MAX_FRAGMENTS]:
        hits, complete = GitHistory(search.repo).lines_with(search.commit, fragment)
        shown = [hit for hit in hits if is_indexed(hit.path)]
        if not complete or not 0 < len(shown) <= MAX_HITS:
            continue
        ranked = sorted(shown, key=lambda hit: (-path_weight(hit.path, search.text), hit.path, hit.line))
        lead = "The text of the message stands in"
        shown_at = (search.at(hit.path, hit.line, lead, before=7, behind=4) for hit in ranked[: 2 * MAX_FINDINGS])
        findings = [one for one in shown_at if one]
        if findings:
            return Answer(findings[:MAX_FINDINGS])
    return NONE


def _fragments(text: str) -> Iterator[str]:
    """Yield the parts of the messages in a text that stand in code as they are, the longest first."""
    messages = [found[1] or found[2] for found in _QUOTED.finditer(text)]
    messages += [found[1] for found in _BEHIND.finditer(text)]
    parts = (part.strip()[:MAX_FRAGMENT_CHARS] for message in messages for part in _VARIES.split(message))
    whole = {message.strip()[:MAX_FRAGMENT_CHARS] for message in messages}
    told = {part for part in (*whole, *parts) if len(part) >= MIN_FRAGMENT_CHARS and " " in part}
    yield from sorted(told, key=lambda part: (-len(part), part))


def passage_answer(search: Search) -> Answer:
    """Return the lines closest to the question, best first; NONE where no quote holds enough of it."""
    question, is_answered = search.question, is_report(search.text)
    if question.wants(OF_PEOPLE):
        return NONE
    ranked = []
    for passage in search.passages[:RERANKED]:
        if excerpt := search.quotes.best(passage.path, passage.start, passage.end, search.stems, head=passage.start):
            text = f"{excerpt.path} {excerpt.text}"
            share, is_few = search.share(text), len(shared_stems(search.stems, text)) <= FEW
            is_answered |= share >= (MIN_SHARE_OF_FEW if is_few else MIN_SHARE)
            ranked.append((passage.score / search.passages[0].score + share, excerpt))
    ranked.sort(key=lambda pair: -pair[0])
    leads = ("Closest", *["A close match"] * MAX_FINDINGS)
    best = [excerpt for _, excerpt in ranked[:MAX_FINDINGS]]
    findings = [of_lines(f"{lead}: `{one.ref}`.", one) for lead, one in zip(leads, best, strict=False)]
    return Answer(findings, is_certain=False) if findings and is_answered else NONE
