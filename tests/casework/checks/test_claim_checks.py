"""A draft names no place that no proved citation holds."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from bot.agent.ledger import Ledger
from bot.casework.checks.draft_checks import check_return
from bot.domain.returns import Check, EvidenceKind, EvidenceRef, InvestigatorReturn
from tests.gitrepo import commit_files, git, make_repo
from tests.tables import each_row

APP = (
    "import config\n\nRETRY_LIMIT = 5\nPAUSE_S = config.load('app/pauses.yml')\n\n\ndef f():\n    return RETRY_LIMIT\n"
)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files in two commits."""
    path = make_repo(
        tmp_path_factory.mktemp("places") / "repo",
        {"shop/app.py": APP, "shop/other.py": "x = 1\n", "shop/idle.py": "y = 1\n"},
    )
    commit_files(path, {"shop/other.py": "x = 2\n", ".env": "A=1\n"}, "Raise x to two")
    return path


@cache
def newest(repo: Path) -> str:
    return git(repo, "rev-parse", "HEAD")


def checked(repo: Path, draft: str, *, quote: str = "RETRY_LIMIT = 5", claim: str = "") -> Check:
    """Return the check of a draft that cites three lines of one file, and its newest commit."""
    head = newest(repo)
    refs = (
        EvidenceRef(
            kind=EvidenceKind.FILE, ref="shop/app.py:3-5", commit=head, quote=quote, supports_claim=claim or "It is 5."
        ),
        EvidenceRef(kind=EvidenceKind.FILE, ref="shop/app.py:8", commit=head, quote="    return RETRY_LIMIT"),
        EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=head[:9], quote="Raise x to two"),
        EvidenceRef(kind=EvidenceKind.FILE, ref="shop/other.py:1", commit=head, quote="x = 3"),
    )
    ret = InvestigatorReturn(
        confidence="low",
        confidence_reason="x",
        summary_for_orchestrator="x",
        draft_reply=draft,
        evidence_refs=refs,
    )
    return next(one for one in check_return(ret, repo=repo, ledger=Ledger()) if one.name == "draft.places")


@each_row(
    "draft",
    [
        "It is 5.",
        "It is 5, see `shop/app.py`.",
        "It is 5 (app.py:3), and so in shop/app.py:3-5.",
        "It is 5, line 4 of repo/shop/app.py.",
        "It is 5, see line 8 there.",
        "It is 5, see `shop.app:4` and shop::app:8; redis.shop:6379 and shop.pods.svc:8080 answer, shop.net:443 too.",
        "`shop.RETRY_LIMIT` says 5.",
        "`shop.config` is loaded, and so `config.load` says.",
        "According to `os.path` it exists.",
        "The pause comes from `app/pauses.yml`.",
        "The last commit changed `shop/other.py`.",
        "It is 5, see lines three to five of app.py.",
        "It is `shop.app.RETRY_LIMIT`, and `shop.app` reads `config.load`.",
        "It uses `asyncio.run`, `os.path.join`, `self.shop.name` and response.data.items of api.shop.example.com.",
        "Run `python -m shop.refunds`.",
        "The last commit changed `shop.other`.",
        "```\nRETRY_LIMIT = 5\n```\nstands in [app.py](shop/app.py#L3-L5).",
    ],
)
def test_places_inside_proved_citations_are_fine(repo: Path, draft: str) -> None:
    """The file by name, lines within those cited, a file that a quote names, one that a cited commit changed."""
    found = checked(repo, draft, quote="RETRY_LIMIT = 5\nPAUSE_S = config.load('app/pauses.yml')")
    assert found.ok is True, found.reason


