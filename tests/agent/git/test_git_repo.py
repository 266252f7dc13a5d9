"""Reading a git checkout: only what is committed, and nothing that leaves the repository."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.agent.git.git_repo import EntryKind, GitRepo
from bot.domain.search.files import file_lines
from bot.errors import CodebaseUnreadable, ConfigError, ProviderError
from tests.gitrepo import commit_files, git, make_repo
from tests.tables import each_row

ODD_NAMES = ("with space.txt", "größe/ünï.txt", "new\nline.txt", "[x]*.txt", "-flag.txt", ":(top)magic.txt", '"q".txt')


def test_a_folder_that_is_no_checkout_is_refused_with_advice(tmp_path: Path) -> None:
    """A plain folder raises ConfigError that says what to do."""
    with pytest.raises(ConfigError, match="git init"):
        GitRepo(tmp_path)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    """A path that is no folder raises ConfigError naming it."""
    with pytest.raises(ConfigError, match="is not a folder"):
        GitRepo(tmp_path / "gone")


def test_a_repository_without_commits_has_no_head(tmp_path: Path) -> None:
    """Before the first commit `head` raises ConfigError and `resolve` finds nothing."""
    repo = GitRepo(make_repo(tmp_path / "new"))
    with pytest.raises(ConfigError, match="no commit yet"):
        repo.head()
    assert repo.resolve("HEAD") is None


@each_row("is_packed", [False, True])
def test_a_new_branch_without_a_commit_is_not_damaged(tmp_path: Path, is_packed: bool) -> None:
    """As `git switch --orphan` leaves one, in a repository that has a history."""
    code = make_repo(tmp_path / "code", {"a.txt": "x\n"})
    repo, head = GitRepo(code), git(code, "rev-parse", "HEAD")
    if is_packed:
        git(code, "pack-refs", "--all")
    git(code, "switch", "--orphan", "new")
    with pytest.raises(ConfigError, match="no commit yet"):
        repo.head()
    git(code, "switch", "main")
    assert repo.head() == head


def test_a_damaged_repository_can_be_opened_and_used_once_it_is_mended(tmp_path: Path) -> None:
    """Whoever opens it so is told at each use; a folder that never was a checkout is refused as ever."""
    code = make_repo(tmp_path / "code", {"src/a.txt": "x\n"})
    whole = (code / ".git" / "HEAD").read_bytes()
    (code / ".git" / "HEAD").unlink()
    repo = GitRepo(code / "src", may_be_damaged=True)
    with pytest.raises(CodebaseUnreadable, match="fsck"):
        repo.head()
    (code / ".git" / "HEAD").write_bytes(whole)
    assert (repo.root, repo.head()) == (code.resolve(), git(code, "rev-parse", "HEAD"))
    (tmp_path / "plain").mkdir()
    with pytest.raises(ConfigError, match="no git checkout"):
        GitRepo(tmp_path / "plain", may_be_damaged=True)


@each_row("damage", ["object", "ref", "empty ref", "HEAD", "packed"])
def test_a_damaged_repository_is_not_one_without_commits(tmp_path: Path, damage: str) -> None:
    """Its questions wait until it is mended; a new repository would need a commit."""
    root = make_repo(tmp_path / "code", {"a.txt": "x\n"})
    repo, git = GitRepo(root), root / ".git"
    head = repo.head()
    ref = next((git / "refs" / "heads").iterdir())
    broken = {"object": git / "objects" / head[:2] / head[2:], "HEAD": git / "HEAD"}.get(damage, ref)
    held = broken.read_bytes()
    broken.unlink()
    if damage == "empty ref":
        broken.write_bytes(b"")
    if damage == "packed":
        (git / "packed-refs").write_text("# pack-refs with: peeled\n")
    with pytest.raises(CodebaseUnreadable, match="fsck"):
        repo.head()
    broken.unlink(missing_ok=True)
    broken.write_bytes(held)
    assert repo.head() == head


def test_a_folder_that_was_moved_away_is_called_so(tmp_path: Path) -> None:
    """Nothing is damaged: it has to be put back or named anew, and is read again then."""
    root = make_repo(tmp_path / "code", {"a.txt": "x\n"})
    repo = GitRepo(root)
    head = repo.head()
    root.rename(tmp_path / "moved")
    with pytest.raises(CodebaseUnreadable, match="is gone; put it back, or name its new place"):
        repo.head()
    (tmp_path / "moved").rename(root)
    assert repo.head() == head


def test_a_damaged_repository_inside_another_one_is_not_mistaken_for_it(tmp_path: Path) -> None:
    """Git would go on to the one around it, before the start and after; a sound one inside is read."""
    make_repo(tmp_path, {"outer.py": "x = 1\n"})
    inner = make_repo(tmp_path / "vendor" / "inner", {"inner.py": "x = 1\n"})
    sound = GitRepo(inner / ".")
    assert [entry.path for entry in sound.tree(sound.head())] == ["inner.py"]
    (inner / ".git" / "HEAD").unlink()
    with pytest.raises(CodebaseUnreadable, match=r"inner is damaged"):
        GitRepo(inner)
    with pytest.raises(CodebaseUnreadable):
        sound.head()
    with pytest.raises(CodebaseUnreadable):
        GitRepo(inner, may_be_damaged=True).head()


def test_a_folder_inside_a_checkout_opens_the_whole_of_it(tmp_path: Path) -> None:
    """The root is the top of the checkout, whatever folder was given."""
    make_repo(tmp_path / "code", {"deep/down/file.txt": "x\n"})
    assert GitRepo(tmp_path / "code" / "deep" / "down").root == (tmp_path / "code").resolve()


@each_row("name", ["ends in a blank ", "ends in a line end\n", " starts with one", "a=b"])
def test_a_checkout_may_have_an_odd_name(tmp_path: Path, name: str) -> None:
    """Blanks belong to a folder's name; only the line end git adds does not."""
    make_repo(tmp_path / name, {"file.txt": "x\n"})
    repo = GitRepo(tmp_path / name)
    assert repo.root == (tmp_path / name).resolve()
    assert repo.lines_at(repo.head(), "file.txt") == ["x"]


