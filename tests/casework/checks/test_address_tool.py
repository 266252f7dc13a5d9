"""The validator opens every kind of address with one tool, and its ledger says what it opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import NoteFiles
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.tools.base import Tool, ToolProblem
from bot.casework.checks.address_tool import OpenAddress, address_tool, was_opened
from bot.casework.checks.sources import Sources
from bot.domain.returns import EvidenceKind, EvidenceRef
from tests.gitrepo import commit_files, make_repo, write_files
from tests.tables import each_row

TOKEN = "ghp_" + "aB3dE5" * 6


class Judge:
    """A draft's citations, their sources, and the tool of whoever judges them."""

    def __init__(self, folder: Path) -> None:
        code = make_repo(folder / "code", {"a.py": "A = 1\n", "deploy/.env": "A=1\n"})
        self.sha = commit_files(code, {"a.py": f"A = 2\nKEY = '{TOKEN}'\n"}, "Raise A")
        write_files(folder / "memory", {"limits.md": "# Limits\nFive.\n"})
        done = Ledger().record_query("logs__query", "up", "one\ntwo\nthree")
        self.sources = Sources(GitRepo(code), done, NoteFiles(folder / "memory"))
        self.refs = (
            EvidenceRef(kind=EvidenceKind.FILE, ref="a.py:1", commit=self.sha),
            EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=self.sha[:8], commit=self.sha),
            EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref="1:2-3"),
            EvidenceRef(kind=EvidenceKind.MEMORY, ref="limits.md:2"),
        )
        self.ledger = Ledger()
        self.tool: Tool = address_tool(self.refs, self.sources, self.ledger)

    def __call__(self, address: str) -> str:
        return self.tool.call(OpenAddress(address=address))


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Has opened nothing yet."""
    return Judge(tmp_path)


@each_row("index, line", [(0, "1| A = 2"), (1, "1| Raise A"), (2, "2| two"), (3, "2| Five.")])
def test_each_citation_can_be_opened(tmp_path: Path, index: int, line: str) -> None:
    """As it is written in the draft; after that, and not before, the ledger shows it."""
    judge = Judge(tmp_path)
    ref = judge.refs[index]
    assert was_opened(ref, judge.sources, judge.ledger) is False
    assert line in judge(ref.ref).split("\n")
    assert was_opened(ref, judge.sources, judge.ledger) is True


def test_addresses_beside_the_citations_can_be_opened(judge: Judge) -> None:
    """Other lines, other results, other commits: to break a draft is to look elsewhere."""
    assert "2| KEY = '[redacted: GitHub token]'" in judge("a.py:1-2")
    assert "1| one" in judge("1:1")
    assert "1| # Limits" in judge("`memory/limits.md:1`")
    assert "> -A = 1" in judge(judge.sha)
    assert TOKEN not in judge(judge.sha)


@each_row("address", ["a.py", "b.py:1", "a.py:1-99", "deploy/.env:1", "2:1", "f" * 40, "memory/none.md:1", "x" * 400])
def test_what_is_not_there_is_a_problem_told_to_the_model(tmp_path: Path, address: str) -> None:
    """And nothing is noted as opened."""
    judge = Judge(tmp_path)
    with pytest.raises(ToolProblem):
        judge(address)
    assert judge.ledger.reads == []
