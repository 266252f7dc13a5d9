"""Answers who, when, why and what changed from git, without a model.

Reads the index of commit messages and the history of HEAD. What was done ("removed", "upgraded") is looked for in the
messages first; who last touched a named definition or file is asked of git itself. Every commit named is a citation
with a verbatim line of its message; one whose message may not be shown is left out.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.agent.git.git_history import Commit, GitHistory
from bot.casework.investigate.findings import NONE, Answer, Finding, Search, of_lines
from bot.casework.investigate.names import Subject, subject_of
from bot.casework.investigate.quotes import Wanted
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.search.definitions import definition_end
from bot.domain.search.files import FileKind, file_kind, is_secret_file
from bot.domain.search.passages import CommitHit, is_quotable
from bot.domain.search.questions import CHANGES, HISTORY, HISTORY_WORDS
from bot.domain.search.tokens import shared_stems, stem, text_stems
from bot.domain.text.sanitize import one_line
from bot.errors import ProviderError

log = logging.getLogger(__name__)

MAX_COMMITS: Final = 3
MAX_LISTED: Final = 4
MAX_LINE_COMMITS: Final = 500
MIN_SHARE: Final = 0.4
"""Of the words of what was changed, those few commits hold counting more, that a commit's message holds."""

MAX_PASSAGES: Final = 200
MIN_SHARE_OF_LINES: Final = 0.5
"""Of these words that lines of a changelog hold more than, if no commit is found."""

# What the choice of a commit counts besides the share of the words that its message holds.
SUBJECT, DEED, NEWER, MERGE = 0.3, 0.2, 0.15, 0.5

LOOKED_AT: Final = 20
MAX_MESSAGE_LINES: Final = 8
MAX_AUTHOR_CHARS: Final = 60
HISTORY_S: Final = 8.0
"""How long git may look; after that the next way to find commits is taken."""

_WHY: Final = re.compile(r"\bwhy\b", re.I)
_LAST: Final = re.compile(r"\b(?:last|lately|latest|recent(?:ly)?|blame|touched|wrote|written|author)\b", re.I)
_SPAN: Final = re.compile(
    r"\b(?:(?:last|past|this)\s+(?:(\d{1,3}|few|couple of)\s+)?(day|week|month|year)s?|(yesterday|today))\b", re.I
)
_DAYS: Final = {"day": 1, "week": 7, "month": 31, "year": 366, "today": 1, "yesterday": 2}
_VERSION: Final = re.compile(
    r"\b(?:since|in|after|with)\s+(?:version\s+|release\s+)?v?(\d{1,4}(?:\.\d{1,4}){1,3})\b", re.I
)

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE: Final = re.compile(
    rf"\bsince\s+(?:((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?|(?:({'|'.join(_MONTHS)})[a-z]*\.?\s+)?((?:19|20)\d\d))(?![\w.])",
    re.I,
)


Way = Callable[[Search, Subject], Sequence[Commit]]


def history_answer(search: Search) -> Answer:
    """Return who changed what the question names, when and why; says so where no commit is found."""
    question = search.question
    if not question.wants(HISTORY):
        return NONE
    subject = subject_of(search)
    is_last = not question.wants_origin and not _stems(search) - frozenset(question.others(subject.used))
    of_code = (subject.definitions or subject.places) and (question.wants(_LAST) or is_last)
    ways: Sequence[Way] = (_of_subject, _by_message) if of_code else (_by_message, _of_subject, _by_text)
    for way in ways:
        if findings := _findings(way, search, subject):
            return Answer(findings)
    return _without_commit(f"I found no commit for {_named(search)}.", search)


def _without_commit(said: str, search: Search) -> Answer:
    """Return that no commit was found, with the closest lines of a changelog where they hold enough of the question."""
    stems = _stems(search)
    for one in search.index.search(search.question.asked, limit=MAX_PASSAGES):
        if file_kind(one.path) is FileKind.CHANGELOG:
            found = search.quotes.best(one.path, one.start, one.end, Wanted(stems))
            if found and len(shared_stems(stems, found.text)) > MIN_SHARE_OF_LINES * len(stems):
                closest = of_lines(f"Closest in the changelog: `{found.ref}`.", found)
                return Answer([closest._replace(sentence=f"{said} {closest.sentence}")], is_certain=False)
    return Answer(said=said)


