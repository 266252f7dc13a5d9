"""What the people of a past thread, or the history of the code, later said the answer is; and what came of a draft.

By structure only: a commit or a merged pull request that is linked in the thread, a commit whose message links the
thread, a path or a symbol in an answer, and what the bot's own approved reply cites. All become files as they stood
when the question came. Where there is none of this, nobody knows whether a draft is right. Each question becomes a
row, and all of them the figures of a backtest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from statistics import median
from typing import Any, Final, NamedTuple, Self

from pydantic import ValidationError

from bot.agent.codebases import Codebase
from bot.agent.git.git_history import GitHistory
from bot.agent.git.git_repo import GitRepo
from bot.casework.past_threads import HeardMessage, OwnRecord, PastQuestion
from bot.casework.reports.classifier_samples import Judgement, error_rates
from bot.casework.reports.measures import measure_total
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.frozen_value import FrozenValue
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn
from bot.domain.search.files import path_weight
from bot.domain.search.questions import Question, question_of
from bot.domain.threads import Resolution
from bot.errors import ProviderError

MAX_COMMITS: Final = 50_000
MAX_TOUCHED: Final = 40
"""A commit that changed more files tells nothing of one question."""

MAX_DEFINING: Final = 4
"""A name that more files define is no answer."""

_SHA: Final = re.compile(r"(?<![\w.-])[0-9a-f]{7,40}(?![\w.-])")
_PULL: Final = re.compile(r"/(?:pull|pull-requests|merge_requests)/(\d{1,7})\b|(?<![\w&/])[#!](\d{1,7})\b")
_MERGED: Final = re.compile(r"\(#(\d{1,7})\)|\bpull request #(\d{1,7})\b|\bSee merge request [^\s!]{0,200}!(\d{1,7})\b")
_THREAD: Final = re.compile(r"/archives/\w{1,64}/p(\d{10})(\d{6})\b")


class Standing(StrEnum):
    """Whether a draft is right; `missed`: no draft was made, though an answer is known."""

    RIGHT = "right"
    WRONG = "wrong"
    MISSED = "missed"
    UNKNOWN = "unknown"


class KnownPlace(NamedTuple):
    """A file, as a draft cites it, or a commit that is the answer; and who says so."""

    address: str
    because: str


class FixHistory:
    """The commits of one codebase up to `head`, by the pull request and the chat thread that their messages name."""

    def __init__(self, repo: GitRepo, head: str) -> None:
        self.repo, self.head = repo, head
        self._by_pull: dict[str, str] = {}
        self.by_thread: dict[str, list[str]] = {}
        """The commits whose message links a thread, by its ts."""
        for commit in GitHistory(repo).each_commit(head, since=None, limit=MAX_COMMITS):
            for found in _MERGED.findall(commit.message):
                self._by_pull["".join(found)] = commit.sha  # the oldest: later ones may revert it
            for seconds, fraction in _THREAD.findall(commit.message):
                self.by_thread.setdefault(f"{seconds}.{fraction}", []).append(commit.sha)

    def linked(self, text: str) -> Iterator[str]:
        """Yield the commits that a message names, by id or by pull request."""
        for found in _SHA.findall(text):
            if sha := self.repo.resolve_in(self.head, found):
                yield sha
        for pull in _PULL.findall(text):
            if sha := self._by_pull.get("".join(pull)):
                yield sha

    def touched(self, sha: str) -> list[str]:
        """Return the files a commit changed; none where it changed too many, or git cannot tell."""
        try:
            found = GitHistory(self.repo).changed_paths(sha)
        except ProviderError:
            return []
        return found if len(found) <= MAX_TOUCHED else []


def known_places(
    question: PastQuestion, code: Iterable[tuple[Codebase, FixHistory]], own_refs: Sequence[EvidenceRef] = ()
) -> list[KnownPlace]:
    """Return what is known of the answer; `code` stands at the commits of the question's time.

    What the question names itself is no answer.

    Raises:
        StoreError: an index cannot be read.
    """
    found = [KnownPlace(one, "the approved reply cites it") for one in map(_address, own_refs)]
    for codebase, fixes in code:
        commit, asked = codebase.repo.head(), question_of(question.event.content)
        for sha, because in _fixes(question, fixes):
            files = _telling([one for one in fixes.touched(sha) if codebase.repo.entry_at(commit, one)])
            found += [*(KnownPlace(codebase.prefix + one, because) for one in files), KnownPlace(sha, because)]
        for said in question.answers:
            files = _telling(list(_named(codebase, said.content, asked)))
            found += [KnownPlace(codebase.prefix + one, f"{said.sender.id} names it") for one in files]
    return list({one.address: one for one in reversed(found)}.values())[::-1]


def standing_of(ret: InvestigatorReturn, known: Sequence[KnownPlace]) -> Standing:
    """Return whether a draft cites one of the known places."""
    if not known:
        return Standing.UNKNOWN
    if not ret.draft_reply.strip():
        return Standing.MISSED
    cited = set(map(_address, ret.evidence_refs))
    return Standing.RIGHT if cited.intersection(one.address for one in known) else Standing.WRONG


def _address(ref: EvidenceRef) -> str:
    lines = parse_lines(ref.ref)
    return lines.path if ref.kind is EvidenceKind.FILE and lines else ref.commit or ref.ref


def _fixes(question: PastQuestion, fixes: FixHistory) -> Iterator[tuple[str, str]]:
    """Yield the commits that the thread links, or that link it, each with who says so."""
    for said in question.answers:
        yield from ((sha, f"{said.sender.id} links commit {sha[:9]}") for sha in fixes.linked(said.content))
    for ts in dict.fromkeys((question.event.message_id, question.event.thread_id or "")):
        yield from ((sha, f"commit {sha[:9]} links the thread") for sha in fixes.by_thread.get(ts, ()))


def _named(codebase: Codebase, text: str, asked: Question) -> Iterator[str]:
    """Yield the files that an answer names by path or by a symbol that they define, unless the question does too."""
    said = question_of(text)
    for file in (one for one in said.files if one not in asked.files):
        found = [one for one in codebase.index.places_called(file) if not one.endswith("/")]
        yield from found if len(found) <= MAX_DEFINING else ()
    known = [one.name for one in asked.names]
    for name in (one.name for one in said.names if one.name not in known):
        found = list(dict.fromkeys(one.path for one in codebase.index.definitions(name) if one.name == name))
        yield from found if len(found) <= MAX_DEFINING else ()


def _telling(paths: Sequence[str]) -> list[str]:
    """Return those that count most: no tests and no changelog beside the code that was changed with them."""
    weights = {path: path_weight(path, "") for path in paths}
    return [path for path, weight in weights.items() if weight == max(weights.values())]


SHOWN: Final = 10
_Z: Final = 1.96
_CONFIDENCE: Final = ("low", "medium", "high")


class Cite(FrozenValue):
    """A citation, and its page on the code host."""

    ref: str
    link: str | None = None


class PastDraft(FrozenValue):
    """One question and what came of it; a line of the journal.

    `key` tells whether a later run may take it over; `problem` says why there is no result, and such a row is not kept.
    `is_spent`: the money is. `known` is what the answer is known to be: place and who says so.
    """

    key: str
    thread_id: str
    message_id: str
    commits: Mapping[str, str] = {}
    draft: str = ""
    confidence: str = ""
    cites: tuple[Cite, ...] = ()
    passed: bool = False
    reasons: tuple[str, ...] = ()
    standing: Standing = Standing.UNKNOWN
    known: tuple[tuple[str, str], ...] = ()
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    problem: str = ""
    is_spent: bool = False

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self | None:
        """Return a line of the journal; None for what is none of this release."""
        try:
            return cls.model_validate(record)
        except ValidationError:
            return None

    @property
    def has_draft(self) -> bool:
        """Whether there is anything to post."""
        return bool(self.draft.strip())

    @property
    def surety(self) -> tuple[bool, int]:
        """How sure the draft looks: whether all checks passed, and its confidence."""
        return self.passed, _CONFIDENCE.index(self.confidence) if self.confidence in _CONFIDENCE else 0


class Share(NamedTuple):
    """How often something held, of how many, with the 95 % interval of Wilson."""

    hits: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """Return both ends; 0 and 1 of nothing.

        >>> [round(end, 3) for end in Share(8, 10).interval]
        [0.49, 0.943]
        """
        if not self.of:
            return 0.0, 1.0
        rate, spread = self.hits / self.of, _Z * _Z / self.of
        middle = rate + spread / 2
        half = _Z * sqrt(rate * (1 - rate) / self.of + spread / (4 * self.of))
        return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {**self._asdict(), "interval": self.interval}


@dataclass(frozen=True, kw_only=True, slots=True)
class Backtest:
    """One run: what was heard, what was drafted, what the bot's own record and the marks of people say."""

    title: str
    investigator: str
    unreadable: int
    heard: Sequence[HeardMessage]
    drafts: Sequence[PastDraft]
    own: Mapping[str, OwnRecord]
    marks: Sequence[Judgement]

    @property
    def classes(self) -> Counter[str]:
        """How many messages each class has."""
        return Counter(one.classification for one in self.heard)

    @property
    def standings(self) -> Counter[Standing]:
        """How many questions stand how; one that failed is not known."""
        return Counter(one.standing for one in self.drafts)

    @property
    def shares(self) -> dict[str, Share]:
        """What is measured, with how many it rests on."""
        count, drafted = self.standings, [one for one in self.drafts if one.has_draft]
        known = count[Standing.RIGHT] + count[Standing.WRONG]
        alone, taken = error_rates(self.marks)
        return {
            "drafted": Share(len(drafted), len(self.drafts)),
            "passed": Share(sum(one.passed for one in drafted), len(drafted)),
            "right": Share(count[Standing.RIGHT], known),
            "found": Share(count[Standing.RIGHT], known + count[Standing.MISSED]),
            "wrongly_ignored": Share(alone.wrong, alone.n),
            "wrongly_heard": Share(taken.wrong, taken.n),
        }

    @property
    def cost_usd(self) -> float | None:
        """What all drafts cost, in US dollars; None where a price is not known."""
        return measure_total(one.cost_usd for one in self.drafts)

    def own_counts(self) -> dict[str, Any]:
        """Return what people made of the bot's own drafts."""
        counts = Counter(one.resolution for one in self.own.values())
        edits = [one.changed for one in self.own.values() if one.resolution == Resolution.EDITED]
        reasons = Counter(one.reason for one in self.own.values() if one.reason)
        return {**counts, "edited_share": median(edits) if edits else None, "dismissed_because": dict(reasons)}

    def best(self) -> list[PastDraft]:
        """Return the surest right drafts."""
        return self._surest(Standing.RIGHT)

    def worst(self) -> list[PastDraft]:
        """Return the surest wrong drafts, then what was missed."""
        return [*self._surest(Standing.WRONG), *self._surest(Standing.MISSED)][:SHOWN]

    def _surest(self, standing: Standing) -> list[PastDraft]:
        found = [one for one in self.drafts if one.standing is standing]
        return sorted(found, key=lambda one: one.surety, reverse=True)[:SHOWN]

    def as_json(self) -> dict[str, Any]:
        """Return the figures and every row."""
        return {
            "source": self.title,
            "investigator": self.investigator,
            "messages": len(self.heard),
            "unreadable": self.unreadable,
            "classes": self.classes,
            "questions": len(self.drafts),
            "failed": sum(bool(one.problem) for one in self.drafts),
            "standings": {one: self.standings[one] for one in Standing},
            "shares": {name: one.as_json() for name, one in self.shares.items()},
            "own_drafts": self.own_counts(),
            "cost_usd": self.cost_usd,
            "drafts": [one.model_dump(mode="json") for one in self.drafts],
        }


def marks_of(heard: Iterable[HeardMessage], marks: Iterable[Judgement]) -> list[Judgement]:
    """Return the marks of these messages."""
    places = {(one.event.chat_id, one.event.message_id) for one in heard}
    return [one for one in marks if one.place in places]
