"""What a search without a model hands back: a sentence, the lines or commits it rests on, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.quotes import Excerpt, Quotes, Wanted
from bot.domain.returns import EvidenceRef
from bot.domain.search.questions import Question
from bot.ports import PassageIndex


class Finding(NamedTuple):
    """One place that may answer.

    `sentence` says what it is, `refs` are what that rests on, the quoted one first, and `shown` is quoted below it.
    """

    sentence: str
    refs: tuple[EvidenceRef, ...]
    shown: str

    def is_same(self, other: Finding) -> bool:
        """Whether both quote the same place."""
        return self.refs[0].ref == other.refs[0].ref


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """One question (`text` as it was written), what was asked before it, and where to look; `now` is aware."""

    text: str
    question: Question
    before: Question
    index: PassageIndex
    quotes: Quotes
    now: datetime

    @property
    def repo(self) -> GitRepo:
        """The codebase."""
        return self.quotes.repo

    @property
    def commit(self) -> str:
        """The commit that is searched."""
        return self.quotes.commit

    def wanted(self, used: Sequence[str] = (), names: Sequence[str] = ()) -> Wanted:
        """Return what lines should hold: the question's words, without those `used` for a name, and names."""
        return Wanted(frozenset(self.question.others(used)), tuple(names))


Finder = Callable[[Search], Answer]
"""One way to answer; NONE where the question is not of its form, or nothing was found that way."""


def of_lines(sentence: str, excerpt: Excerpt, *others: EvidenceRef) -> Finding:
    """Return quoted lines as a finding."""
    return Finding(sentence, (excerpt.cited_for(sentence), *others), excerpt.text)