def change_answer(search: Search) -> Answer:
    """Return the newest commits of what the question names, or of the codebase, since the time it names."""
    question = search.question
    if not question.wants(CHANGES):
        return NONE
    subject = subject_of(search)
    since, words = _since(search)
    paths = [one.path for one in subject.definitions[:1]] or [*subject.places[:1]]

    def commits(search: Search, subject: Subject) -> Sequence[Commit]:
        if not paths and _stems(search):
            return _by_message(search, subject)
        found = GitHistory(search.repo).commits(search.commit, limit=200, path=paths[0] if paths else None)
        return [one for one in found if since is None or one.committed_at >= since][:MAX_LISTED]

    findings = _findings(commits, search, subject)
    if not findings:
        return _without_commit(f"I found no commit{words} for {_named(search)}.", search)
    what = f"`{paths[0]}`" if paths else "the codebase"
    refs = tuple(one.refs[0] for one in findings)
    shown = "\n".join(f"{_unmarked(ref.supports_claim)} {ref.quote}" for ref in refs)
    last = refs[0].supports_claim.rpartition(" ")[2]
    return Answer([Finding(f"Newest commits{words} that changed {what}, the last on {last}", refs, shown)])


def _since(search: Search) -> tuple[datetime | None, str]:
    """Return from when on changes are asked for, and these words of the question; None where it names no time."""
    if found := _SPAN.search(search.question.text):
        number = 1 if not found[1] else int(found[1]) if found[1].isdigit() else 3
        days = _DAYS[(found[2] or found[3]).lower()] * number
        return search.now - timedelta(days=days), f" of {'the ' if found[2] else ''}{found[0].lower()}"
    if (found := _DATE.search(search.question.text)) and (day := _day(found)):
        return day, f" since {day.date().isoformat()}"
    if found := _VERSION.search(search.question.text):
        for tag in (f"v{found[1]}", found[1]):
            if commit := search.repo.resolve(f"refs/tags/{tag}^{{commit}}"):
                [tagged] = GitHistory(search.repo).commits(commit, limit=1)
                return tagged.committed_at, f" since {tag}"
    return None, ""


def _day(found: re.Match[str]) -> datetime | None:
    """Return the first moment of a day, month or year, in UTC; None where the calendar has none such."""
    year, month, day, name, year_alone = found.groups()
    number = _MONTHS.index(name.lower()) + 1 if name else int(month or 1)
    try:
        return datetime(int(year or year_alone), number, int(day or 1), tzinfo=UTC)
    except ValueError:
        return None


def _stems(search: Search) -> frozenset[str]:
    """Return the stems of what was changed, without those of what was done to it."""
    question = search.question
    deeds = [word for word in question.words if question.is_deed(word)]
    dated = found[0].split() if (found := _DATE.search(question.text)) else []
    told = question.others([*deeds, *dated], without=HISTORY_WORDS)
    return frozenset(told).union(*(text_stems(one.name) for one in question.names))


def _named(search: Search) -> str:
    """Return what was looked for, as the question has it."""
    question = search.question
    words = [word for word in question.told(without=HISTORY_WORDS) if not question.is_deed(word)][:4]
    return " ".join(f"`{one_line(word, 60).replace('`', '')}`" for word in words) or "that"


