"""AC-04: a fabricated path, line, quote or commit never passes; a true citation is never refused.

True citations are drawn from this project's own source, in a repository of their own; each operator makes a citation
false, and a search of the plain text (not the code under test) confirms that it is.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import bot
from bot.agent.ledger import Ledger
from bot.casework.checks import check_return
from bot.casework.verdict import verdict_of_checks
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn, Verdict
from bot.domain.secrets import find_secrets
from tests.gitrepo import git, make_repo

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
CITATIONS = 90
SOURCE = Path(bot.__file__).parent


@dataclass(frozen=True)
class Corpus:
    """The repository, its commit, and its files as plain lines."""

    path: Path
    commit: str
    files: dict[str, list[str]]


@dataclass(frozen=True)
class Cited:
    """A citation in parts; `read` says whether the run's ledger holds its lines."""

    path: str
    start: int
    end: int
    commit: str
    quote: str
    confidence: str = "medium"
    read: bool = True


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Return this project's modules, committed."""
    texts = {f"bot/{file.relative_to(SOURCE)}": file.read_text("utf-8") for file in sorted(SOURCE.rglob("*.py"))}
    texts = {name: text for name, text in texts.items() if text.count("\n") > 30}
    path = make_repo(tmp_path_factory.mktemp("fabrications") / "repo", texts)
    files = {name: text.removesuffix("\n").split("\n") for name, text in texts.items()}
    return Corpus(path, git(path, "rev-parse", "HEAD"), files)


def draw(corpus: Corpus, dice: random.Random) -> Iterator[Cited]:
    """Yield true citations of one to six lines, quoted whole or in part; what looks like a secret is never cited."""
    while True:
        path = dice.choice(sorted(corpus.files))
        lines = corpus.files[path]
        start = dice.randint(1, len(lines) - 6)
        end = start + dice.randint(0, 5)
        quote = "\n".join(lines[start - 1 : end])
        if dice.random() < 0.4:
            quote = quote[len(quote) // 4 :].lstrip("\n")
        if len(re.findall(r"[A-Za-z]{4,}", quote)) >= 2 and not find_secrets(quote):
            yield Cited(path, start, end, corpus.commit, quote, dice.choice(["low", "medium", "high"]))


def is_true(corpus: Corpus, cited: Cited) -> bool:
    """Whether a citation holds, by looking at the plain text."""
    lines = corpus.files.get(cited.path, [])
    shown = "\n".join(line.rstrip() for line in lines[max(cited.start, 1) - 1 : cited.end])
    quote = "\n".join(line.rstrip() for line in cited.quote.split("\n")).strip("\n")
    in_range = 1 <= cited.start <= cited.end <= len(lines)
    return in_range and cited.commit == corpus.commit and quote in shown


def missing_path(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    stem = cited.path.removesuffix(".py")
    return replace(cited, path=dice.choice([f"{stem}s.py", f"{stem}.pyi", f"src/{cited.path}", stem]))


def sibling_file(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    return replace(cited, path=dice.choice([path for path in sorted(corpus.files) if path != cited.path]))


def past_the_end(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    size = len(corpus.files[cited.path])
    return replace(cited, start=dice.choice([cited.start, size + 1]), end=size + dice.randint(1, 40))


def shifted_lines(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    by = dice.choice([-1, 1]) * dice.randint(5 + cited.end - cited.start, 40)
    return replace(cited, start=cited.start + by, end=cited.end + by)


def changed_word(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    word = dice.choice(list(re.finditer(r"[A-Za-z]{4,}", cited.quote)))
    other = dice.choice([word[0][::-1], word[0].swapcase(), word[0] + "s", word[0][1:], "never"])
    return replace(cited, quote=cited.quote[: word.start()] + other + cited.quote[word.end() :])


def foreign_quote(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    return replace(cited, quote=next(other for other in draw(corpus, dice) if other.path != cited.path).quote)


def unknown_commit(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    return replace(cited, commit=f"{dice.getrandbits(160):040x}")


def unread_certainty(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    return replace(cited, confidence="high", read=False)


OPERATORS: list[Callable[[Corpus, Cited, random.Random], Cited]] = [
    missing_path,
    sibling_file,
    past_the_end,
    shifted_lines,
    changed_word,
    foreign_quote,
    unknown_commit,
    unread_certainty,
]


def verdict(corpus: Corpus, cited: Cited, truth: Cited | None = None) -> Verdict:
    """Return the verdict on a draft that cites `cited`, beside a true citation if one is given."""
    refs = [
        EvidenceRef(kind=EvidenceKind.FILE, ref=f"{one.path}:{one.start}-{one.end}", commit=one.commit, quote=one.quote)
        for one in (truth, cited)
        if one is not None
    ]
    ledger = Ledger()
    for one in (truth, cited):
        if one is not None and one.read:
            ledger.record_read(one.path, one.start, one.end, commit=one.commit, text=one.quote)
    ret = InvestigatorReturn(
        confidence=cited.confidence,
        confidence_reason="The lines say so.",
        summary_for_orchestrator="The lines say so.",
        draft_reply="The answer stands in the cited lines.",
        evidence_refs=tuple(refs),
    )
    return verdict_of_checks(check_return(ret, repo=corpus.path, ledger=ledger), AT).verdict


def test_no_true_citation_is_refused(corpus: Corpus) -> None:
    """What really stands there passes, whatever its shape."""
    citations = draw(corpus, random.Random(4))
    refused = [
        one for one, _ in zip(citations, range(CITATIONS), strict=False) if verdict(corpus, one) is not Verdict.PASS
    ]
    assert refused == []


def test_no_fabricated_citation_passes(corpus: Corpus) -> None:
    """Over 500 false citations, alone or beside a true one: all caught."""
    dice = random.Random(44)
    tried: Counter[str] = Counter()
    passed = []
    for cited, _ in zip(draw(corpus, dice), range(CITATIONS), strict=False):
        for operator in OPERATORS:
            mutant = operator(corpus, cited, dice)
            if is_true(corpus, mutant) and mutant.read:
                continue
            tried[operator.__name__] += 1
            beside = next(other for other in draw(corpus, dice) if other.path != cited.path)
            if verdict(corpus, mutant, dice.choice([None, beside])) is Verdict.PASS:
                passed.append((operator.__name__, mutant))
    assert passed == []
    assert sum(tried.values()) >= 500
    assert min(tried[operator.__name__] for operator in OPERATORS) >= 50
