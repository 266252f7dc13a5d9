"""How often a question asks git where the codebases stand: once for each, however many there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebase, Codebases
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.code_findings import CodeFindings, choose_codebase
from bot.domain.returns import Usage
from bot.domain.threads import QuestionType
from tests.builders import a_return
from tests.codebases import INFRA, SHOP
from tests.gitrepo import make_repo

TRACE = 'Why?\nTraceback (most recent call last):\n  File "deploy/queue.py", line 2, in scale_workers\nKeyError: cart\n'


class CountedRepo(GitRepo):
    """A repository that counts how often it is asked for HEAD."""

    head_calls = 0

    def head(self) -> str:
        self.head_calls += 1
        return super().head()


@pytest.fixture
def repos(tmp_path: Path) -> dict[str, CountedRepo]:
    """A shop, its machines and a third one without any of their files."""
    files = {"shop": SHOP, "infra": INFRA, "mail": {"src/mail.py": "def send(mail):\n    return mail\n"}}
    return {name: CountedRepo(make_repo(tmp_path / name, of)) for name, of in files.items()}


@pytest.fixture
def code(repos: dict[str, CountedRepo], tmp_path: Path) -> Codebases:
    """Their codebases, indexed, with nothing counted yet."""
    found = Codebases.named(
        (name, repo, SqlitePassageIndex(repo, tmp_path / "index" / f"{name}.sqlite")) for name, repo in repos.items()
    )
    for one in found:
        one.index.refresh()
    for repo in repos.values():
        repo.head_calls = 0
    return found


class Reader:
    """An investigator that asks git nothing."""

    def __init__(self, codebase: Codebase) -> None:
        self.codebase = codebase

    def investigate(self, assignment: Assignment, **_: object) -> Investigation:
        ret = a_return(f"{self.codebase.id}: {assignment.question}")
        return Investigation(ret=ret, ledger=None, usage=Usage(), investigator="m")


@pytest.mark.parametrize("question", ["How deep must the queue be for more workers?", TRACE])
def test_a_question_asks_every_codebase_for_head_once(
    code: Codebases, repos: dict[str, CountedRepo], question: str
) -> None:
    """But for the one whose file a frame names, which the choice asks again."""
    asked = Assignment(question=question, question_type=QuestionType.TECHNICAL_QA, rubric="", round=1)
    found = CodeFindings(code, within=Reader).investigate(asked, run_id="r1")
    assert found.ret.draft_reply.startswith("infra:")
    is_trace = question == TRACE
    assert {name: repo.head_calls for name, repo in repos.items()} == {"shop": 1, "infra": 1 + is_trace, "mail": 1}


def test_frames_ask_only_those_for_head_that_have_their_files(code: Codebases, repos: dict[str, CountedRepo]) -> None:
    """The indexes know the names of files."""
    assert choose_codebase(TRACE, code).id == "infra"
    assert {name: repo.head_calls for name, repo in repos.items()} == {"shop": 0, "infra": 1, "mail": 0}
