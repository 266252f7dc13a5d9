"""AC-04: a fabricated path, line, quote or commit is never proved; a true citation is never refused.

True citations are drawn from this project's own source and from files in other languages and encodings, in a repository
of their own. Each operator makes a citation false in its own way; a search of the plain text (not the code under test)
confirms that it is no whole quotation of those lines.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import bot
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.casework.checks.addresses import address_checks, resolve
from bot.casework.checks.draft_checks import check_return
from bot.casework.checks.sources import Sources
from bot.domain.questions.verdict_rules import verdict_of_checks
from bot.domain.returns import Check, EvidenceKind, EvidenceRef, InvestigatorReturn, Verdict, ref_marks
from bot.domain.search.files import is_secret_file
from bot.domain.secrets import find_secrets
from tests.gitrepo import commit_files, git, make_repo
from tests.tables import each_row

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
SOURCE = Path(bot.__file__).parent / "domain"

OTHERS: dict[str, str] = {
    "docs/limits.md": "# Limits\n\n- Never set the retry limit to zero.\n- The limit is five attempts.\n\n"
    "Retries are spread over ten minutes, so that no server is hit twice\nwithin one second of another.\n",
    "deploy/app.yml": "# Do not enable the cache in production\ncache:\n  enabled: false  # never switch it on here\n"
    "retries:\n  limit: 5\n  pause_seconds: 0.5\n",
    "db/limits.sql": "-- Rows are never deleted here\nSELECT count(*) FROM orders\nWHERE NOT is_archived = 1\n"
    "  AND amount > 10.5; -- without the fees\n",
    "web/retry.js": "/* The client must not retry\n * a payment on its own. */\nconst RETRY_LIMIT = 5;\n"
    "if (!config.retryEnabled) { throw new Error('payments are not retried here'); }\nconst WAIT_MS = 30 * 1000;\n",
    "cmd/main.go": "// Package main does not write to the database.\npackage main\n\n"
    "func limit() float64 {\n\treturn -0.5 * attemptsPerMinute // unless the flag is set\n}\n",
    "src/größe.py": "def größenlimit(x):\n    '''Nie mehr als fünf.'''\n    return not x.größe_überschritten\n",
}
CODED: dict[str, bytes] = {
    "legacy/latin.txt": "Die Größe beträgt fünf Stück.\nNicht mehr als zehn Stück.\n".encode("latin-1"),
    "legacy/wide.txt": "Das Limit ist fünf.\r\nEs gilt für alle.\r\n".encode("utf-16"),
    "legacy/mac.txt": b"first line of the file\rsecond line of the file\rthird line of the file\r",
    "legacy/data.bin": b"limit is five here\n\x00\x01\x02 attempts at most\n",
    "legacy/mixed.txt": b"caf\xc3\xa9 limit is five\ncaf\xe9 limit is six\n",
}
SECRET_FILES = {"deploy/.env": "RETRY_LIMIT=5 attempts\nPAUSE_SECONDS=30 at most\n"}


@dataclass(frozen=True, eq=False)
class Corpus:
    """The repository, its commits, and its files as plain lines."""

    path: Path
    commit: str
    dangling: str
    branch: str
    files: dict[str, list[str]]
    sources: Sources = field(repr=False)


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

    @property
    def ref(self) -> EvidenceRef:
        lines = f"{self.path}:{self.start}-{self.end}"
        return EvidenceRef(kind=EvidenceKind.FILE, ref=lines, commit=self.commit, quote=self.quote)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Return this project's modules and the other files, committed; a branch and a commit that was amended away."""
    texts = {f"bot/domain/{file.relative_to(SOURCE)}": file.read_text("utf-8") for file in sorted(SOURCE.rglob("*.py"))}
    texts = {name: text for name, text in texts.items() if text.count("\n") > 30 and not is_secret_file(name)}
    texts |= OTHERS
    path = make_repo(tmp_path_factory.mktemp("fabrications") / "repo", {**texts, **CODED, **SECRET_FILES})
    commit = git(path, "rev-parse", "HEAD")
    dangling = commit_files(path, {}, "Raise the limit, amended away")
    git(path, "reset", "--quiet", "--hard", commit)
    git(path, "checkout", "--quiet", "-b", "side")
    branch = commit_files(path, {}, "Raise the limit on a branch")
    git(path, "checkout", "--quiet", "main")
    files = {name: text.removesuffix("\n").split("\n") for name, text in texts.items()}
    return Corpus(path, commit, dangling, branch, files, Sources(GitRepo(path)))


