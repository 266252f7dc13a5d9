"""Errors planted in true drafts: each makes them wrong, and the code checks catch what they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.casework.checks.draft_checks import check_return
from bot.casework.evaluation.planted_errors import IN_CITATION, PlantedKind, Stated, with_statement, wrong_citations
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
    for number in range(4):
        true = shop.quoting(3, 8, lead=f"Closest lines, {number}:")
        planted = wrong_citations(true, shop.repos)
        assert set(planted) == set(IN_CITATION)
        assert planted == wrong_citations(true, shop.repos)
        for kind, wrong in planted.items():
            assert shop.failed(wrong) & {"ref[0].resolves", "ref[0].quote"}, (kind, wrong.evidence_refs)


def test_an_error_in_a_statement_is_for_a_validator(shop: Shop) -> None:
    """Places and quotes are all true; the number put in stands nowhere in the evidence."""
    true, planted = shop.stating(3, 8)
    assert set(planted) == set(PlantedKind) - set(IN_CITATION)
    for wrong in planted.values():
        assert wrong.draft_reply != true.draft_reply
        assert not shop.failed(wrong) & {"ref[0].resolves", "ref[0].quote", "draft.places", "grounded"}
    assert planted[PlantedKind.STATED_NEGATION].draft_reply.startswith("`MAX_ATTEMPTS` is not 5 (")
    number = planted[PlantedKind.STATED_NUMBER].draft_reply.split(" is ")[1].split()[0]
    assert number not in CODE


def test_a_definition_is_stated_where_no_value_is(shop: Shop) -> None:
    """It can be negated; it has no number. Where the lines state neither, nothing is put in."""
    true, planted = shop.stating(7, 8)
    assert true.draft_reply.startswith("`may_retry` is defined there (")
    assert shop.failed(true) == set()
    assert [one.draft_reply.split(" (")[0] for one in planted.values()] == ["`may_retry` is not defined there"]
    assert with_statement(shop.quoting(1, 2)) is None


def test_what_is_no_error_is_not_planted(shop: Shop) -> None:
    """A word and a number cannot be altered where there is one or none; all lines cannot be moved."""
    assert set(wrong_citations(shop.quoting(1, 14), shop.repos)) == set(IN_CITATION) - {PlantedKind.LINES}
    assert PlantedKind.NUMBER not in wrong_citations(shop.quoting(1, 2), shop.repos)
    assert wrong_citations(a_return("Nothing.", evidence_refs=()), shop.repos) == {}