def _by_message(search: Search, subject: Subject) -> Sequence[Commit]:  # noqa: ARG001 - a way like the others
    """Return the commits whose messages hold most of what was changed, those first that the index ranks first."""
    question, history, stems = search.question, GitHistory(search.repo), _stems(search)
    hits = search.index.commits(" ".join(question.told()), limit=LOOKED_AT) if stems else []
    found = [(hit, commit) for hit in hits for commit in history.commits(hit.id, limit=1)]
    ages = sorted(commit.committed_at for _, commit in found)
    deeds = frozenset(stem(word.lower()) for word in question.words if question.is_deed(word))
    counts = Counter(one for _, commit in found for one in _held(stems, commit.message))
    weights = {one: math.log(1 + (len(found) + 1) / (counts[one] + 0.5)) for one in stems}

    def share(text: str) -> float:
        return sum(weights[one] for one in _held(stems, text)) / sum(weights.values())

    def worth(pair: tuple[CommitHit, Commit]) -> float:
        hit, one = pair
        told = hit.score / hits[0].score + share(one.message) + SUBJECT * share(one.subject)
        told += DEED * bool(_held(deeds, one.subject)) + NEWER * ages.index(one.committed_at) / len(found)
        return told - MERGE * one.subject.startswith("Merge ")

    telling = [pair for pair in found if share(pair[1].message) >= MIN_SHARE]
    return [one for _, one in sorted(telling, key=worth, reverse=True)[:MAX_COMMITS]]


def _held(stems: frozenset[str], text: str) -> frozenset[str]:
    """Return the stems that a text holds; one with a digit, such as `v7`, as it is written."""
    lowered = text.lower()
    return shared_stems(stems, text) | {one for one in stems if one in lowered and any(map(str.isdigit, one))}


def _of_subject(search: Search, subject: Subject) -> Sequence[Commit]:
    """Return the newest commits of the definition or file that is named, or the first where that is asked."""
    history, wants_first = GitHistory(search.repo), search.question.wants_origin
    for one in subject.definitions[:1]:
        lines = search.quotes.lines(one.path)
        limit = MAX_LINE_COMMITS if wants_first else MAX_COMMITS
        end = definition_end(lines, one.line)
        found = history.line_commits(search.commit, one.path, one.line, end, limit=limit, timeout_s=HISTORY_S)
        return found[-1:] if wants_first else found
    for place in subject.places[:1]:
        return history.commits(search.commit, limit=MAX_COMMITS, path=place)
    return ()


def _by_text(search: Search, subject: Subject) -> Sequence[Commit]:
    """Return the commits that changed lines with a name, in files that may be shown: it may be gone from the code."""
    names = [one.name for one in search.question.names if is_quotable(one.name)][:1]
    if not names or subject.definitions:
        return ()
    history = GitHistory(search.repo)
    found, is_complete = history.word_commits(search.commit, names, timeout_s=HISTORY_S)
    if search.question.wants_origin and is_complete:
        found = found[::-1]
    shown = (one for one in found[:20] if not all(map(is_secret_file, history.changed_paths(one.sha, words=names))))
    return list(shown)[:MAX_COMMITS]


def _unmarked(sentence: str) -> str:
    """Return what is said of a commit as it stands among code."""
    return sentence.removeprefix("Commit ").replace("`", "")


def _findings(way: Way, search: Search, subject: Subject) -> list[Finding]:
    """Return the commits that one way finds, those that may be shown; none where git cannot read the history."""
    try:
        commits = way(search, subject)
        shallow = " This checkout is shallow: older commits are not in it." if search.repo.is_shallow() else ""
    except ProviderError:
        log.warning("git could not read the history", extra={"action": "history_unread"}, exc_info=True)
        return []
    findings = []
    for one in commits:
        lines = one.message.split("\n")
        count = MAX_MESSAGE_LINES if search.question.wants(_WHY) else 1
        quote = next((text for some in (count, 1) if is_quotable(text := "\n".join(lines[:some]).rstrip())), "")
        author = one_line(one.author, MAX_AUTHOR_CHARS)
        if quote and is_quotable(author):
            ref = EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=one.sha, commit=one.sha, quote=quote)
            sentence = f"Commit `{one.sha[:12]}` by {author} on {one.date}."
            findings.append(Finding(f"{sentence}{shallow}", (ref.evolve(supports_claim=sentence),), quote))
    return findings
