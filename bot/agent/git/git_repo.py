"""Reading a git checkout: blobs, trees and commits, and what Git LFS keeps for them.

Every call is an argv (never a shell), in a scrubbed environment, with hooks, file-system monitors, external diff
drivers and prompts off. Only committed content is read: what lies in the work tree is not evidence.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from bot.agent.git.git_folder import GitFolder, Stamp, fetched_content, folders_with_git, is_pointer
from bot.agent.git.git_process import STREAM_S, GitProcess, Patience
from bot.agent.git.repositories import Located
from bot.domain.search.files import file_lines
from bot.errors import CodebaseUnreadable, ConfigError, NotCloned, ProviderError, TriageError

_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_FATAL: Final = "128"
"""With what git exits where it cannot do what it was asked, such as for an unknown commit."""


class EntryKind(StrEnum):
    """What stands at a path of a commit."""

    FILE = "file"
    LINK = "symbolic link"
    SUBMODULE = "submodule"
    FOLDER = "folder"


_KINDS: Final = {"120000": EntryKind.LINK, "160000": EntryKind.SUBMODULE, "040000": EntryKind.FOLDER}


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeEntry:
    """One entry of a tree: its path from the top, object id and size in bytes (0 where it is no file or link).

    `is_missing`: the checkout has no readable content of it, as after damage of the disk.
    """

    path: str
    blob: str
    size: int
    kind: EntryKind = EntryKind.FILE
    is_missing: bool = False


class _KnownHead(NamedTuple):
    """The commit at HEAD, with the stamps of GitFolder while it was."""

    commit: str
    refs: tuple[Stamp | None, ...]
    objects: tuple[Stamp | None, ...]


class GitRepo:
    """A git checkout, or a bare repository; read-only.

    Raises:
        ConfigError: `path` is not inside a git checkout (at construction).
        CodebaseUnreadable: there is a .git, and git does not take it for a repository (at construction, unless
            `may_be_damaged`; then at every use until it is mended).
    """

    def __init__(self, path: Path, *, may_be_damaged: bool = False) -> None:
        if not path.is_dir():
            raise ConfigError(f"codebase: {path} is not a folder; give the path of a git checkout")
        self.is_bare = is_bare(path)
        self._known_head: _KnownHead | None = None
        if self.is_bare:
            self.root = path.resolve()
            self.folder = GitFolder(self.root, is_bare=True)
            self.process = GitProcess(self.root, is_bare=True)
            return
        process = GitProcess(path.resolve())
        try:
            top = process.run("rev-parse", "--show-toplevel")
            self.root = Path(os.fsdecode(top.removesuffix(b"\n")))  # a blank at the end belongs to the name
            if self.root in (nearest := next(iter(folders_with_git(path)), self.root)).parents:
                raise ProviderError(f"git does not read {nearest / '.git'} and would read {self.root} instead")
        except ProviderError as error:
            refusal = _refusal(path, str(error))
            if not (may_be_damaged and isinstance(refusal, CodebaseUnreadable)):
                raise refusal from error
            self.root = folders_with_git(path)[0]
        self.folder = GitFolder(self.root, is_bare=False)
        # git must not go on to a repository around a checkout that was damaged meanwhile
        self.process = GitProcess(self.root, variables={"GIT_CEILING_DIRECTORIES": str(self.root.parent)})

    def head(self) -> str:
        """Return the SHA of HEAD; git is asked only where its files changed since it was asked last.

        Raises:
            ConfigError: the repository has no commit yet.
            CodebaseUnreadable: git cannot read the commit that HEAD names, or what HEAD is.
        """
        refs, known = self.folder.refs(), self._known_head
        if known is not None and known == _KnownHead(known.commit, refs, self.folder.objects_of(known.commit)):
            return known.commit
        had_commit = self.folder.had_commit()
        if had_commit is False:
            raise self._no_commit()
        try:
            commit = self._read_head()
        except ProviderError as error:
            raise (damaged(self.root, str(error)) if had_commit else self._no_commit()) from error
        self._known_head = _KnownHead(commit, refs, self.folder.objects_of(commit))
        return commit

    def _read_head(self) -> str:
        return self._git("rev-parse", "--verify", "--end-of-options", "HEAD^{commit}").decode().strip()

    def _no_commit(self) -> TriageError:
        if self.is_bare:
            return NotCloned(
                f"codebase: {self.root} holds no commit yet; a clone that triage makes is read once it is finished; "
                "see `triage status`"
            )
        return ConfigError(f"codebase: {self.root} has no commit yet; evidence is quoted from commits, so make one")

    def locate(self, path: str, commit: str | None = None) -> Located:  # noqa: ARG002 - of several repositories
        """Return this repository, as every path lies in it; with `holder` and `heads` it is a `Repositories` of one."""
        return Located(self, path)

    def holder(self, commit: str) -> GitRepo:  # noqa: ARG002 - of several repositories
        """Return this repository."""
        return self

    def about(self, ids: Collection[str]) -> GitRepo:  # noqa: ARG002 - there is one
        """Return this repository."""
        return self

    def heads(self) -> Mapping[Path, str]:
        """Return the SHA of HEAD by the root; raises as `head` does."""
        return {self.root: self.head()}

    def resolve(self, revision: str) -> str | None:
        """Return the full SHA of `HEAD` or of an abbreviated commit id; None if there is no such commit.

        A branch or a tag whose name looks like an id is none.
        """
        if revision != "HEAD" and not _COMMIT.fullmatch(revision):
            return None
        try:
            out = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except ProviderError:
            return None
        full = out.decode().strip()
        return full if revision == "HEAD" or full.startswith(revision) else None

    def resolve_in(self, head: str, revision: str) -> str | None:
        """Return the full SHA of a commit in the history of `head`; None for any other in the object store."""
        full = self.resolve(revision)
        try:
            strange = self._git("rev-list", "--max-count=1", full, f"^{head}", "--") if full else b""
        except ProviderError:
            return None
        return None if strange else full

    def is_shallow(self) -> bool:
        """Whether the checkout lacks the older commits of its history."""
        return (self.folder.shared / "shallow").is_file()

    def tree(self, commit: str) -> list[TreeEntry]:
        """Return every regular file of `commit`: no symbolic links, no submodules. Raises CodebaseUnreadable."""
        return [entry for entry in self.each_entry(commit) if entry.kind is EntryKind.FILE]

    def each_entry(self, commit: str) -> Iterator[TreeEntry]:
        """Yield every file, symbolic link and submodule of `commit`, however many there are.

        Raises:
            CodebaseUnreadable: git failed.
        """
        try:
            rest, options = b"", ("-r", "-z", "-l", "--full-tree")
            for part in self.process.stream("ls-tree", *options, commit, patience=Patience(STREAM_S)):
                whole, _, rest = (rest + part).rpartition(b"\0")
                yield from _entries(whole)
        except ProviderError as error:
            raise damaged(self.root, f"the files of commit {commit[:10]} cannot be listed") from error

    def entry_at(self, commit: str, path: str) -> TreeEntry | None:
        """Return what stands at exactly `path` in `commit`, whatever its kind; None if nothing does.

        Raises:
            ProviderError: git was killed or took too long, so nobody knows.
        """
        if not (commit == "HEAD" or _COMMIT.fullmatch(commit)) or not _is_path(path):
            return None
        try:
            out = self._git("ls-tree", "-z", "-l", "--full-tree", commit, "--", path)
        except ProviderError as error:
            if error.code != _FATAL:
                raise
            return None
        return next((entry for entry in _entries(out) if entry.path == path), None)

    def blob_at(self, commit: str, path: str) -> bytes | None:
        """Return the content of `path` at `commit`; None if there is no such file (or it is a link or a folder)."""
        entry = self.entry_at(commit, path)
        if entry is None or entry.kind is not EntryKind.FILE:
            return None
        return self.blob(entry.blob)

    def lines_at(self, commit: str, path: str) -> list[str] | None:
        """Return the lines of `path` at `commit` without line ends; None if it is absent or no text."""
        content = self.blob_at(commit, path)
        return None if content is None else file_lines(content)

    def blob(self, blob: str) -> bytes:
        """Return the content of one; raises as `blobs` does."""
        return self.blobs([blob])[blob]

    def blobs(self, ids: Collection[str]) -> dict[str, bytes]:
        """Return the contents by id, in order, through one git process.

        For a pointer of Git LFS the content is the file's own, once that was fetched. Raises ProviderError where git
        cannot read one.
        """
        store = self.folder.shared / "lfs" / "objects"
        out = io.BytesIO(
            self._git("cat-file", "--batch", "--buffer", given="".join(f"{blob}\n" for blob in ids).encode())
        )
        found = {}
        for blob in ids:
            header = out.readline().split()
            size = int(header[2]) if len(header) == 3 else -1
            content = out.read(size) if size >= 0 else b""
            if len(content) != size:
                raise ProviderError(f"git cannot read object {blob[:12]} of {self.root}; run `git fsck` there")
            out.read(1)
            found[blob] = (is_pointer(content) and fetched_content(content, store)) or content
        return found

    def readable_blobs(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Return the contents by id; where some are lost or damaged, those of the others."""
        try:
            return self.blobs(ids)
        except ProviderError:
            half = len(ids) // 2
            return {**self.readable_blobs(ids[:half]), **self.readable_blobs(ids[half:])} if half else {}

    def promisor(self) -> str | None:
        """Return the remote that keeps the files of a clone made with --filter; None in any other clone."""
        try:
            found = self._git("config", "--local", "--get-regexp", r"^remote\..*\.promisor$", "^true$")
        except ProviderError:
            return None
        first = found.decode("utf-8", "replace").partition("\n")[0].split()[0]
        return first.removeprefix("remote.").removesuffix(".promisor")

    def remote_url(self) -> str | None:
        """Return the URL of the remote `origin`, without credentials; None if there is none."""
        try:
            url = self._git("config", "--local", "--get", "remote.origin.url").decode().strip()
        except ProviderError:
            return None
        return re.sub(r"(?<=://)[^/]*@", "", url)

    def _git(self, *args: str, given: bytes = b"") -> bytes:
        return self.process.run(*args, given=given)


