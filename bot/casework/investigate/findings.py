"""What a search without a model hands back: a sentence, the lines or commits it rests on, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple

from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.quotes import Excerpt, Quotes
from bot.casework.investigate.subjects import Subject, subject_of
from bot.casework.investigate.trace_places import is_report, search_text
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import EvidenceRef
from bot.domain.search.passages import Passage
from bot.domain.search.questions import DEFINITION_WORDS, VALUE_WORDS, Question
from bot.domain.search.ranking import WordCounts
from bot.domain.search.tokens import shared_stems, stem, text_stems
from bot.ports import PassageIndex

MAX_PASSAGES: Final = 20
ENOUGH, ENOUGH_OF_UNKNOWN = 0.3, 0.6
"""Of the question's words, rare ones counting more, that a value or a commit holds if it is the answer.

Of a question with a word that nothing in the codebase holds it is more: its subject may be somewhere else.
"""

ORDINARY: Final = 50
"""So many passages of any other code are counted with those of the codebase, and one of them holds any word: that a few
files do not hold a word says little.
"""


class Finding(NamedTuple):
    """One place that may answer.

    `sentence` says what it is, `refs` are what that rests on, the quoted one first, and `shown` is quoted below it.
    """

    sentence: str
    refs: tuple[EvidenceRef, ...]
    shown: str

    def is_same(self, other: Finding) -> bool:
        """Whether both quote the same place, or lines of it."""
        mine, theirs = self.refs[0].ref, other.refs[0].ref
        one, two = parse_lines(mine), parse_lines(theirs)
        return mine == theirs or (
            one is not None
            and two is not None
            and one.path == two.path
            and one.start <= two.end
            and two.start <= one.end
        )


class Answer(NamedTuple):
    """Findings, best first; `is_certain`: a definition, an assignment, a trace or a commit was found, no mere likeness.

    Without findings `said` is what is to be said of the search; an empty one leaves it to the next way to search.
    """

    findings: Sequence[Finding] = ()
    is_certain: bool = True
    said: str = ""

    def __bool__(self) -> bool:
        return bool(self.findings or self.said)


NONE = Answer()


@dataclass(frozen=True, kw_only=True)
class Search:
    """One question (`text` as it was written), what was asked before it, and where to look; `now` is aware."""

    text: str
    question: Question
    before: Question
    repo: GitRepo
    index: PassageIndex
    quotes: Quotes
    now: datetime

    @property
    def commit(self) -> str:
        """The commit that is searched."""
        return self.quotes.commit

    @cached_property
    def subject(self) -> Subject:
        """What the question names."""
        return subject_of(self.question, self.before, self.index)

    @cached_property
    def is_of_names(self) -> bool:
        """Whether only its names are looked for: code holds no other word of it, or each says only what is wanted."""
        return bool(self.question.names) and not self.question.others(without=DEFINITION_WORDS)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the question's words, of its names where these are all that counts; else those said before."""
        if self.is_of_names:
            return frozenset[str]().union(*(text_stems(one.name) for one in self.question.names))
        return frozenset(self.question.others() if self.question.words else self.before.others())

    @cached_property
    def passages(self) -> Sequence[Passage]:
        """The passages closest to the text, best first."""
        if is_report(self.text):
            return search_text(self.text, self.repo, self.index, limit=MAX_PASSAGES)
        if self.is_of_names:
            named = " ".join(f"`{one.name}`" for one in self.question.names)
            return self.index.search(named, limit=MAX_PASSAGES, subject=self.before.text)
        asked, text = self.question.asked, self.question.text
        around = self.before.text if asked == text else f"{self.before.text}\n{text}"
        return self.index.search(asked, limit=MAX_PASSAGES, subject=around)

    def at(self, path: str, line: int, lead: str, *, before: int = 5, behind: int = 6) -> Finding | None:
        """Return a line and those around it as what `lead` says of its place; None where it may not be quoted."""
        excerpt = self.quotes.around(path, line, before=before, behind=behind)
        return of_lines(f"{lead} `{path}:{line}`.", excerpt) if excerpt else None

    @cached_property
    def _unknown(self) -> frozenset[str]:
        """The stems of the question's words that nothing in the codebase holds."""
        return frozenset(stem(word) for word, count in self._counts.found.items() if not count)

    def enough(self, stems: frozenset[str]) -> float:
        """Return the share of some of the question's words that a text holds which answers."""
        return ENOUGH_OF_UNKNOWN if stems & self._unknown else ENOUGH

    @property
    def enough_of_code(self) -> float:
        """The share of the question's words that code holds which answers; a small codebase lacks most words."""
        return self.enough(self.stems) if self._counts.total > ORDINARY else ENOUGH

    def share(self, text: str) -> float:
        """Return the share of the question's words that a text holds, rare ones counting more; one unknown most."""
        whole = self.weight(self.stems)
        return self.weight(shared_stems(self.stems, text)) / whole if whole else 0.0

    def weight(self, stems: frozenset[str]) -> float:
        """Return what some of the question's words tell together, the rarer the more."""
        return sum(self._weights.get(one, 1.0) for one in stems)

    @cached_property
    def _counts(self) -> WordCounts:
        return self.index.word_counts(self.question.asked)

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        counts = self._counts
        found: dict[str, int] = {}
        for word, count in counts.found.items():
            least = ORDINARY if word in DEFINITION_WORDS | VALUE_WORDS else 1
            found[stem(word)] = max(found.get(stem(word), 0), count + least)
        total = counts.total + ORDINARY
        return {word: math.log(1 + total / count) for word, count in found.items()}


Finder = Callable[[Search], Answer]
"""One way to answer; NONE where the question is not of its form, or nothing was found that way."""


def of_lines(sentence: str, excerpt: Excerpt, *others: EvidenceRef) -> Finding:
    """Return quoted lines as a finding."""
    return Finding(sentence, (excerpt.cited_for(sentence), *others), excerpt.text)


def naming_all(findings: Sequence[Finding], sentence: str, places: Iterable[str]) -> list[Finding]:
    """Return findings, the first with a sentence that names the places of all of them where it has `{}`."""
    named = ", ".join(f"`{one}`" for one in places)
    refs = tuple(one.refs[0] for one in findings)
    return [findings[0]._replace(sentence=sentence.replace("{}", named), refs=refs), *findings[1:]]
