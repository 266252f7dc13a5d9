"""Answers who, when, why and what changed from git, without a model.

Reads the index of commit messages and the history of HEAD. What was done ("removed", "upgraded") is looked for in the
messages first; who last touched a named definition or file is asked of git itself. Every commit named is a citation
with a verbatim line of its message; one whose message may not be shown is left out.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.agent.git.git_history import Commit, GitHistory
from bot.casework.investigate.findings import NONE, Answer, Finding, Search, Subject
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.search.definitions import definition_end
from bot.domain.search.passages import CommitHit, is_quotable
from bot.domain.search.questions import CHANGES, HISTORY, HISTORY_WORDS, deeds_in
from bot.domain.search.tokens import shared_stems, text_stems
from bot.domain.text.sanitize import one_line
from bot.errors import ProviderError

log = logging.getLogger(__name__)

MAX_COMMITS: Final = 3
MAX_LISTED: Final = 4
MAX_LINE_COMMITS: Final = 500
# What the choice of a commit counts besides the share of the words that its message holds.
LIKENESS, DEED, NEWER = 0.5, 0.3, 0.2

LOOKED_AT: Final = 50
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


_WITH_DIGIT: Final = re.compile(r"[^\W\d]*\d\w*(?:\.\d\w*)*")
_NUMBER: Final = re.compile(r"(?<![\w.-])\d{1,6}(?:\.\d{1,6}){0,3}(?![\w-])")

Way = Callable[[Search, Subject], Sequence[Commit | CommitHit]]


def history_answer(search: Search) -> Answer:
    """Return who changed what the question names, when and why; says so where no commit is found."""
    question = search.question
    if not question.wants(HISTORY):
        return NONE
    subject = search.subject
    is_last = not question.wants_origin and not _stems(search) - frozenset(question.others(subject.used))
    of_code = (subject.definitions or subject.places) and (question.wants(_LAST) or is_last)
    ways: Sequence[Way] = (_of_subject, _by_message) if of_code else (_by_message, _of_subject)
    for way in ways:
        if findings := _findings(way, search, subject):
            return Answer(findings)
    return Answer(said=f"I found no commit for {_named(search)}.")


def change_answer(search: Search) -> Answer:
    """Return the newest commits of what the question names, or of the codebase, since the time it names."""
    question = search.question
    if not question.wants(CHANGES):
        return NONE
    subject = search.subject
    since, words = _since(search)
    paths = [one.path for one in subject.definitions[:1]] or [*subject.places[:1]]

    def commits(search: Search, subject: Subject) -> Sequence[Commit | CommitHit]:
        if not paths and _stems(search):
            return _by_message(search, subject)
        found = GitHistory(search.repo).commits(search.commit, limit=200, path=paths[0] if paths else None)
        return [one for one in found if since is None or one.committed_at >= since][:MAX_LISTED]

    findings = _findings(commits, search, subject)
    if not findings:
        return Answer(said=f"I found no commit{words} for {_named(search)}.")
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
    deeds = [word for word in question.words if deeds_in(word)]
    dated = found[0].split() if (found := _DATE.search(question.text)) else []
    told = question.others([*deeds, *dated], without=HISTORY_WORDS)
    numbers = frozenset(_NUMBER.findall(question.text)) - frozenset(" ".join(dated).split())
    return numbers.union(told, *(text_stems(one.name) for one in question.names))


def _named(search: Search) -> str:
    """Return what was looked for, as the question has it."""
    question = search.question
    words = [word for word in question.told(without=HISTORY_WORDS) if not deeds_in(word)][:4]
    return " ".join(f"`{one_line(word, 60).replace('`', '')}`" for word in words) or "that"


def _by_message(search: Search, subject: Subject) -> Sequence[CommitHit]:  # noqa: ARG001 - a way like the others
    """Return the commits whose messages hold most of what was changed; those first that did what was done to it."""
    question, stems = search.question, _stems(search)
    hits = search.index.commits(" ".join((*question.told(), *stems)), limit=LOOKED_AT) if stems else []
    ages = sorted(one.authored_at for one in hits)
    deeds = question.deeds()

    whole = search.weight(stems)

    def share(text: str) -> float:
        return search.weight(_held(stems, text)) / whole

    def worth(one: CommitHit) -> float:
        told = share(one.message) + LIKENESS * one.score / hits[0].score
        return (
            told
            + DEED * share(one.subject) * bool(deeds & deeds_in(one.subject))
            + NEWER * ages.index(one.authored_at) / len(hits)
        )

    held = frozenset[str]().union(*(_held(stems, one.message) for one in hits))
    enough = search.enough(stems - held)
    telling = (one for one in hits if share(one.message) >= enough)
    return sorted(telling, key=worth, reverse=True)[:MAX_COMMITS]


def _held(stems: frozenset[str], text: str) -> frozenset[str]:
    """Return the stems that a text holds; one with a digit, such as `v7`, as it is written."""
    return shared_stems(stems, text) | (stems & frozenset(_WITH_DIGIT.findall(text.lower())))


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