@pytest.mark.parametrize("inside", ["", "deep/down"])
def test_a_checkout_of_another_user_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str) -> None:
    """The operator named it, so it is trusted, whichever folder of it was given."""
    make_repo(tmp_path / "code", {"deep/down/file.txt": "x\n"})
    strangers_git(tmp_path / "bin", monkeypatch)
    with pytest.raises(subprocess.CalledProcessError, match="128"):
        git(tmp_path / "code", "rev-parse", "HEAD")
    repo = GitRepo(tmp_path / "code" / inside)
    assert repo.lines_at(repo.head(), "deep/down/file.txt") == ["x"]


def strangers_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a git first in PATH that takes every file for somebody else's, as its own test suite does."""
    real = shutil.which("git")
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("own", [True, False], ids=["own", "another user's"])
def test_a_bare_repository_is_read_like_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool) -> None:
    """It needs no work tree, since only commits are read."""
    make_repo(tmp_path / "code", {"file.txt": "x\n"})
    git(tmp_path, "clone", "--quiet", "--bare", "code", "code.git")
    if not own:
        strangers_git(tmp_path / "bin", monkeypatch)
    repo = GitRepo(tmp_path / "code.git")
    assert repo.lines_at(repo.head(), "file.txt") == ["x"]
    assert repo.root == tmp_path / "code.git"


def test_the_tree_of_an_empty_commit_is_empty(tmp_path: Path) -> None:
    """A commit without files is a tree without entries."""
    repo = GitRepo(make_repo(tmp_path / "empty", {}))
    assert repo.tree(repo.head()) == []


def test_a_size_in_the_tree_is_the_content_in_bytes(tmp_path: Path) -> None:
    """Sizes are of the committed bytes, so a large file is known as such before it is read."""
    content = b"\x00" * 2_000_000
    repo = GitRepo(make_repo(tmp_path / "code", {"large.bin": content, "small.txt": "größe"}))
    assert {entry.path: entry.size for entry in repo.tree(repo.head())} == {"large.bin": 2_000_000, "small.txt": 7}


@each_row("name", ODD_NAMES)
def test_a_file_with_an_odd_name_is_listed_and_read(tmp_path: Path, name: str) -> None:
    """Spaces, letters of any script, line ends, globs, dashes and pathspec magic are names like any other."""
    repo = GitRepo(make_repo(tmp_path / "code", {name: "found\n", "other.txt": "other\n"}))
    assert name in [entry.path for entry in repo.tree(repo.head())]
    assert repo.lines_at(repo.head(), name) == ["found"]


