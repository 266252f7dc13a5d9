"""Errors planted in true drafts: each makes them wrong, and the code checks catch what they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.casework.checks.draft_checks import check_return
from bot.casework.evaluation.planted_citations import Source
from bot.casework.evaluation.planted_errors import STATED, PlantedKind, plant
from bot.casework.evaluation.planted_statements import states_anything, with_statement
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
SEEDS = [str(number) for number in range(12)]


class Shop:
    """A repository with one file, and a true draft about it."""

    def __init__(self, folder: Path) -> None:
        self.path = make_repo(folder, {"app/retry.py": CODE, "README.md": "# shop\n\nIt sells things.\n"})
        self.commit = git(self.path, "rev-parse", "HEAD")
        self.source = Source(repos=GitRepo(self.path))
        quote = "\n".join(CODE.splitlines()[2:8])
        proof = EvidenceRef(kind=EvidenceKind.FILE, ref="app/retry.py:3-8", commit=self.commit, quote=quote)
        self.quoting = a_return(f"Closest lines:\n\n`{proof.ref}`\n```\n{quote}\n```", evidence_refs=(proof,))
        stating = with_statement(self.quoting)
        assert stating is not None
        self.stating = stating

    def failed(self, ret: InvestigatorReturn) -> set[str]:
        """Return the checks that fail; everything was read."""
        ledger = Ledger().record_read("app/retry.py", 1, 30, commit=self.commit, text=CODE)
        return {one.name for one in check_return(ret, repo=self.path, ledger=ledger) if one.ok is False}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop."""
    return Shop(tmp_path_factory.mktemp("planted") / "repo")


def test_the_true_drafts_pass_every_check(shop: Shop) -> None:
    """So that whatever is caught is the planted error; a draft that only quotes states nothing."""
    assert shop.failed(shop.quoting) == shop.failed(shop.stating) == set()
    assert not states_anything(shop.quoting)
    assert states_anything(shop.stating)
    assert shop.stating.draft_reply.startswith("`MAX_ATTEMPTS` is 5 (`app/retry.py:3-8`).")


@pytest.mark.parametrize("kind", sorted(set(PlantedKind) - STATED))
def test_an_error_in_a_citation_is_caught_by_code(shop: Shop, kind: PlantedKind) -> None:
    """Whatever the seed, and for the citation alone: the draft's words were changed along with it."""
    for seed in SEEDS:
        wrong = plant(kind, shop.quoting, shop.source, seed=seed)
        assert wrong is not None
        assert wrong.evidence_refs != shop.quoting.evidence_refs
        assert shop.failed(wrong) & {"ref[0].resolves", "ref[0].quote"}, (seed, wrong.evidence_refs)


@pytest.mark.parametrize("kind", sorted(STATED))
def test_an_error_in_a_statement_is_for_a_validator(shop: Shop, kind: PlantedKind) -> None:
    """Places and quotes are all true; a draft that states nothing cannot have one."""
    assert plant(kind, shop.quoting, shop.source, seed="0") is None
    for seed in SEEDS:
        wrong = plant(kind, shop.stating, shop.source, seed=seed)
        assert wrong is not None
        assert wrong.draft_reply != shop.stating.draft_reply
        assert not shop.failed(wrong) & {"ref[0].resolves", "ref[0].quote", "draft.places", "grounded"}


def test_what_stands_in_the_evidence_is_no_error(shop: Shop) -> None:
    """A number that a quote holds is not put in, nor a name beside the same number; a comment that is cited is true."""
    for seed in SEEDS:
        number = plant(PlantedKind.STATED_NUMBER, shop.stating, shop.source, seed=seed)
        assert number is not None
        said = number.draft_reply.split(" is ")[1].split()[0]
        assert said not in CODE
        name = plant(PlantedKind.STATED_NAME, shop.stating, shop.source, seed=seed)
        assert name is not None
        assert not name.draft_reply.startswith("`MAX_ATTEMPTS`")
        comment = plant(PlantedKind.COMMENT, shop.stating, shop.source, seed=seed)
        assert comment is not None
        assert comment.evidence_refs[0].quote in CODE
        assert "5" not in comment.evidence_refs[0].quote


def test_a_seed_plants_the_same_errors(shop: Shop) -> None:
    """And another seed others."""
    planted = [plant(PlantedKind.WORD, shop.quoting, shop.source, seed=seed) for seed in (*SEEDS, *SEEDS)]
    assert planted[: len(SEEDS)] == planted[len(SEEDS) :]
    assert len({str(one) for one in planted}) > 1


def test_a_definition_is_stated_where_no_value_is(shop: Shop) -> None:
    """It can be negated, said of something else, and cited to a comment; it has no number."""
    quote = "\n".join(CODE.splitlines()[6:8])
    proof = EvidenceRef(kind=EvidenceKind.FILE, ref="app/retry.py:7-8", commit=shop.commit, quote=quote)
    stating = with_statement(a_return("Closest lines:", evidence_refs=(proof,)))
    assert stating is not None
    assert stating.draft_reply.startswith("`may_retry` is defined there")
    assert shop.failed(stating) == set()
    assert plant(PlantedKind.STATED_NUMBER, stating, shop.source, seed="0") is None
    negated = plant(PlantedKind.STATED_NEGATION, stating, shop.source, seed="0")
    assert negated is not None
    assert "`may_retry` is not defined there" in negated.draft_reply
    assert plant(PlantedKind.STATED_NAME, stating, shop.source, seed="0") is not None
    assert plant(PlantedKind.COMMENT, stating, shop.source, seed="0") is not None
