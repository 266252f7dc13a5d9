"""Which of several codebases a question is about, and the draft that is made in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.agent.codebases import Codebases
from bot.agent.ledger import Ledger
from bot.casework.checks.draft_checks import check_return
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.code_findings import (
    CodeFindings,
    choose_codebase,
    qualified,
    search_codebases,
)
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.questions.approval_basis import OFFLINE
from bot.domain.returns import EvidenceKind, EvidenceRef, Usage
from bot.domain.threads import QuestionType
from tests.builders import a_return
from tests.codebases import INFRA, SHOP, make_codebases
from tests.tables import each_row

TRACE = 'Why?\nTraceback (most recent call last):\n  File "deploy/queue.py", line 2, in scale_workers\nKeyError: cart\n'


@pytest.fixture
def code(tmp_path: Path) -> Codebases:
    """The shop and its machines, indexed; both know carts and queues by name."""
    shop = {**SHOP, "docs/notes.md": "The queue of the cart.\n"}
    infra = {**INFRA, "docs/notes.md": "The cart in the queue.\n", "src/app.py": "def start():\n    return 1\n"}
    several = make_codebases(tmp_path, shop=shop, infra=infra)
    for one in several:
        one.index.refresh()
    return several


@each_row(
    "question, chosen",
    [
        ("In infra, how is an item added to the cart?", "infra"),
        ("How is an item added to a cart in the infra repo?", "infra"),
        ("infra: how is an item added to the cart?", "infra"),
        ("How is an item added to the cart?", "shop"),
        ("How deep must the queue be for more workers?", "infra"),
        (TRACE, "infra"),
        ("what of the cart is in deploy/queue.py?", "infra"),
        ("does `scale_workers` know the cart?", "infra"),
        ("what does add_to_cart do when the queue is full?", "shop"),
    ],
)
def test_names_frames_paths_and_code_decide_before_the_ranking(code: Codebases, question: str, chosen: str) -> None:
    """Each against a question whose words point elsewhere."""
    assert choose_codebase(question, code).id == chosen


HANDBOOK = {
    "snippets/queue.py": "def scale_workers(queue):\n    return queue\n",
    "workers.md": "# Workers\n\nFor a queue, scale_workers returns how many workers the queue gets.\n",
    "deploy/queue.py": "def start():\n    scale_workers(1)\n",
    "oncall.md": "# On call\n\nWho is paged answers within 15 minutes.\n",
}


@each_row(
    "question, as_code, as_docs",
    [
        (f'{TRACE}\n  File "snippets/queue.py", line 2, in scale_workers\n', "handbook", "infra"),
        ("How many workers does `scale_workers` return for a queue?", "handbook", "infra"),
        ("Within how many minutes does who is paged answer?", "handbook", "handbook"),
        ("In the handbook, what does `scale_workers` do?", "handbook", "handbook"),
    ],
)
def test_a_handbook_is_no_place_of_frames_and_definitions(
    tmp_path: Path, question: str, as_code: str, as_docs: str
) -> None:
    """Its examples look like code; its pages are found as before."""
    for place, docs, chosen in (("code", (), as_code), ("docs", ("handbook",), as_docs)):
        code = make_codebases(tmp_path / place, docs, handbook=HANDBOOK, infra=INFRA)
        for one in code:
            one.index.refresh()
        assert choose_codebase(question, code).id == chosen


def asked_of(question: str, *among: str) -> Assignment:
    return Assignment(
        question=question, question_type=QuestionType.TECHNICAL_QA, rubric="", round=1, codebases=tuple(among)
    )


def test_a_draft_cites_its_codebase_and_passes_every_check(code: Codebases) -> None:
    """In the reply, in the evidence and in the ledger."""
    offline = CodeFindings(code, within=OfflineInvestigator.in_codebase)
    found = offline.investigate(asked_of("What scales the workers of the queue?"), run_id="r1")
    assert found.ret.evidence_refs[0].ref.startswith("infra:deploy/queue.py:")
    assert f"`{found.ret.evidence_refs[0].ref}`" in found.ret.draft_reply
    checks = check_return(found.ret, repo=code, ledger=found.ledger)
    assert [check for check in checks if check.ok is False] == []


def test_a_candidate_names_its_codebase_too() -> None:
    """In its place and in its sentence: it may become the draft."""
    ref = EvidenceRef(kind=EvidenceKind.FILE, ref="a.py:1", supports_claim="`go` is defined in `a.py:1`.")
    found = qualified(
        Investigation(ret=a_return(candidates=(ref,)), ledger=Ledger(), usage=Usage(), investigator=OFFLINE), "infra:"
    )
    [named] = found.ret.candidates
    assert (named.ref, named.supports_claim) == ("infra:a.py:1", "`go` is defined in `infra:a.py:1`.")


def test_a_channel_is_answered_from_its_own_codebases(code: Codebases) -> None:
    """However much better the other ones fit."""
    offline = CodeFindings(code, within=OfflineInvestigator.in_codebase)
    asked = asked_of("How deep must the queue be for more workers?", "shop")
    refs = offline.investigate(asked, run_id="r1").ret.evidence_refs
    assert all(ref.ref.startswith("shop:") for ref in refs)


def test_one_that_cannot_be_read_is_left_out_and_said(code: Codebases, tmp_path: Path) -> None:
    """The others go on answering."""
    (tmp_path / "infra" / ".git" / "HEAD").write_text("broken")
    offline = CodeFindings(code, within=OfflineInvestigator.in_codebase)
    found = offline.investigate(asked_of("What does add_to_cart return?"), run_id="r1")
    assert found.ret.evidence_refs[0].ref.startswith("shop:")
    assert (found.ret.not_searched or "").startswith("infra: ")


def test_the_only_codebase_is_cited_without_a_name(tmp_path: Path) -> None:
    """As ever."""
    one = make_codebases(tmp_path, shop=SHOP)
    offline = CodeFindings(one, within=OfflineInvestigator.in_codebase)
    found = offline.investigate(asked_of("What does add_to_cart return?"), run_id="r1")
    assert found.ret.evidence_refs[0].ref.startswith("src/cart.py:")


def test_a_search_ranks_all_of_them_together(code: Codebases) -> None:
    """Each passage under the path to cite."""
    paths = [one.path for one in search_codebases("cart queue", code, limit=8)]
    assert {path.partition(":")[0] for path in paths} == {"shop", "infra"}
    assert search_codebases("In infra, the cart", code, limit=1)[0].path.startswith("infra:")
    assert search_codebases(TRACE, code, limit=1)[0].path == "infra:deploy/queue.py"
