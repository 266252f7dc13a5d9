"""Clones of codebases that are given by their address: `<home>/codebases/<id>.git`, bare, with the whole history.

A clone is an empty repository that was fetched into. Git changes its branch in one step, after everything has arrived
and was checked; so a process that dies at any moment leaves the last good commit. No commit that was HEAD once is ever
removed: the branch's log keeps it through every repacking. Why whole and bare: docs/decisions/codebases.md.
"""

from __future__ import annotations

import hashlib
import shlex
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from bot.adapters.git.network import LIMIT_S, GitNetwork
from bot.adapters.storage.files.atomic_write import make_folder
from bot.agent.git.git_process import GitProcess
from bot.errors import refused

MAX_PACKS: Final = 50
"""More are packed into one; each fetch that brings something adds one."""

LOCK_STALE_S: Final = 60.0
"""Git holds a lock for milliseconds, so an older one is that of a process that died."""

PACK_STALE_S: Final = 600.0
_HARMLESS: Final = (
    *("badDate", "badDateOverflow", "badEmail", "badName", "badTimezone", "missingEmail", "missingNameBeforeEmail"),
    *("missingSpaceBeforeDate", "missingSpaceBeforeEmail", "missingTaggerEntry", "zeroPaddedDate"),
    *("zeroPaddedFilemode", "badTagName", "multipleAuthors"),
)
"""What old, honest repositories get wrong in names, dates and modes."""

_KEPT: Final = {
    "core.logallrefupdates": "true",
    "gc.auto": "0",
    "gc.reflogexpire": "never",
    "gc.reflogexpireunreachable": "never",
    "gc.pruneexpire": "never",
    "gc.bigpackthreshold": "256m",
    "maintenance.auto": "false",
    "pack.threads": "1",
}
"""Stands in the clone, so that it also counts for whoever runs git there by hand."""

_PREPARING: Final = threading.Lock()
"""Git refuses to write a configuration while another git writes it: a reload opens a clone that is being fetched."""

_STRICT: Final = (
    *("-c", "fetch.unpackLimit=1", "-c", "fetch.fsckObjects=true"),
    *(part for name in _HARMLESS for part in ("-c", f"fetch.fsck.{name}=ignore")),
)


def clone_path(folder: Path, codebase: str) -> Path:
    """Return where a codebase's clone is, below the folder of them all."""
    return folder / f"{codebase}.git"


class Clone:
    """The clone at `path` of one branch of `url`, of its default branch where `branch` is None."""

    def __init__(self, path: Path, url: str, branch: str | None, network: GitNetwork) -> None:
        self.path, self._url, self._network = path, url, network
        self._git = GitProcess(path, is_bare=True)
        self._source = f"refs/heads/{branch}" if branch else "HEAD"
        self.address = f"{url} {self._source}"
        # of another address nothing is read before it was fetched
        self._branch = f"refs/heads/read-{hashlib.sha256(self.address.encode()).hexdigest()[:12]}"

    @property
    def has_branch(self) -> bool:
        """Whether it was fetched at least once."""
        if (self.path / self._branch).exists():
            return True
        with suppress(OSError):
            return f" {self._branch}\n" in (self.path / "packed-refs").read_text(encoding="utf-8", errors="replace")
        return False

    @property
    def command_to_try(self) -> str:
        """What an operator types to see whether the remote answers."""
        return shlex.join(["git", "ls-remote", self._url, self._source])

    def prepare(self) -> None:
        """Make the empty repository, or mend what is missing of its frame; raises StoreError, ProviderError."""
        make_folder(self.path)
        git = self._git
        with _PREPARING:
            git.run("init", "--quiet", "--bare", "--template=")
            listed = git.run("config", "--local", "--list", "-z").decode("utf-8", "replace").split("\0")
            for name, value in {"remote.origin.url": self._url, **_KEPT}.items():
                if f"{name}\n{value}" not in listed:
                    git.run("config", "--local", "--replace-all", name, value)
            git.run("symbolic-ref", "HEAD", self._branch)

    def fetch(self, on_progress: Callable[[str], None] | None = None) -> None:
        """Bring the branch up to the remote's; what was read before stays readable.

        Raises:
            ConfigError: git is not installed.
            ProviderError: it could not be fetched; nothing was changed.
            StoreError: the folder cannot be used.
        """
        self.prepare()
        self._sweep()
        refs = (f"+{self._source}:{self._branch}", "+refs/tags/*:refs/tags/*")
        options = ("--progress", "--prune", "--no-recurse-submodules", "--no-write-fetch-head")
        self._network.run(self.path, *_STRICT, "fetch", *options, "origin", *refs, on_progress=on_progress)

    def repack(self) -> None:
        """Pack what many fetches left, if they are many; raises ProviderError."""
        if sum(1 for _ in self.path.glob("objects/pack/*.pack")) > MAX_PACKS:
            self._network.run(self.path, "gc", "--no-prune", stall_s=LIMIT_S)

    def ask_remote(self) -> None:
        """Ask the remote whether the branch is there, and change nothing; raises ProviderError, ConfigError."""
        options = ("--exit-code", "--", self._url, self._source)
        self._network.run(Path("/"), "ls-remote", *options, is_bare=False)

    def _sweep(self) -> None:
        """Remove what a git that was killed has left."""
        now = time.time()
        stale = [
            *((path, LOCK_STALE_S) for path in (*self.path.glob("*.lock"), *self.path.glob("refs/**/*.lock"))),
            *((path, PACK_STALE_S) for path in self.path.glob("objects/pack/tmp_*")),
        ]
        with refused(f"cannot clean {self.path}", "check the disk and the folder's owner"):
            for path, age_s in stale:
                with suppress(FileNotFoundError):
                    if now - path.stat().st_mtime > age_s:
                        path.unlink()
