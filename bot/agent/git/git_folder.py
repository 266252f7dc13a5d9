"""Reads a repository's own files without starting git: where they are, whether HEAD may have moved, what LFS fetched.

Git's files are only compared, never interpreted further than HEAD's chain of names: what a commit id is, git says. A
file of Git LFS is read below .git/lfs, and only if it has the digest that the commit's pointer names.
Source: https://git-scm.com/docs/gitrepository-layout, https://git-scm.com/docs/reftable,
https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import Final

_READ_BYTES: Final = 4_096
"""HEAD, a ref and a list of reftables are shorter; of anything longer the beginning counts, and when it was written."""

_MAX_NAMES: Final = 5
"""So many refs may name one another, as in git."""

Stamp = tuple[int, int, int, bytes]
"""Time (ns), inode, size and beginning of a file; the beginning of a folder is empty."""


class GitFolder:
    """Git's files of the checkout or bare repository at `root`; also of a linked work tree, or of one that is gone."""

    def __init__(self, root: Path, *, is_bare: bool) -> None:
        self._root, self._is_bare = root, is_bare

    @property
    def own(self) -> Path:
        """Where HEAD is."""
        place = self._root if self._is_bare else self._root / ".git"
        elsewhere = _named_in(place, b"gitdir:")
        return place if elsewhere == Path() else self._root / elsewhere

    @property
    def shared(self) -> Path:
        """Where refs, objects and the configuration are: those of a linked work tree are elsewhere than its HEAD."""
        own = self.own
        return own / _named_in(own / "commondir")

    def refs(self) -> tuple[Stamp | None, ...]:
        """Return what differs once HEAD names another commit, or git reads the refs otherwise."""
        own, shared = self.own, self.shared
        stamps = [_stamp(own / "HEAD")]
        for _ in range(_MAX_NAMES):
            name = _ref_named(stamps[-1])
            if name is None:
                break
            stamps.append(_stamp(own / name) or _stamp(shared / name))
        files = (
            shared / "packed-refs",
            shared / "config",
            own / "reftable/tables.list",
            shared / "reftable/tables.list",
        )
        return (*stamps, *map(_stamp, files))

    def objects_of(self, commit: str) -> tuple[Stamp | None, ...]:
        """Return what differs once git may find a commit's object no more, or find it damaged."""
        objects = self.shared / "objects"
        return tuple(map(_stamp, (objects / commit[:2] / commit[2:], objects / "pack", objects / "info/alternates")))

    def tracked(self) -> Stamp | None:
        """Return what differs once git tracks other files."""
        return _stamp(self.own / "index")

    def had_commit(self) -> bool | None:
        """Whether HEAD leads to a commit, or did; None of reftables, where only git can tell.

        A branch where nobody committed has neither ref nor log.
        """
        shared, name = self.shared, _ref_named(_stamp(self.own / "HEAD"))
        packed, places = shared / "packed-refs", [self.own, shared, shared / "logs"]
        try:
            if (shared / "reftable").exists():
                return None
            if name is None:
                return True  # HEAD is a commit, or cannot be read
            if packed.exists() and not (shared / "logs").exists():
                return True  # no branch keeps a log here, so a lost one cannot be told from a new one
            return any((place / name).exists() for place in places) or _is_packed(packed, name)
        except OSError:
            return True  # not even this much can be read


def folders_with_git(path: Path) -> list[Path]:
    """Return the folder and those above it that hold a .git, the nearest first."""
    whole = path.resolve()
    return [folder for folder in (whole, *whole.parents) if (folder / ".git").exists()]


def _ref_named(stamp: Stamp | None) -> str | None:
    """Return the ref that a file names instead of a commit; None where it names none, or one outside of refs/."""
    if stamp is None or not stamp[3].startswith(b"ref:"):
        return None
    name = os.fsdecode(stamp[3].removeprefix(b"ref:").strip())
    is_inside = name.startswith("refs/") and ".." not in name and "\0" not in name
    return name if is_inside else None


def _named_in(file: Path, lead: bytes = b"") -> Path:
    """Return the path that a file of git's holds after `lead`; an empty one where it holds none."""
    stamp = _stamp(file)
    if stamp is None or not stamp[3].startswith(lead) or b"\0" in stamp[3]:
        return Path()
    return Path(os.fsdecode(stamp[3].removeprefix(lead).strip(b"\r\n").removeprefix(b" ")))


def _is_packed(packed: Path, name: str) -> bool:
    return packed.exists() and any(line.endswith(f" {name}".encode()) for line in packed.read_bytes().splitlines())


def _stamp(path: Path) -> Stamp | None:
    """Return what a file or folder is like; None where it is not there or cannot be opened. A pipe is not read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(handle)
        start = os.read(handle, _READ_BYTES) if stat.S_ISREG(found.st_mode) else b""
        return found.st_mtime_ns, found.st_ino, found.st_size, start
    except OSError:
        return None
    finally:
        os.close(handle)


MAX_POINTER_BYTES: Final = 1_024
MAX_BYTES: Final = 2_000_000
"""A longer file is not read: it stays the pointer."""

_POINTER: Final = re.compile(rb"version https://git-lfs\.github\.com/spec/[^\n]{1,20}\n")
_DIGEST: Final = re.compile(rb"^oid sha256:([0-9a-f]{64})$", re.M)
_SIZE: Final = re.compile(rb"^size (\d{1,15})$", re.M)


def is_pointer(content: bytes) -> bool:
    """Whether a file holds no content of its own, but says where Git LFS keeps it."""
    return len(content) < MAX_POINTER_BYTES and _POINTER.match(content) is not None


def fetched_content(pointer: bytes, store: Path) -> bytes | None:
    """Return the file that a pointer stands for from `store`, `.git/lfs/objects`; None where it is not there."""
    digest, size = _DIGEST.search(pointer), _SIZE.search(pointer)
    if digest is None or size is None or int(size[1]) > MAX_BYTES:
        return None
    name = digest[1].decode()
    try:
        content = (store / name[:2] / name[2:4] / name).read_bytes()
    except OSError:
        return None
    return content if hashlib.sha256(content).hexdigest() == name else None
