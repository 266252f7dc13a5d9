"""Clones of codebases that are given by their address: `<home>/codebases/<id>.git`, bare, with the whole history.

A clone is an empty repository that was fetched into. Git changes its branch in one step, after everything has arrived
and was checked; so a process that dies at any moment leaves the last good commit. No commit that was HEAD once is ever
removed: the branch's log keeps it through every repacking. Why whole and bare: docs/decisions/codebases.md.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.atomic_write import make_folder
from bot.agent.git.git_process import GitFailed, GitProcess, Patience
from bot.config.environment import NETWORK_VARIABLES
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.errors import ProviderError, refused

STALL_S: Final = 300.0
"""How long git may print nothing; it reports its progress every second while something arrives."""

LIMIT_S: Final = 6 * 3600.0
WORDS_CHARS: Final = 240
_PASSED_ON: Final = frozenset(
    {"PATH", "LANG", "TMPDIR", "HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}
    | {"DBUS_SESSION_BUS_ADDRESS", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL"}
    | NETWORK_VARIABLES
)
_FIXED: Final = {
    "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_COMMITTER_NAME": "triage",
    "GIT_COMMITTER_EMAIL": "triage@localhost",
    "LC_ALL": "C.UTF-8",
}
_USER_OF_URL: Final = re.compile(r"(?<=://)[^/\s@'\"]{1,500}@")
_FAILURES: Final = ("fatal:", "error:")
_PROGRESS: Final = re.compile(r"\d{1,3}% \(\d|, done\.|^From |^remote: (?:Total|Enumerating)|^remote:[ =]*$")


def network_environment() -> dict[str, str]:
    """Return the environment of a git that needs credentials: the operator's, without any secret of triage."""
    return {**{name: os.environ[name] for name in _PASSED_ON if name in os.environ}, **_FIXED}


class GitNetwork:
    """Runs git commands that reach other machines; safe to use from any thread, until `close`."""

    def __init__(self, secrets: Collection[str] = (), *, stall_s: float = STALL_S, limit_s: float = LIMIT_S) -> None:
        self._secrets, self._patience = secrets, Patience(limit_s, stall_s, threading.Event())

    def run(
        self,
        root: Path,
        *args: str,
        is_bare: bool = True,
        stall_s: float | None = None,
    ) -> None:
        """Run git at `root`, which is a bare repository, and return at its end.

        Args:
            root: Where git runs.
            args: The command line after `git`; what comes from outside cannot be an option in it.
            is_bare: Whether there is a repository at all.
            stall_s: How long git may be silent, where it is not as usual.

        Raises:
            ConfigError: git is not installed.
            ProviderError: it failed, was silent for too long or ran for too long; with git's words, shortened.
        """
        git = GitProcess(root, is_bare=is_bare, environment=network_environment, is_detached=True)
        patience = self._patience._replace(silence_s=stall_s or self._patience.silence_s)

        try:
            for _ in git.stream(*args, patience=patience):
                pass
        except GitFailed as error:
            words = self._words(error.said) if error.code is not None else ""
            raise ProviderError(words or error.reason) from error

    def close(self) -> None:
        """End what runs, for good; git leaves nothing half done that anybody reads."""
        assert self._patience.stop is not None
        self._patience.stop.set()

    def _words(self, said: bytes) -> str:
        """Return git's own words on a failure as one line: its first `error:` or `fatal:`, and what came before it."""
        lines = [line.strip() for line in re.split(r"[\r\n]+", said.decode("utf-8", "replace")) if line.strip()]
        telling = [line for line in lines if not _PROGRESS.search(line)]
        end = next((number for number, line in enumerate(telling, 1) if line.startswith(_FAILURES)), len(telling))
        words = "; ".join(re.sub(r"^(?:fatal|error): ", "", line) for line in telling[max(0, end - 2) : end])
        return one_line(redact(_USER_OF_URL.sub("", strip_hidden(words)[0]), self._secrets), WORDS_CHARS)


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

    def fetch(self) -> None:
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
        self._network.run(self.path, *_STRICT, "fetch", *options, "origin", *refs)

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
