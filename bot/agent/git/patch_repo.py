"""A repository of its own for one patch: applies it in an index, checks it out elsewhere, commits and pushes it.

It borrows the objects of the codebase and writes nothing there: no work tree, ref or lock, and no configuration or
hook of the codebase counts. A program that runs in a checkout finds no .git beside it, so git never reads what that
program writes. Commits are made from the index, not from files on disk.
"""

from __future__ import annotations

import base64
import os
import re
from contextlib import suppress
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from bot.agent.git.git_process import GitFailed, GitProcess
from bot.agent.git.git_repo import GitRepo
from bot.config.environment import NETWORK_VARIABLES
from bot.domain.patches import FileChange, forms_of
from bot.errors import InputError, ProviderError, StoreError, Unavailable

AUTHOR: Final = ("user.name=triage", "user.email=triage@bot.invalid")
TRANSFER_S: Final = 180
_FORGIVING: Final = ((), ("--recount",), ("--inaccurate-eof",), ("--recount", "--inaccurate-eof"))
"""Models miscount the lines of a hunk, and see no difference where the last line of a file has no end."""

_PROTECTED: Final = ("core.protectHFS=true", "core.protectNTFS=true")
"""Git refuses what some file system takes for .git, on every system."""

REJECTED: Final = "rejected"
_REFUSED: Final = re.compile(
    r"(?:fatal|error): (?:.*The requested URL returned error: (?P<status>\d{3})"
    r"|(?P<login>could not read Username for |Authentication failed for )|repository .* not found$)"
)
_NOT_NOW: Final = frozenset({"408", "425", "429"})
_OVER_HTTP: Final = (
    "http.followRedirects=false",
    "credential.helper=",
    "push.gpgSign=false",
)


class Remote(NamedTuple):
    """Where to push, by HTTP; the token stands in the environment of git and nowhere else."""

    url: str
    token: str


class DoesNotApply(InputError):
    """Git refused a patch; the text says why."""