def draw(corpus: Corpus, dice: random.Random) -> Iterator[Cited]:
    """Yield true citations of one to six whole lines, without secrets."""
    while True:
        path = dice.choice([*sorted(corpus.files), *OTHERS])
        lines = corpus.files[path]
        start = dice.randint(1, len(lines))
        end = min(len(lines), start + dice.randint(0, 5))
        first = dice.randint(start, end)
        quote = "\n".join(lines[first - 1 : end])
        if len(re.findall(r"[A-Za-z]{4,}", quote)) >= 2 and not find_secrets(quote):
            yield Cited(path, start, end, corpus.commit, dice.choice([quote, quote.strip()]))


def may_be_true(corpus: Corpus, cited: Cited) -> bool:
    """Whether a quotation stands in what it cites at all: a default of a function may repeat that of a field."""
    text = "\n".join(corpus.files.get(cited.path, [])[max(cited.start, 1) - 1 : cited.end])
    return cited.commit == corpus.commit and cited.quote.strip() in text


def missing_path(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    stem = cited.path.removesuffix(".py")
    return replace(cited, path=dice.choice([f"{stem}s.py", f"{stem}.pyi", f"src/{cited.path}", f"{stem}/x"]))


def sibling_file(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    return replace(cited, path=dice.choice([path for path in sorted(corpus.files) if path != cited.path]))


def past_the_end(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    size = len(corpus.files[cited.path])
    return replace(cited, start=dice.choice([cited.start, size + 1]), end=size + dice.randint(1, 30))


def endless_range(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    path = dice.choice([path for path, lines in sorted(corpus.files.items()) if len(lines) > 60])
    line = next(line for line in corpus.files[path] if len(line.split()) > 3)
    return replace(cited, path=path, start=1, end=dice.randint(41, 60), quote=line)


def shifted_lines(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    by = dice.choice([-1, 1]) * dice.randint(20, 60)  # further than a comment is printed whole
    return replace(cited, start=cited.start + by, end=cited.end + by)


def changed_word(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    word = dice.choice(list(re.finditer(r"[A-Za-z]{4,}", cited.quote)))
    other = dice.choice([word[0][::-1], word[0].swapcase(), word[0] + "s", word[0][1:], "never"])
    return replace(cited, quote=cited.quote[: word.start()] + other + cited.quote[word.end() :])


def changed_number(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    quote = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), cited.quote)
    return replace(cited, quote=quote)


def joined_lines(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    return replace(cited, quote=dice.choice([" ", "", " … "]).join(map(str.strip, cited.quote.strip().split("\n"))))


def dropped_line(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    lines = [line for line in cited.quote.split("\n") if line.strip(" ()[]{},")]
    return replace(cited, quote="\n".join([lines[0], *lines[2:]]))


def foreign_quote(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    return replace(cited, quote=next(other for other in draw(corpus, dice) if other.path != cited.path).quote)


def unknown_commit(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    return replace(cited, commit=f"{dice.getrandbits(160):040x}")


def commit_outside_history(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    commit = dice.choice([corpus.dangling, corpus.branch])
    return replace(cited, commit=dice.choice([commit, commit[:10], "side", "HEAD", "main"]))


def withheld(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    lines = SECRET_FILES["deploy/.env"].split("\n")
    return replace(cited, path="deploy/.env", start=1, end=2, quote=dice.choice(lines[:2]))


def no_text(corpus: Corpus, cited: Cited, dice: random.Random) -> Cited:
    path = dice.choice(["legacy/data.bin", "legacy/mixed.txt"])
    return replace(cited, path=path, start=1, end=1, quote=dice.choice(["limit is five here", "café limit is five"]))


OPERATORS: list[Callable[[Corpus, Cited, random.Random], Cited]] = [
    missing_path,
    sibling_file,
    past_the_end,
    endless_range,
    shifted_lines,
    changed_word,
    changed_number,
    joined_lines,
    dropped_line,
    foreign_quote,
    unknown_commit,
    commit_outside_history,
    withheld,
    no_text,
]
ALWAYS_FALSE = {"endless_range", "withheld", "no_text"}


def mutants(corpus: Corpus, operator: Callable[[Corpus, Cited, random.Random], Cited], count: int) -> list[Cited]:
    """Return so many citations that are false, whatever the operator happened to do."""
    dice = random.Random(operator.__name__)
    made = (operator(corpus, cited, dice) for cited in draw(corpus, dice))
    false = (one for one in made if operator.__name__ in ALWAYS_FALSE or not may_be_true(corpus, one))
    return [one for one, _ in zip(false, range(count), strict=False)]


def proof(ref: EvidenceRef, sources: Sources) -> list[Check]:
    """Return what the checks say of one citation."""
    return list(address_checks(0, ref, resolve(ref, sources)))


def mark(cited: Cited, sources: Sources) -> bool | None:
    """Return the mark of one citation."""
    return ref_marks(proof(cited.ref, sources), 1)[0]


def check(corpus: Corpus, *citations: Cited) -> Verdict:
    """Return the verdict on a draft that cites these places."""
    ledger = Ledger()
    for one in citations:
        if one.read:
            ledger.record_read(one.path, one.start, one.end, commit=one.commit, text=one.quote)
    ret = InvestigatorReturn(
        confidence=citations[-1].confidence,
        confidence_reason="The lines say so.",
        summary_for_orchestrator="The lines say so.",
        draft_reply="The answer stands in the cited lines.",
        risk="none",
        evidence_refs=tuple(one.ref for one in citations),
    )
    return verdict_of_checks(check_return(ret, repo=corpus.path, ledger=ledger), AT).verdict


@pytest.mark.parametrize(("count", "drafts"), [(30, 3), pytest.param(500, 12, marks=pytest.mark.full)])
def test_no_true_citation_is_refused(corpus: Corpus, count: int, drafts: int) -> None:
    """Whole lines that really stand there are proved, whatever their language."""
    citations = [one for one, _ in zip(draw(corpus, random.Random(4)), range(count), strict=False)]
    assert [one for one in citations if mark(one, corpus.sources) is not True] == []
    for at in range(drafts):
        assert check(corpus, *citations[at * 3 : at * 3 + 3]) is Verdict.PASS


@pytest.mark.parametrize("count", [3, pytest.param(60, marks=pytest.mark.full)])
@each_row("operator", OPERATORS)
def test_no_fabricated_citation_is_proved(
    corpus: Corpus, count: int, operator: Callable[[Corpus, Cited, random.Random], Cited]
) -> None:
    """In full over 1,000 false citations: none has a ✓; and no draft passes that has one, even beside a true one."""
    false = mutants(corpus, operator, count)
    assert [one for one in false if mark(one, corpus.sources) is True] == []
    truth = next(draw(corpus, random.Random(7)))
    assert check(corpus, truth) is Verdict.PASS
    assert check(corpus, truth, false[0]) is Verdict.BOUNCE or operator is no_text


@each_row(
    "path, line, quote",
    [
        ("legacy/latin.txt", 1, "Die Größe beträgt fünf Stück."),
        ("legacy/wide.txt", 2, "Es gilt für alle."),
        ("legacy/mac.txt", 2, "second line of the file"),
        ("web/retry.js", 3, "const RETRY_LIMIT = 5"),
        ("web/retry.js", 4, "throw new Error('payments are not retried here')"),
        ("deploy/app.yml", 1, "Do not enable the cache in production"),
        ("deploy/app.yml", 3, "enabled: false"),
        ("db/limits.sql", 2, "count(*) FROM orders"),
        ("docs/limits.md", 4, "The limit is five attempts."),
    ],
)
def test_true_citations_of_other_files_and_parts_of_lines(corpus: Corpus, path: str, line: int, quote: str) -> None:
    """Other encodings, parts of code lines between tokens, comments and list items without their marks."""
    assert mark(Cited(path, line, line, corpus.commit, quote), corpus.sources) is True


def test_what_a_withheld_file_holds_cannot_be_told(corpus: Corpus) -> None:
    """A right quote, a wrong one, a line too many and a file that is not there have one answer."""
    tried = [("deploy/.env", 1, "RETRY_LIMIT=5 attempts"), ("deploy/.env", 1, "x"), ("deploy/.env", 99, "x")]
    absent = ("deploy/no.env", 1, "x")
    answers = [
        proof(Cited(path, line, line, corpus.commit, quote).ref, corpus.sources)
        for path, line, quote in (*tried, absent)
    ]
    said = {(len(checks), checks[0].ok, re.sub(r"^\S+ ", "", checks[0].reason)) for checks in answers}
    assert len(said) == 1


@each_row("confidence", ["medium", "high"])
def test_a_true_citation_of_lines_that_were_not_read_does_not_pass(corpus: Corpus, confidence: str) -> None:
    """What a search showed, or nobody opened, carries no confidence."""
    cited = next(draw(corpus, random.Random(9)))
    assert check(corpus, replace(cited, confidence=confidence)) is Verdict.PASS
    assert check(corpus, replace(cited, confidence=confidence, read=False)) is Verdict.BOUNCE
