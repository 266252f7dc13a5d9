"""HEAD is watched by git's own files: git runs only after they changed, and each change is seen at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.agent.git.git_folder import GitFolder
from bot.agent.git.git_repo import GitRepo
from bot.errors import CodebaseUnreadable, ConfigError, NotCloned
from tests.gitrepo import commit_files, git, make_repo
from tests.tables import each_row


class Calls:
    """A git first in PATH that notes each time it is started."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        real, self._log = shutil.which("git"), folder / "calls"
        folder.mkdir()
        (folder / "git").write_text(f'#!/bin/sh\necho >> {self._log}\nexec {real} "$@"\n')
        (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def forget(self) -> None:
        """Begin to count anew."""
        self._log.write_text("")

    def count(self) -> int:
        """Return how often git was started since."""
        return len(self._log.read_text().splitlines())


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    return Calls(tmp_path / "bin", monkeypatch)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A checkout of two commits, with another branch at the first of them."""
    code = make_repo(tmp_path / "code", {"a.py": "A = 1\n"})
    git(code, "branch", "other")
    commit_files(code, {"a.py": "A = 2\n"})
    return code


def _commit(code: Path) -> None:
    commit_files(code, {"a.py": "A = 3\n"})


def _amend(code: Path) -> None:
    git(code, "commit", "--quiet", "--amend", "--message", "other words")


def _switch(code: Path) -> None:
    git(code, "switch", "--quiet", "other")


def _detach(code: Path) -> None:
    git(code, "checkout", "--quiet", "HEAD~1")


def _reset_hard(code: Path) -> None:
    git(code, "reset", "--quiet", "--hard", "other")


def _move_a_packed_ref(code: Path) -> None:
    packed = code / ".git" / "packed-refs"
    head, other = (git(code, "rev-parse", name) for name in ("HEAD", "other"))
    packed.write_text(packed.read_text().replace(head, other))


def _move_a_ref_that_another_names(code: Path) -> None:
    git(code, "symbolic-ref", "refs/heads/alias", "refs/heads/other")
    git(code, "symbolic-ref", "HEAD", "refs/heads/alias")


CHANGES = (_commit, _amend, _switch, _detach, _reset_hard, _move_a_ref_that_another_names)


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_each_change_of_head_is_seen_at_once_and_git_runs_for_nothing_else(
    code: Path, calls: Calls, change: Callable[[Path], None], is_packed: bool
) -> None:
    """Also of a branch that stands in packed-refs."""
    if is_packed:
        git(code, "pack-refs", "--all")
    repo = GitRepo(code)
    before = repo.head()
    calls.forget()
    assert [repo.head() for _ in range(3)] == [before] * 3
    assert calls.count() == 0
    change(code)
    wanted = git(code, "rev-parse", "HEAD")
    calls.forget()
    assert [repo.head() for _ in range(3)] == [wanted] * 3
    assert wanted != before
    assert calls.count() == 1


def test_packing_refs_or_objects_moves_nothing(code: Path) -> None:
    """The files look otherwise, and HEAD is where it was."""
    repo = GitRepo(code)
    before = repo.head()
    git(code, "gc", "--quiet", "--prune=now")
    assert repo.head() == before
    _move_a_packed_ref(code)
    assert repo.head() == git(code, "rev-parse", "other") != before


@each_row("kind", ["work tree", "submodule", "bare"])
def test_a_checkout_whose_git_is_elsewhere_is_watched_there(
    code: Path, tmp_path: Path, calls: Calls, kind: str
) -> None:
    """A linked work tree shares its refs, a submodule has its own below the repository around it, as a clone has."""
    place = tmp_path / "place"
    if kind == "work tree":
        git(code, "worktree", "add", "--quiet", "-b", "third", str(place))
    elif kind == "bare":
        git(tmp_path, "clone", "--quiet", "--bare", str(code), str(place))
    else:
        make_repo(tmp_path / "around", {"b.py": "B = 1\n"})
        url = ["-c", "protocol.file.allow=always"]
        git(tmp_path / "around", *url, "submodule", "--quiet", "add", str(code), "libs/code")
        place = tmp_path / "around" / "libs" / "code"
    repo = GitRepo(place)
    before = repo.head()
    calls.forget()
    assert repo.head() == before
    assert calls.count() == 0
    if kind == "bare":
        new = commit_files(code, {"a.py": "A = 3\n"})
        git(place, "fetch", "--quiet", "origin", "+refs/heads/*:refs/heads/*")
    else:
        new = commit_files(place, {"a.py": "A = 3\n"})
    assert repo.head() == new
    git(place, "pack-refs", "--all")
    assert repo.head() == new


def test_a_list_of_reftables_is_watched(code: Path) -> None:
    """Git writes a new one for every change; HEAD itself is a fixed text then."""
    folder = GitFolder(code, is_bare=False)
    (code / ".git" / "reftable").mkdir()
    listed = code / ".git" / "reftable" / "tables.list"
    listed.write_text("0x01-0x02-a.ref\n")
    before = folder.refs()
    assert folder.refs() == before
    listed.write_text("0x01-0x03-b.ref\n")
    assert folder.refs() != before
    assert folder.had_commit() is None


def test_a_commit_that_cannot_be_read_any_more_is_noticed(code: Path) -> None:
    """The ref is as it was; the object is gone, and comes back."""
    repo = GitRepo(code)
    head = repo.head()
    path = code / ".git" / "objects" / head[:2] / head[2:]
    path.rename(code / "lost")
    with pytest.raises(CodebaseUnreadable, match="fsck"):
        repo.head()
    (code / "lost").rename(path)
    assert repo.head() == head


@each_row("is_bare, error", [(False, ConfigError), (True, NotCloned)])
def test_a_repository_without_commits_starts_no_git(
    tmp_path: Path, calls: Calls, is_bare: bool, error: type[Exception]
) -> None:
    """However often it is looked at, as a clone is that waits for its remote all night."""
    place = tmp_path / "new"
    git(tmp_path, "init", "--quiet", *(["--bare"] if is_bare else []), str(place))
    repo = GitRepo(place)
    calls.forget()
    for _ in range(3):
        with pytest.raises(error, match="no commit yet"):
            repo.head()
    assert calls.count() == 0


@each_row("head", [b"ref: ../../../etc/passwd\n", b"ref: refs/heads/\0\n", b"ref: refs/heads/loop\n", b"\xff" * 9_000])
def test_a_hostile_head_is_no_trap(code: Path, head: bytes) -> None:
    """Names that lead outside, in circles or nowhere, and a file without an end, are git's to refuse."""
    (code / ".git" / "HEAD").write_bytes(head)
    (code / ".git" / "refs" / "heads" / "loop").write_bytes(head)
    with pytest.raises(CodebaseUnreadable):
        GitRepo(code, may_be_damaged=True).head()


def test_a_pipe_in_the_place_of_head_is_not_waited_for(code: Path) -> None:
    """Nobody writes to it."""
    folder = GitFolder(code, is_bare=False)
    (code / ".git" / "HEAD").unlink()
    os.mkfifo(code / ".git" / "HEAD")
    assert folder.refs() == folder.refs()


def test_a_folder_that_may_not_be_read_is_no_repository_without_commits(code: Path) -> None:
    """Here a path that is too long for the system stands for one that it refuses."""
    (code / ".git" / "HEAD").write_text(f"ref: refs/heads/{'x' * 300}\n")
    assert GitFolder(code, is_bare=False).had_commit() is True
