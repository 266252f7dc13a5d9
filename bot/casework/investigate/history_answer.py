"""Answers a question from git history without a model: which commits last changed what it names.

Reads commits up to HEAD. Every commit named is a citation with a verbatim line of its message. A commit whose message
may not be shown is named by its id, author and date, if its author may be shown.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple

from bot.agent.git.git_history import Commit, GitHistory
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.casework.investigate.asked_definitions import Asked
from bot.casework.investigate.offline_draft import MAX_LINE_CHARS, Excerpt
from bot.domain.returns import Claim, ClaimKind, EvidenceKind, EvidenceRef, InvestigatorReturn, in_paragraphs
from bot.domain.search.definitions import definition_end
from bot.domain.search.files import is_secret_file
from bot.domain.search.passages import is_quotable
from bot.domain.search.question_names import HISTORY_WORDS, asks_for_origin, asks_why, names_in
from bot.domain.text.sanitize import one_line
from bot.errors import ProviderError

log = logging.getLogger(__name__)

MAX_COMMITS: Final = 4
MAX_LINE_COMMITS: Final = 500
MAX_TEXT_COMMITS: Final = 20
"""How many commits are looked at for what they changed in files that may be shown."""

MIN_TEXT_CHARS: Final = 3
MAX_TEXT_WORDS: Final = 3
MAX_MESSAGE_LINES: Final = 8
MAX_AUTHOR_CHARS: Final = 60
LINE_HISTORY_S: Final = 10.0
"""How long git may look for the commits of single lines; after that those of the file are named."""

AS_NOW: Final = "What the commits changed, as it is now."
SHALLOW: Final = "This checkout is shallow: older commits are not in it, and its oldest one stands for all before it."


class Subject(NamedTuple):
    """What changed: a name in a file, a file, lines with one of some `texts`, or (none of these) the whole codebase."""

    name: str = ""
    path: str = ""
    lines: tuple[int, int] | None = None
    texts: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What it is called in a reply."""
        if self.texts:  # one of several spellings may stand nowhere
            return f"lines with `{self.texts[0]}`" if len(self.texts) == 1 else f'lines with "{self.texts[0]}"'
        return f"`{self.name}` in `{self.path}`" if self.name else f"`{self.path}`" if self.path else "the codebase"


class CommitQuote(NamedTuple):
    """A commit and the lines of its message that may be quoted."""

    commit: Commit
    quote: str

    @property
    def line(self) -> str:
        """The commit in one line, and what else of its message is quoted below it."""
        author = one_line(self.commit.author, MAX_AUTHOR_CHARS)
        return f"{self.commit.sha[:12]} {self.commit.date} {author}: {self.quote}"


def history_subject(question: str, asked: Asked, repo: GitRepo, commit: str) -> Subject | None:
    """Return what a question about history is about; None where it names something that is not found."""
    for one in asked.definitions:
        lines = repo.lines_at(commit, one.path)
        if lines and one.line <= len(lines) and one.name in lines[one.line - 1]:
            return Subject(one.name, one.path, (one.line, definition_end(lines, one.line)))
    if asked.places:
        return Subject(path=asked.places[0])
    names = names_in(question)
    words = [word for word in names.words if word not in HISTORY_WORDS]
    if not (names.names or words):
        return Subject()
    texts = [one.name for one in names.names] or _spellings(words)
    shown = tuple(text for text in texts if len(text) >= MIN_TEXT_CHARS and is_quotable(text))
    return Subject(texts=shown[: 1 if names.names else None]) if shown else None


def _spellings(words: Sequence[str]) -> list[str]:
    """Return how a few words may be written in code; none of many, of which no one is what changed."""
    return list(dict.fromkeys(sign.join(words) for sign in (" ", "_", "-", ""))) if len(words) <= MAX_TEXT_WORDS else []