class PatchRepo:
    """A bare repository in `folder`, which must not be there yet; raises StoreError when git fails on this machine."""

    def __init__(self, codebase: GitRepo, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        self._folder = folder
        borrowed = codebase.folder.shared
        form = _word(codebase.process, "rev-parse", "--show-object-format")
        _local(GitProcess(folder), "init", "--quiet", "--bare", "--template=", f"--object-format={form}", ".")
        (folder / "objects" / "info").mkdir(exist_ok=True)
        (folder / "objects" / "info" / "alternates").write_bytes(os.fsencode(borrowed / "objects") + b"\n")
        if (shallow := borrowed / "shallow").is_file():
            (folder / "shallow").write_bytes(shallow.read_bytes())
        self._git = GitProcess(folder, is_bare=True, settings=_PROTECTED)

    def apply(self, commit: str, diff: str) -> str:
        """Return the tree that a patch makes of a commit.

        Raises:
            DoesNotApply: git does not take it.
        """
        refused = ""
        for form, forgiving in product((*forms_of(diff), diff), _FORGIVING):
            git, given = self._index(commit), form.encode("utf-8", "replace")
            try:
                git.run("apply", "--cached", "--whitespace=nowarn", *forgiving, "-", given=given)
            except GitFailed as error:
                refused = refused or error.reason.removeprefix("error: ")
                continue
            return _word(git, "write-tree")
        raise DoesNotApply(f"git says {refused}")

    def changes(self, commit: str, tree: str) -> list[FileChange]:
        """Return every file in which a tree differs from a commit, as git counts it."""
        options = ("-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--raw", "--numstat")
        fields = iter(os.fsdecode(_local(self._git, "diff-tree", *options, commit, tree)).split("\0"))
        modes: dict[str, tuple[str, str]] = {}
        found = []
        for field in filter(None, fields):
            if field.startswith(":"):
                before, after, *_ = field.removeprefix(":").split(" ")
                modes[next(fields)] = before, after
            else:
                added, removed, path = field.split("\t", 2)
                found.append(FileChange(path, *modes[path], _count(added), _count(removed)))
        return found

    def paths(self, tree: str) -> list[str]:
        """Return the paths of all files of a tree."""
        listed = _local(self._git, "ls-tree", "-r", "-z", "--full-tree", "--name-only", tree)
        return [os.fsdecode(path) for path in listed.split(b"\0") if path]

    def added(self, commit: str, tree: str) -> str:
        """Return all lines that a tree adds to a commit, and the names of its files."""
        options = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "-U0", "--text")
        diff = _local(self._git, "diff-tree", "-r", "-p", *options, commit, tree).decode("utf-8", "replace")
        return "\n".join(line[1:] for line in diff.split("\n") if line.startswith("+"))

    def check_out(self, tree: str, folder: Path) -> None:
        """Write the files of a tree into a new folder."""
        folder.mkdir()
        git = self._index(tree).with_variables({"GIT_WORK_TREE": str(folder), "GIT_DIR": str(self._folder)})
        _local(git, "checkout-index", "--all", "--force", "--quiet")

    def commit(self, parent: str, tree: str, message: str, *, at: datetime) -> str:
        """Return the commit of a tree; of the same arguments it is the same one."""
        when = f"{int(at.timestamp())} +0000"
        git = self._git.with_variables({"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}, *AUTHOR)
        return _word(git, "commit-tree", tree, "-p", parent, given=message.encode())

    def fetch(self, remote: Remote, branch: str) -> str:
        """Return the newest commit of a remote branch; its objects are here then. Raises as `_reach` does."""
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        self._reach(remote, "fetch", *options, remote.url, f"+refs/heads/{branch}:refs/remotes/base")
        return _word(self._git, "rev-parse", "--verify", "refs/remotes/base")

    def remote_tip(self, remote: Remote, branch: str) -> str | None:
        """Return the commit that a remote branch stands at; None where there is none. Raises as `_reach` does."""
        out = self._reach(remote, "ls-remote", "--heads", remote.url, f"refs/heads/{branch}")
        return out.decode().split("\t")[0].strip() or None

    def has(self, commit: str) -> bool:
        """Whether a commit is here."""
        with suppress(ProviderError):
            return self._git.run("cat-file", "-t", "--end-of-options", commit).strip() == b"commit"
        return False

    def contains(self, tip: str, commit: str) -> bool:
        """Whether a commit is in the history of another."""
        return _local(self._git, "rev-list", "--max-count=1", commit, f"^{tip}", "--") == b""

    def push(self, remote: Remote, commit: str, branch: str) -> None:
        """Put a commit on a remote branch that must not be there yet; raises as `_reach`."""
        ref = f"refs/heads/{branch}"
        lease = f"--force-with-lease={ref}:"
        self._reach(remote, "push", "--quiet", "--no-verify", lease, remote.url, f"{commit}:{ref}")

    def _reach(self, remote: Remote, *args: str) -> bytes:
        """Run git against a remote.

        Raises:
            Unavailable: it cannot be reached, or not now.
            ProviderError: it refused; the code is its HTTP status, or REJECTED.
        """
        try:
            return self._to(remote).run(*args, timeout_s=TRANSFER_S)
        except GitFailed as error:
            code, words = _refusal(error)
            if code is None or code.startswith("5") or code in _NOT_NOW:
                raise Unavailable(f"git cannot reach the code host: {words}") from error
            raise ProviderError("it lets git in with no such token" if code == "401" else words, code=code) from error

    def _index(self, tree_ish: str) -> GitProcess:
        """Return git with an index of its own that holds a tree."""
        file = self._folder / "index"
        for left in (file, file.with_suffix(".lock")):  # some patches have git end without tidying up
            left.unlink(missing_ok=True)
        git = self._git.with_variables({"GIT_INDEX_FILE": str(file)})
        _local(git, "read-tree", "--end-of-options", tree_ish)
        return git

    def _to(self, remote: Remote) -> GitProcess:
        """Return git that may speak HTTP, with the token in its environment."""
        basic = base64.b64encode(f"x-access-token:{remote.token}".encode()).decode()
        variables = {name: os.environ[name] for name in NETWORK_VARIABLES if name in os.environ}
        header = {
            "GIT_ALLOW_PROTOCOL": "https:http",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{remote.url}.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
        }
        return self._git.with_variables({**variables, **header}, *_OVER_HTTP)


def _local(git: GitProcess, *args: str, given: bytes = b"") -> bytes:
    """Run git on this machine alone; raises StoreError, for nothing of that is the code host's."""
    try:
        return git.run(*args, given=given)
    except GitFailed as error:
        raise StoreError(
            f"git cannot work where patches are checked ({args[0]}): {error.reason}; free space or fix its owner"
        ) from error


def _word(git: GitProcess, *args: str, given: bytes = b"") -> str:
    """Return the one word that git prints."""
    return _local(git, *args, given=given).decode().strip()


def _refusal(failure: GitFailed) -> tuple[str | None, str]:
    """Return how a remote refused, and why: an HTTP status, or REJECTED; None where it did not.

    What the remote itself says is told, for git's last line then only says that it refused.
    """
    lines = failure.said.decode("utf-8", "replace").strip().splitlines()
    remote = " ".join(line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")).strip()
    for line in lines:
        if line.startswith(" ! ["):
            return REJECTED, f"the branch is refused: {remote or failure.reason}"
        if match := _REFUSED.match(line):
            return match["status"] or ("401" if match["login"] else "404"), remote or failure.reason
    return None, failure.reason


def _count(text: str) -> int | None:
    return int(text) if text.isdigit() else None