def test_a_name_that_is_no_utf_8_is_listed_and_read(tmp_path: Path) -> None:
    """Undecodable bytes of a name survive the way out and back."""
    name = b"caf\xe9.txt".decode("utf-8", "surrogateescape")
    repo = GitRepo(make_repo(tmp_path / "code", {name: "found\n"}))
    assert [entry.path for entry in repo.tree(repo.head())] == [name]
    assert repo.lines_at(repo.head(), name) == ["found"]


def test_symbolic_links_are_neither_listed_nor_followed(tmp_path: Path) -> None:
    """A link that leaves the repository shows nothing of what it points to, nor does a path through it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret\n")
    code = make_repo(tmp_path / "code", {"real.txt": "real\n"})
    (code / "file-link").symlink_to(tmp_path / "outside" / "secret.txt")
    (code / "folder-link").symlink_to(tmp_path / "outside")
    repo = GitRepo(code)
    commit = commit_files(code, {})
    assert [entry.path for entry in repo.tree(commit)] == ["real.txt"]
    assert repo.blob_at(commit, "file-link") is None
    assert repo.blob_at(commit, "folder-link/secret.txt") is None


@each_row("path", ["", ".", "..", "../outside.txt", "/etc/passwd", "gone.txt", "folder", "a\0b", "\ud800"])
def test_a_path_that_names_no_file_of_the_commit_has_no_content(tmp_path: Path, path: str) -> None:
    """Folders, absent files, paths out of the repository and texts that can be no path all give None."""
    repo = GitRepo(make_repo(tmp_path / "code", {"folder/file.txt": "x\n"}))
    assert repo.blob_at(repo.head(), path) is None


@each_row("revision", ["main", "HEAD~1", "--all", "-h", "", "deadbeef", "HEAD\n", "0" * 40, "zz"])
def test_only_head_and_commit_ids_name_a_commit(tmp_path: Path, revision: str) -> None:
    """Branches, options and unknown ids resolve to nothing and have no files."""
    repo = GitRepo(make_repo(tmp_path / "code", {"file.txt": "x\n"}))
    assert repo.resolve(revision) is None
    assert repo.blob_at(revision, "file.txt") is None


def test_an_abbreviated_commit_resolves_to_its_full_id(tmp_path: Path) -> None:
    """Twelve characters are enough to name a commit."""
    repo = GitRepo(make_repo(tmp_path / "code", {"file.txt": "x\n"}))
    assert repo.resolve(repo.head()[:12]) == repo.head()


def test_an_older_commit_keeps_its_content(tmp_path: Path) -> None:
    """What was committed is read as it was, neither the newest commit nor the work tree counts."""
    code = make_repo(tmp_path / "code", {"file.txt": "first\n"})
    repo = GitRepo(code)
    first = repo.head()
    second = commit_files(code, {"file.txt": "second\n"})
    (code / "file.txt").write_text("uncommitted\n")
    assert [repo.lines_at(commit, "file.txt") for commit in (first, second)] == [["first"], ["second"]]


def test_blobs_come_in_the_order_they_were_asked_for(tmp_path: Path) -> None:
    """Contents arrive with their ids, byte for byte, binary ones too."""
    contents = {"a.bin": b"\x00\xff\n", "b.txt": b"", "c.txt": b"no line end"}
    repo = GitRepo(make_repo(tmp_path / "code", dict(contents)))
    entries = repo.tree(repo.head())
    assert list(repo.blobs([entry.blob for entry in entries]).values()) == list(contents.values())


def test_an_unknown_blob_is_an_error_that_names_it(tmp_path: Path) -> None:
    """An id git does not know raises ProviderError."""
    repo = GitRepo(make_repo(tmp_path / "code", {"file.txt": "x\n"}))
    with pytest.raises(ProviderError, match="000000000000"):
        repo.blob("0" * 40)


def test_settings_of_the_repository_run_nothing(tmp_path: Path) -> None:
    """A hostile checkout's monitors, hooks and pagers are not started."""
    code = make_repo(tmp_path / "code", {"file.txt": "x\n"})
    mark = tmp_path / "ran"
    for key in ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "core.askPass"):
        git(code, "config", key, f"touch {mark} #")
    repo = GitRepo(code)
    repo.tree(repo.head())
    repo.lines_at(repo.head(), "file.txt")
    assert not mark.exists()


