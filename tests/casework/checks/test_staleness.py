"""Whether cited lines still stand at HEAD: asked of git, once for each HEAD."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.sources import stale_citations
from bot.domain.notes import NoteCitation
from bot.errors import ProviderError
from tests.codebases import make_codebases
from tests.gitrepo import commit_files, git, make_repo


def cite(quote: str, path: str = "a.py", *, commit: str = "a" * 40) -> NoteCitation:
    return NoteCitation(path=path, lines="1", commit=commit, quote=quote)


def test_lines_that_moved_stand_and_lines_that_changed_do_not(tmp_path: Path) -> None:
    """Wherever in their file; another file of that name is another matter."""
    code = make_repo(tmp_path / "code", {"a.py": "A = 1\nB = 2\n"})
    standing = partial(stale_citations, GitRepo(code))
    head = git(code, "rev-parse", "HEAD")
    cites = [cite("A = 1", commit=head), cite("B = 2", commit=head), cite("A = 1", "gone.py", commit=head)]
    assert standing(cites).changed == (cites[2],)
    commit_files(code, {"a.py": "# moved\nB = 2\nA = 7\n"}, "second")
    assert standing(cites).changed == (cites[0], cites[2])
    (code / "a.py").write_text("A = 1\n")
    assert standing(cites[:1]).changed == (cites[0],), "what is not committed is no evidence"
    commit_files(code, {}, "third")
    assert standing(cites[:1]).changed == ()


def test_a_file_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    """Its content is gone from git meanwhile, and nobody notices; that of the one that changed is missed."""
    code = make_repo(tmp_path / "code", {"a.py": "A = 1\n", "b.py": "B = 2\n"})
    standing = partial(stale_citations, GitRepo(code))
    head = git(code, "rev-parse", "HEAD")
    cites = [cite("A = 1", commit=head), cite("B = 2", "b.py", commit=head)]
    assert standing(cites).changed == ()
    commit_files(code, {"b.py": "B = 3\n"}, "second")
    blobs = {path: git(code, "rev-parse", f"HEAD:{path}") for path in ("a.py", "b.py")}
    (code / ".git" / "objects" / blobs["a.py"][:2] / blobs["a.py"][2:]).rename(tmp_path / "kept")
    assert standing(cites).changed == (cites[1],)
    (tmp_path / "kept").rename(code / ".git" / "objects" / blobs["a.py"][:2] / blobs["a.py"][2:])
    commit_files(code, {"b.py": "B = 4\n"}, "third")
    blob = git(code, "rev-parse", "HEAD:b.py")
    (code / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(ProviderError):
        standing(cites)


def test_each_codebase_is_asked_for_its_own_lines(tmp_path: Path) -> None:
    """The same path in another one is another file."""
    standing = partial(stale_citations, make_codebases(tmp_path))
    cites = [cite("LIMIT = 5", "shop:src/both.py"), cite("LIMIT = 5", "infra:src/both.py")]
    assert standing(cites).changed == (cites[1],)
    commit_files(tmp_path / "shop", {"src/both.py": "LIMIT = 6\n"})
    assert standing(cites).changed == tuple(cites)


def test_lines_of_a_codebase_that_is_gone_are_not_called_changed(tmp_path: Path) -> None:
    """Under a name that nobody has and a commit that nobody has; one that is renamed is found by its commit."""
    codebases = make_codebases(tmp_path)
    head = git(tmp_path / "infra", "rev-parse", "HEAD")
    gone = cite("LIMIT = 5", "web:src/both.py")
    changed = cite("LIMIT = 5", "infra:src/both.py")
    renamed = cite("LIMIT = 5", "old:src/both.py", commit=head)
    assert stale_citations(codebases, [gone, changed, renamed]) == ((changed, renamed), (gone,))
