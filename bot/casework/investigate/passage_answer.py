"""Finds the text of an error message, and the passages closest to a question that names nothing.

Reads the index and the files of one commit. A passage answers only if it holds enough of what the question says, rare
words counting most; a word that nothing in the codebase holds speaks against every answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bot.agent.git.git_history import GitHistory
from bot.casework.investigate.findings import NONE, Answer, Search, of_lines
from bot.casework.investigate.quotes import Wanted
from bot.casework.investigate.report_search import search_text
from bot.domain.search.files import is_indexed, path_weight
from bot.domain.search.passages import Passage
from bot.domain.search.report_parts import names_error, parts_of
from bot.domain.search.tokens import shared_stems

MAX_FINDINGS: Final = 3
MAX_FRAGMENTS: Final = 6
MIN_FRAGMENT_CHARS: Final = 10
MAX_FRAGMENT_CHARS: Final = 120
MAX_HITS: Final = 60
MAX_PASSAGES: Final = 20
RERANKED: Final = 10
QUOTE: Final = 1.0
MIN_SHARE, MIN_SHARE_OF_FEW = 0.4, 0.5
FEW: Final = 2
"""Of a question's words, rare ones counting more, that a passage holds if it is an answer; a few words need more."""

_QUOTED: Final = re.compile(r"[\"“«‘`]([^\"”»’`\n]{8,300})[\"”»’`]|'([^'\n]{8,300})'(?!\w)")
_BEHIND: Final = re.compile(r"\b(?:error|exception|warning|panic|fatal|fails? with|says?)\b\s*:\s*(.{8,300})", re.I)
_VARIES: Final = re.compile(
    r"['\"`][^'\"`\n]{0,80}['\"`]|[<{\[(][^<>{}()\[\]\n]{0,80}[>}\])]|\S*[\d/\\%$]\S*|[.:,;!?]+(?:\s|$)|\.\.\."
)


def error_answer(search: Search) -> Answer:
    """Return where the text of an error message stands; NONE where the question quotes none, or code does not hold it."""
    for fragment in list(_fragments(search.text))[:MAX_FRAGMENTS]:
        hits, complete = GitHistory(search.repo).lines_with(search.commit, fragment)
        shown = [hit for hit in hits if is_indexed(hit.path)]
        if not complete or not 0 < len(shown) <= MAX_HITS:
            continue
        ranked = sorted(shown, key=lambda hit: (-path_weight(hit.path, search.text), hit.path, hit.line))
        found = (
            (hit, excerpt)
            for hit in ranked[: 2 * MAX_FINDINGS]
            if (excerpt := search.quotes.around(hit.path, hit.line, before=7, behind=4))
        )
        findings = [
            of_lines(f"The text of the message stands in `{hit.path}:{hit.line}`.", excerpt) for hit, excerpt in found
        ]
        if findings:
            return Answer(findings[:MAX_FINDINGS])
    return NONE


def _fragments(text: str) -> Iterator[str]:
    """Yield the parts of the messages in a text that stand in code as they are, the longest first."""
    lines = [line for line in text.split("\n") if names_error(line)]
    messages = [found[1] or found[2] for found in _QUOTED.finditer(text)]
    messages += [found[1] for line in text.split("\n") if (found := _BEHIND.search(line))] + lines
    parts = (part.strip()[:MAX_FRAGMENT_CHARS] for message in messages for part in _VARIES.split(message))
    whole = {message.strip()[:MAX_FRAGMENT_CHARS] for message in messages}
    told = {part for part in (*whole, *parts) if len(part) >= MIN_FRAGMENT_CHARS and " " in part}
    yield from sorted(told, key=lambda part: (-len(part), part))


def passage_answer(search: Search) -> Answer:
    """Return the passages that hold most of the question; NONE where none holds enough."""
    text, question = search.text, search.question
    if question.is_of_people:
        return NONE
    is_report = parts_of(text).is_report
    if is_report:
        passages: Sequence[Passage] = search_text(text, search.repo, search.index, limit=MAX_PASSAGES)
    else:
        passages = search.index.search(text, limit=MAX_PASSAGES, subject=search.before.text)
    stems = frozenset(question.others()) | frozenset(search.before.others() if not question.words else ())
    weights = _weights(search)
    total = sum(weights.get(one, 1.0) for one in stems) or 1.0
    wanted = Wanted(stems, tuple(one.name for one in question.names), question.wants_number)
    ranked = []
    for passage in passages[:RERANKED]:
        held = shared_stems(stems, f"{passage.path} {passage.text}")
        share = sum(weights.get(one, 1.0) for one in held) / total
        if not is_report and not _is_enough(len(held), share):
            continue
        if excerpt := search.quotes.best(passage.path, passage.start, passage.end, wanted, head=passage.start):
            quoted = shared_stems(stems, f"{excerpt.path} {excerpt.text}")
            of_quote = sum(weights.get(one, 1.0) for one in quoted) / total
            ranked.append((passage.score / passages[0].score + QUOTE * of_quote, excerpt))
    best = {}
    for _, excerpt in sorted(ranked, key=lambda pair: -pair[0]):
        best.setdefault(excerpt.path, excerpt)
    findings = [of_lines(f"Closest: `{one.ref}`.", one) for one in list(best.values())[:MAX_FINDINGS]]
    return Answer(findings, is_certain=False) if findings else NONE


def _is_enough(words: int, share: float) -> bool:
    return share >= (MIN_SHARE if words > FEW else MIN_SHARE_OF_FEW)


def _weights(search: Search) -> Mapping[str, float]:
    """Return how much each stem of the question tells: most where nothing holds it."""
    corpus = search.index.corpus(search.text)
    found: dict[str, int] = {}
    for term, count in corpus.found.items():
        if term.about:
            found[term.about] = max(found.get(term.about, 0), count)
    from bot.domain.search.tokens import stem

    return {stem(word): math.log(1 + (corpus.total + 1) / (count + 0.5)) for word, count in found.items()}