def _entries(listing: bytes) -> Iterator[TreeEntry]:
    """Yield the entries of `git ls-tree -z -l`."""
    for record in filter(None, listing.split(b"\0")):
        meta, _, path = record.partition(b"\t")
        mode, _, object_id, size = meta.decode().split()
        yield TreeEntry(
            path=path.decode("utf-8", "surrogateescape"),
            blob=object_id,
            size=int(size) if size.isdigit() else 0,
            kind=_KINDS.get(mode, EntryKind.FILE),
            is_missing=size == "BAD",
        )


def _is_path(text: str) -> bool:
    """Whether a text can be handed to git as a path: no NUL, and bytes behind every character."""
    try:
        return bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _refusal(path: Path, why: str) -> TriageError:
    if folders_with_git(path):
        return damaged(path, why)
    return ConfigError(f"codebase: {path} is no git checkout; clone one there, or run `git init` and commit")


def is_bare(path: Path) -> bool:
    """Whether a folder is laid out as a repository without a work tree; git itself would look above a damaged one."""
    parts = (path / "objects", path / "refs")
    return all(part.is_dir() for part in parts) and (path / "config").is_file() and not (path / ".git").exists()


def damaged(path: Path, why: str) -> CodebaseUnreadable:
    """Return the error that says what git cannot read, and what to type."""
    if not path.is_dir():
        return CodebaseUnreadable(
            f"codebase: the folder {path} is gone; put it back, or name its new place in triage.yml"
        )
    return CodebaseUnreadable(
        f"codebase: the .git of {path} is damaged, or cannot be read ({why}); run `git -C {path} fsck --full`, "
        "restore what it names or clone the repository anew"
    )
