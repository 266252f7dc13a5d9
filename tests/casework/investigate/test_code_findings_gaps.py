"""A draft is told with what its search could not read, and is never lost for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.code_findings import NO_INDEX, CodeFindings
from bot.domain.questions.rubrics import question_type_of
from bot.domain.returns import Usage
from tests.builders import a_return
from tests.gitrepo import git, make_repo
from tests.samples import RETRY

QUESTION = "How often is a request sent again?"


class Reader:
    """An investigator that used no index."""

    def investigate(self, assignment: Assignment, **_: object) -> Investigation:
        ret = a_return(assignment.question)
        return Investigation(ret=ret, ledger=None, usage=Usage(), investigator="m")


def not_searched(repo: Path, database: Path) -> str | None:
    """Return what is said beside the draft of an investigator over a repository."""
    repository = GitRepo(repo)
    index = SqlitePassageIndex(repository, database)
    asked = Assignment(question=QUESTION, question_type=question_type_of(QUESTION), rubric="", round=1)
    codebases = Codebases.named([("", repository, index)])
    found = CodeFindings(codebases, Reader()).investigate(asked, run_id="r1")
    assert found.ret.draft_reply == QUESTION
    return found.ret.not_searched


def test_the_gaps_of_the_index_stand_beside_the_draft(tmp_path: Path) -> None:
    """Whoever wrote it; none are mentioned where all was read."""
    repo = make_repo(tmp_path / "code", {"src/transport.py": RETRY, "lost.py": "A = 1\n"})
    assert not_searched(repo, tmp_path / "whole.sqlite") is None
    blob = git(repo, "rev-parse", "HEAD:lost.py")
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert not_searched(repo, tmp_path / "passages.sqlite") == "1 file that git cannot read, lost.py"


def test_an_index_that_cannot_be_used_costs_no_draft(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """That is said instead."""
    repo = make_repo(tmp_path / "code", {"src/transport.py": RETRY})
    (tmp_path / "file").write_text("")
    assert not_searched(repo, tmp_path / "file" / "passages.sqlite") == NO_INDEX
    assert "gaps" in caplog.text