def history_answer(
    question: str, subject: Subject, repo: GitRepo, ledger: Ledger, *, commit: str, excerpts: Sequence[Excerpt]
) -> InvestigatorReturn | None:
    """Return the newest commits that changed a subject, as a draft with citations; None where git names none.

    `excerpts` are lines to show with them, which the ledger knows; raises ProviderError when git fails.
    """
    wants_first = asks_for_origin(question) and subject.lines is not None
    if subject.texts:
        wants_first = asks_for_origin(question)
        found, is_first = _text_commits(subject.texts, repo, commit, wants_first=wants_first)
    else:
        of_lines = _line_commits(subject, repo, commit, limit=MAX_LINE_COMMITS if wants_first else MAX_COMMITS)
        found = of_lines or GitHistory(repo).commits(commit, limit=MAX_COMMITS, path=subject.path or None)
        is_first = wants_first and 0 < len(of_lines) < MAX_LINE_COMMITS
    kept = found[-1:] if is_first else found[:MAX_COMMITS]
    quotes = [quoted for one in kept if (quoted := _quoted(one, whole=asks_why(question)))]
    if not quotes:
        return None
    for one in quotes:
        ledger.record_shown("git_show", one.commit.sha)
    which = "The first commit of" if is_first else "Newest commits that changed"
    shown = "\n".join(one.line for one in quotes)
    said = f"I read the git history without a model. {which} {subject.words}:\n```\n{shown}\n```"
    claims = [
        Claim(text=said, cites=tuple(range(len(quotes) + len(excerpts)))),
        *(one.as_claim(number) for number, one in enumerate(excerpts, len(quotes))),
        *([Claim(text=SHALLOW, kind=ClaimKind.OTHER)] if repo.is_shallow() else []),
    ]
    return InvestigatorReturn(
        confidence="medium",
        confidence_reason="Git names these commits; nobody has judged whether they are what was meant.",
        summary_for_orchestrator=f"Read the git history without a model; it begins with {quotes[0].commit.sha[:12]}.",
        draft_reply="",
        evidence_refs=(*map(_commit_ref, quotes), *(one.cited_for(AS_NOW) for one in excerpts)),
    ).with_claims(in_paragraphs(claims))


def _line_commits(subject: Subject, repo: GitRepo, commit: str, *, limit: int) -> list[Commit]:
    """Return the newest commits of the subject's lines; none where it has no lines or git takes too long."""
    if subject.lines is None:
        return []
    try:
        return GitHistory(repo).line_commits(
            commit, subject.path, *subject.lines, limit=limit, timeout_s=LINE_HISTORY_S
        )
    except ProviderError:
        log.warning("git could not follow the lines", extra={"action": "line_history_failed"}, exc_info=True)
        return []


def _text_commits(texts: Sequence[str], repo: GitRepo, commit: str, *, wants_first: bool) -> tuple[list[Commit], bool]:
    """Return commits that changed lines with one of some texts in files that may be shown, and whether it is the first.

    Where git takes too long, they are the newest that it found.
    """
    history = GitHistory(repo)
    found, is_complete = history.word_commits(commit, texts, timeout_s=LINE_HISTORY_S)
    is_first = wants_first and is_complete
    looked_at = (found[::-1] if is_first else found)[:MAX_TEXT_COMMITS]
    shown = (one for one in looked_at if not all(map(is_secret_file, history.changed_paths(one.sha, words=texts))))
    return list(islice(shown, 1 if is_first else MAX_COMMITS)), is_first


def _quoted(commit: Commit, *, whole: bool) -> CommitQuote | None:
    """Return the first line of a message, or several where the `whole` is asked for; None where none may be shown."""
    lines = commit.message.split("\n")
    for count in (MAX_MESSAGE_LINES, 1) if whole else (1,):
        quote = "\n".join(lines[:count]).rstrip()
        can_be_shown = is_quotable(f"{commit.author}\n{quote}") and max(map(len, lines[:count])) <= MAX_LINE_CHARS
        if can_be_shown:
            return CommitQuote(commit, quote)
    return None


def _commit_ref(one: CommitQuote) -> EvidenceRef:
    return EvidenceRef(
        kind=EvidenceKind.GIT_COMMIT,
        ref=one.commit.sha,
        commit=one.commit.sha,
        quote=one.quote,
        supports_claim=f"A commit of {one.commit.date} that changed it.",
    )
