"""The tools of a model over several codebases of one team."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.storage.files.file_engine import NoteFiles
from bot.agent.codebases import Codebases
from bot.agent.ledger import Ledger
from bot.agent.tools.base import ToolProblem
from bot.agent.tools.codebase_tools import investigator_tools
from bot.casework.checks.sources import stale_citations
from tests.codebases import SHOP, make_codebases
from tests.fakes import MemoryJournal
from tests.gitrepo import commit_files, git
from tests.tables import each_row


class Tools:
    """The investigator's tools over some codebases, called as a model calls them."""

    def __init__(self, code: Codebases, base: Path) -> None:
        (base / "memory").mkdir(exist_ok=True)
        self.ledger = Ledger()
        kept = NoteFiles(base / "memory")
        notes = WordNoteIndex(kept, MemoryJournal(), partial(stale_citations, code))
        tools = investigator_tools(code, notes, kept, self.ledger)
        self.known = {tool.name: tool for tool in tools}

    def __call__(self, tool: str, **arguments: Any) -> str:
        chosen = self.known[tool]
        assert chosen.arguments is not None
        return chosen.call(chosen.arguments.model_validate(arguments))


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """Over the shop and its machines."""
    return Tools(make_codebases(tmp_path), tmp_path)


def test_a_file_is_read_in_the_codebase_that_is_named(tools: Tools) -> None:
    """Before the path; the ledger knows which."""
    assert "LIMIT = 7" in tools("read_file", path="infra:src/both.py")
    assert "shop:src/both.py lines 1-1" in tools("read_file", path="shop:src/both.py")
    assert [read.path for read in tools.ledger.reads] == ["infra:src/both.py", "shop:src/both.py"]


@each_row(
    "arguments, says",
    [
        ({"path": "src/both.py"}, "begin the path with its codebase and a colon: shop, infra"),
        ({"path": "payroll:src/both.py"}, "begin the path with its codebase"),
        ({"path": "shop:infra:src/both.py"}, "there is no file"),
        ({"path": "shop:../infra/src/both.py"}, "leads out"),
        ({"path": "shop:/etc/passwd"}, "leads out"),
    ],
)
def test_what_leads_nowhere_is_told_to_the_model(tools: Tools, arguments: dict[str, str], says: str) -> None:
    """And nothing stands in the ledger as read."""
    with pytest.raises(ToolProblem, match=says):
        tools("read_file", **arguments)
    assert tools.ledger.reads == []


def test_a_search_goes_through_all_of_them(tools: Tools) -> None:
    """Exact lines by codebase, passages ranked together, each path with its codebase."""
    found = tools("search_code", query="LIMIT")
    assert "shop:src/both.py" in found
    assert "infra:src/both.py" in found
    assert "shop:" not in tools("search_code", query="LIMIT", path="infra:")
    assert "nothing found in any codebase" in tools("search_code", query="xylophone")


def test_a_commit_is_shown_from_the_codebase_that_has_it(tools: Tools, tmp_path: Path) -> None:
    """An id tells where it is from."""
    head = git(tmp_path / "infra", "rev-parse", "HEAD")
    assert "deploy/queue.py" in tools("git_show", commit=head)


def test_a_list_names_the_codebase(tools: Tools) -> None:
    """The top of each is shown under its name."""
    assert tools("list_files", folder="infra:").startswith("infra: at ")
    assert "queue.py" in tools("list_files", folder="infra:deploy")


def test_a_run_sees_the_commits_it_began_with(tools: Tools, tmp_path: Path) -> None:
    """However fast others commit."""
    commit_files(tmp_path / "shop", {"src/both.py": "LIMIT = 9\n"})
    assert "LIMIT = 5" in tools("read_file", path="shop:src/both.py")


def test_one_codebase_has_the_tools_as_they_were(tmp_path: Path) -> None:
    """No name before a path."""
    tools = Tools(make_codebases(tmp_path, shop=SHOP), tmp_path)
    assert "codebases" not in tools.known["read_file"].description
    assert tools("read_file", path="src/both.py").startswith("src/both.py lines")


def test_an_only_codebase_may_be_named_before_a_path(tmp_path: Path) -> None:
    """As its results name it, where it is read alone: a session's checkout, say."""
    tools = Tools(make_codebases(tmp_path).among(["infra"]), tmp_path)
    assert "LIMIT = 7" in tools("read_file", path="infra:src/both.py")
    assert "LIMIT = 7" in tools("read_file", path="src/both.py")
    assert {read.path for read in tools.ledger.reads} == {"infra:src/both.py"}
