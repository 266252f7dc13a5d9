"""Commits and misspelt names in the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.search import passage_store
from bot.adapters.search.passage_index import AGAIN_S, SqlitePassageIndex
from bot.agent.git.git_history import Commit, GitHistory
from bot.agent.git.git_repo import GitRepo
from bot.errors import ProviderError
from tests.gitrepo import commit_files, git, make_repo
from tests.tables import each_row

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
FILES = {
    "src/a.py": "REQUEST_TIMEOUT = 5\n\n\ndef send(pool_size=3):\n    return pool_size\n",
    "src/b.js": "const options = {\n  requestTimeout: 7,\n}\n",
    "conf/c.yml": "request:\n  timeout: 9\n",
    "tests/test_a.py": "REQUEST_TIMEOUT = 1\n",
}


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A repository of four files in one commit."""
    return make_repo(tmp_path / "code", FILES)


def index_of(code: Path) -> SqlitePassageIndex:
    """Return the index of a repository, brought up to HEAD."""
    index = SqlitePassageIndex(GitRepo(code), code.parent / "passages.sqlite")
    index.refresh()
    return index


def test_names_of_a_file_that_is_gone_are_not_found(code: Path) -> None:
    """Nor those that a change took out of a file."""
    index = index_of(code)
    assert index.near_names("REQUEST_TIMEUOT") == ["REQUEST_TIMEOUT"]
    commit_files(code, {"src/a.py": "SECONDS = 5\n", "tests/test_a.py": "SECONDS = 1\n"})
    index.refresh()
    assert index.near_names("REQUEST_TIMEUOT") == []


@each_row(
    "typed, expected",
    [("REQUEST_TIMEUOT", ["REQUEST_TIMEOUT"]), ("sned", []), ("zeppelin", [])],
)
def test_a_misspelt_name_is_found(tmp_path: Path, typed: str, expected: list[str]) -> None:
    """A short one is not: it may be any other word."""
    assert index_of(make_repo(tmp_path / "code", FILES)).near_names(typed) == expected


def test_names_are_found_by_their_words(code: Path) -> None:
    """However they are capitalised, those that hold more of them first."""
    assert index_of(code).names_holding(["timeout", "request", "is"])[0] == "REQUEST_TIMEOUT"


def test_commits_are_found_by_their_messages(code: Path) -> None:
    """With who wrote them when; of two alike the newer one comes first; a later HEAD adds its own."""
    index = index_of(code)
    commit_files(code, {"src/d.py": "D = 1\n"}, "Drop support for old servers\n\nThe zeppelin needs them no more.")
    git(code, "commit", "--quiet", "--allow-empty", "--message", "Mend the anchor", "--date", "2026-01-06T09:00:00Z")
    git(code, "commit", "--quiet", "--allow-empty", "--message", "Mend the anchor", "--date", "2026-01-07T09:00:00Z")
    index.refresh()
    (hit,) = index.commits("who removed the zeppelin?")
    assert (hit.subject, hit.author) == ("Drop support for old servers", "Test")
    assert hit.message == "Drop support for old servers\n\nThe zeppelin needs them no more."
    assert [one.authored_at.day for one in index.commits("anchor")] == [7, 6]
    assert index.commits("zebra") == []


def test_rewritten_commits_are_no_longer_found(code: Path) -> None:
    """HEAD does not follow what was indexed."""
    commit_files(code, {"src/d.py": "D = 1\n"}, "Moor the zeppelin")
    index = index_of(code)
    git(code, "commit", "--quiet", "--amend", "--message", "Moor the balloon")
    index.refresh()
    assert index.commits("zeppelin") == []
    assert [one.subject for one in index.commits("balloon")] == ["Moor the balloon"]


def test_no_credential_of_a_message_is_stored(code: Path) -> None:
    """It is blacked out before anything is."""
    commit_files(code, {"src/d.py": "D = 1\n"}, f"Rotate {TOKEN}\n\nIt was {TOKEN}.")
    index = index_of(code)
    assert "[redacted" in index.commits("rotate")[0].subject
    assert all(TOKEN.encode() not in path.read_bytes() for path in code.parent.glob("passages.sqlite*"))


def test_where_git_cannot_list_commits_the_rest_is_searched_and_the_gap_named(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are tried again later."""
    now_s = 0.0
    index = SqlitePassageIndex(GitRepo(code), code.parent / "passages.sqlite", monotonic_s=lambda: now_s)

    def fails(*_: object, **__: object) -> list[Commit]:
        raise ProviderError("git log failed")

    commit_files(code, {"src/d.py": "D = 1\n"}, "Moor the zeppelin")
    with monkeypatch.context() as broken:
        broken.setattr(GitHistory, "each_commit", fails)
        gaps = index.refresh().gaps
    assert "history that git cannot list" in gaps.words()
    assert index.commits("zeppelin") == []
    assert index.search("REQUEST_TIMEOUT")
    now_s = AGAIN_S
    assert index.refresh().gaps.words() == ""
    assert [one.subject for one in index.commits("zeppelin")] == ["Moor the zeppelin"]


def test_credentials_are_looked_for_once_when_a_file_is_indexed(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question costs the same whatever the files hold, and shows none."""
    commit_files(code, {"src/zeppelin.py": f'def moor():\n    return "{TOKEN}"\n'})
    index = index_of(code)
    monkeypatch.delattr(passage_store, "redact_lines")
    (found,) = index.search("how does the zeppelin moor?")
    assert TOKEN not in found.text
    assert "[redacted" in found.text
    assert index.lines("src/zeppelin.py") == found.text.split("\n")
    assert index.lines("src/none.py") == []
