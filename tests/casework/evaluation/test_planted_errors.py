"""Errors planted in true drafts: each makes them wrong, and the code checks catch what they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.casework.checks.draft_checks import check_return
from bot.casework.evaluation.planted_errors import IN_CITATION, Stated, with_statement, wrong_citations
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn
from tests.builders import a_return
from tests.gitrepo import git, make_repo

CODE = """# How often a payment is tried again.
# Read by the worker at its start.
MAX_ATTEMPTS = 5
PAUSE_S = 30


def may_retry(attempt: int) -> bool:
    return attempt < MAX_ATTEMPTS and not is_closed()


def is_closed() -> bool:
    # The clock of the machine counts here.
    return hour() == 22
"""


class Shop:
    """A repository with one file, and true drafts about it."""

    def __init__(self, folder: Path) -> None:
        self.path = make_repo(folder, {"app/retry.py": CODE, "README.md": "# shop\n\nIt sells things.\n"})
        self.commit = git(self.path, "rev-parse", "HEAD")
        self.repos = GitRepo(self.path)

    def quoting(self, start: int, end: int, lead: str = "Closest lines:") -> InvestigatorReturn:
        """Return a draft that only quotes lines."""
        place, quote = f"app/retry.py:{start}-{end}", "\n".join(CODE.splitlines()[start - 1 : end])
        proof = EvidenceRef(kind=EvidenceKind.FILE, ref=place, commit=self.commit, quote=quote)
        return a_return(f"{lead}\n\n`{place}`\n```\n{quote}\n```", evidence_refs=(proof,))

    def stating(self, start: int, end: int) -> Stated:
        """Return such a draft with a statement put in."""
        stated = with_statement(self.quoting(start, end))
        assert stated is not None
        return stated

    def failed(self, ret: InvestigatorReturn) -> set[str]:
        """Return the checks that fail; everything was read."""
        ledger = Ledger().record_read("app/retry.py", 1, 30, commit=self.commit, text=CODE)
        return {one.name for one in check_return(ret, repo=self.path, ledger=ledger) if one.ok is False}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop."""
    return Shop(tmp_path_factory.mktemp("planted") / "repo")


def test_the_true_drafts_pass_every_check(shop: Shop) -> None:
    """So that whatever is caught is the planted error."""
    assert shop.failed(shop.quoting(3, 8)) == shop.failed(shop.stating(3, 8).ret) == set()
    assert shop.stating(3, 8).ret.draft_reply.startswith("`MAX_ATTEMPTS` is 5 (`app/retry.py:3-8`).")


def test_an_error_in_a_citation_is_caught_by_code(shop: Shop) -> None:
    """Of each kind, whatever the draft, and for the citation alone: the draft's words were changed along with it."""
    for number in range(1):
        true = shop.quoting(3, 8, lead=f"Closest lines, {number}:")
        planted = wrong_citations(true, shop.repos)
        assert set(planted) == set(IN_CITATION)
        assert planted == wrong_citations(true, shop.repos)
        for kind, wrong in planted.items():
            assert shop.failed(wrong) & {"ref[0].resolves", "ref[0].quote"}, (kind, wrong.evidence_refs)