@each_row(
    "draft, named",
    [
        ("It fails in `shop/payments.py:88`.", "shop/payments.py:88"),
        ("It fails in `shop/payments.py`.", "shop/payments.py"),
        ("It fails in shop/app.py:2.", "shop/app.py:2"),
        ("It fails in shop/app.py:3-8.", "shop/app.py:3-8"),
        ("It fails in shop/app.py:3-900000000.", "shop/app.py:3-900000000"),
        ("It fails in `shop/app.py` line 88.", "shop/app.py:88"),
        ("It fails on line 88.", "line 88"),
        ("It fails in other.py:1.", "other.py:1"),
        ("It fails since commit abc1234.", "commit abc1234"),
        ("The secret is in .env:1 and shop/secrets.yml:3.", ".env:1, shop/secrets.yml:3"),
        ("It fails in payments.py.", "payments.py"),
        ("It fails in app.py around 88.", "app.py:88"),
        ("It fails in app.py, 88.", "app.py:88"),
        ("It fails at app.py [88].", "app.py:88"),
        ("It fails in row 88 of app.py.", "app.py:88"),
        ("It fails in app.py Ln 88, Col 3.", "app.py:88"),
        ("It fails on line number 88.", "line 88"),
        ("It fails on the 88th line.", "line 88"),
        ("It fails at #L88.", "line 88"),
        ("It fails on lines 3, 4, and 88 of shop/app.py.", "line 88"),
        ("It fails in shop/app.py:3/88.", "shop/app.py:88"),
        ("It fails in shop/app.py:3..88.", "shop/app.py:88"),
        ("It fails in shop.app:26.", "shop.app:26"),
        ("It fails in shop.app:1088.", "shop.app:1088"),
        ("It fails in `shop.idle:1`.", "shop.idle:1"),
        ("It fails in shop.refunds:26.", "shop.refunds:26"),
        ("It fails in `shop::app:26`.", "shop.app:26"),
        ("It was reverted: `3ea8564`.", "commit 3ea8564"),
        ("Ben's 3ea8564 broke it.", "commit 3ea8564"),
        ("Look at 3ea8564a91509a03b34e8a6af6efa44f5e3a1e58.", "commit 3ea8564a91509a03b34e8a6af6efa44f5e3a1e58"),
        ("See https://github.com/a/b/blob/main/shop/refunds.py", "shop/refunds.py"),
        ("**refunds.py** decides.", "refunds.py"),
        ("deploy/Dockerfile says so.", "deploy/Dockerfile"),
        ("The Makefile sets it.", "Makefile"),
        ("It fails on line eighty-eight.", "line 88"),
        ("It fails on lines three to nine.", "line 3-9"),
        ("It fails in `shop/app.py@88`.", "shop/app.py:88"),
        ("The first 90 lines of app.py set it.", "app.py:1-90"),
        ("`shop.payments.charge` sets it.", "shop.payments.charge"),
        ("The module `shop.refunds` sets it.", "shop.refunds"),
        ("`shop.idle.limit()` sets it.", "shop.idle.limit"),
        ("`shop.idle` sets it.", "shop.idle"),
        ("`shop.refunds` says it is 5.", "shop.refunds"),
        ("According to shop.refunds it is 5.", "shop.refunds"),
        ("The `shop.refunds` module sets it.", "shop.refunds"),
        ("Laut `shop.refunds` sind es 5.", "shop.refunds"),
        ("`shop.refunds` dice que son 5.", "shop.refunds"),
        ("Segundo shop.refunds são 5.", "shop.refunds"),
        ("Selon `shop.refunds`, c'est 5.", "shop.refunds"),
        ("`shop.refunds` menyatakan 5.", "shop.refunds"),
        ("`shop.refunds`によると5です。", "shop.refunds"),
        ("根据 `shop.refunds` 是 5。", "shop.refunds"),
        ("It fails in xapp.py and app.pyx.", "xapp.py, app.pyx"),
    ],
)
def test_a_place_no_proved_citation_holds_fails_the_check(repo: Path, draft: str, named: str) -> None:
    """However many other citations are true: the reader would take the ✓ for this place too."""
    found = checked(repo, draft)
    assert found.ok is False
    assert named in found.reason


def test_commits_are_those_cited_or_read_at(repo: Path) -> None:
    """By any length of their ids; another commit of the history is not cited, nor is an id that goes on otherwise."""
    head, first = git(repo, "rev-parse", "HEAD"), git(repo, "rev-parse", "HEAD~1")
    assert checked(repo, f"Changed in commit {head[:8]}, that is {head}.").ok is True
    assert checked(repo, f"Changed in commit {first[:8]}.").ok is False
    wrong = head[:12] + ("0" if head[12] != "0" else "1")
    assert checked(repo, f"Changed in commit {wrong}.").ok is False


def test_the_claims_beside_the_marks_are_looked_at_too(repo: Path) -> None:
    """A claim stands next to its ✓ on the card."""
    assert checked(repo, "It is 5.", claim="payments.py:88 charges twice.").ok is False
    assert checked(repo, "It is 5.", claim="shop/app.py:3 sets it.").ok is True