@each_row("name", ["ext", "file"])
def test_a_lost_object_is_fetched_from_nowhere(tmp_path: Path, name: str) -> None:
    """A checkout may allow a transport by its name, and name a program as the remote that keeps its files."""
    code = make_repo(tmp_path / "code", {"file.txt": "x\n"})
    blob, mark = git(code, "rev-parse", "HEAD:file.txt"), tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
    program.chmod(0o700)
    settings = {
        f"protocol.{name}.allow": "always",
        "remote.origin.url": f"ext::{program}" if name == "ext" else tmp_path.as_uri(),
        "remote.origin.uploadpack": str(program),
        "remote.origin.promisor": "true",
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
    }
    for key, value in settings.items():
        git(code, "config", key, value)
    (code / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(ProviderError):
        GitRepo(code).lines_at("HEAD", "file.txt")
    assert not mark.exists()


@each_row(
    "url, shown",
    [
        ("https://user:token@example.com/a/b.git", "https://example.com/a/b.git"),
        ("https://user:to@ken@example.com/a/b@1.git", "https://example.com/a/b@1.git"),
        ("git@example.com:a/b.git", "git@example.com:a/b.git"),
        (None, None),
    ],
)
def test_the_remote_is_shown_without_its_credentials(tmp_path: Path, url: str | None, shown: str | None) -> None:
    """User and token before the host are cut; no remote is None."""
    code = make_repo(tmp_path / "code", {"file.txt": "x\n"})
    if url:
        git(code, "remote", "add", "origin", url)
    assert GitRepo(code).remote_url() == shown


@each_row(
    "content, lines",
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\n\n", ["a", ""]),
        (b"a\x0cb\xe2\x80\xa8c\n", ["a\x0cb\u2028c"]),
        (b"caf\xe9\n", ["café"]),
        (b"a\rb\r", ["a", "b"]),
        (b"\x00\x01\n", []),
    ],
)
def test_lines_are_cut_as_an_editor_shows_them(content: bytes, lines: list[str]) -> None:
    """Form feeds and Unicode separators end nothing, a lone CR does; what is no text has no lines."""
    assert (file_lines(content) or []) == lines


def _cut(path: Path) -> None:
    path.unlink()


def _fill(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(b"junk\n")


@each_row("harm", [_cut, _fill])
@each_row("what", ["HEAD", "refs/heads/main", "commit"])
def test_damage_is_named_as_such_and_is_over_once_it_is_mended(
    tmp_path: Path, what: str, harm: Callable[[Path], None]
) -> None:
    """It is no repository "without commits": the one it had cannot be read, and later it can."""
    code = make_repo(tmp_path / "code", {"a.py": "A = 1\n"})
    head = git(code, "rev-parse", "HEAD")
    path = code / ".git" / (f"objects/{head[:2]}/{head[2:]}" if what == "commit" else what)
    whole = path.read_bytes()
    harm(path)
    with pytest.raises(CodebaseUnreadable, match="fsck"):
        GitRepo(code).head()
    path.unlink(missing_ok=True)
    path.write_bytes(whole)
    assert GitRepo(code).head() == head


def test_entries_are_listed_one_by_one(tmp_path: Path) -> None:
    """The same files as at once, with links and submodules."""
    code = make_repo(tmp_path / "code", {"a.py": "A", "b.py": "BB"})
    blobs = [git(code, "rev-parse", f"HEAD:{name}") for name in ("a.py", "b.py")]
    listed = [f"100644 {blobs[n % 2]}\td{n % 9}/{n}.py" for n in range(1_500)]  # more than is read at once
    listed.append(f"120000 {git(code, 'hash-object', '-w', 'a.py')}\tlink")
    listed.append(f"160000 {git(code, 'rev-parse', 'HEAD')}\tlibs/other")
    subprocess.run(
        ["git", "-C", str(code), "update-index", "--index-info"], input="\n".join(listed).encode(), check=True
    )
    git(code, "commit", "--quiet", "--message", "many")
    repo = GitRepo(code)
    entries = list(repo.each_entry(repo.head()))
    assert [one for one in entries if one.kind is EntryKind.FILE] == repo.tree(repo.head())
    assert [one.path for one in entries if one.kind is EntryKind.SUBMODULE] == ["libs/other"]
    with pytest.raises(CodebaseUnreadable):
        list(repo.each_entry("0" * 40))
