"""Runs git: always an argv, never a shell, in a scrubbed environment.

Hooks, file-system monitors, pagers, prompts, transports and path-spec magic are off, whatever the checkout configures.
Transports are off in the environment, which no `protocol.<name>.allow` of a checkout overrules.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from bot.errors import ConfigError, ProviderError

TIMEOUT_S: Final = 60
REJECTED: Final = "rejected"
_HTTP_STATUS: Final = re.compile(r"The requested URL returned error: (\d{3})")
_NO_LOGIN: Final = ("fatal: could not read Username for ", "fatal: Authentication failed for ")
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
HARDENING: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.quotePath=true",
    "diff.external=",
    "log.showSignature=false",
    "submodule.recurse=false",
    "blame.ignoreRevsFile=",
)


class Captured(NamedTuple):
    """What git printed; `complete` is False when there was more than was asked for."""

    out: bytes
    complete: bool


class GitProcess:
    """Git at `root`; of a bare repository only at `root`, else wherever above it git finds one.

    `variables` go over its environment, `settings` over its configuration and the hardening.
    """

    def __init__(
        self,
        root: Path,
        *,
        is_bare: bool = False,
        variables: Mapping[str, str] = _NOTHING,
        settings: Sequence[str] = (),
    ) -> None:
        self.root, self._is_bare, self._variables, self._settings = root, is_bare, variables, settings
        self._place = ["--git-dir", str(root)] if is_bare else []

    def with_variables(self, variables: Mapping[str, str], *settings: str) -> GitProcess:
        """Return git at the same place with more of both."""
        merged, more = {**self._variables, **variables}, (*self._settings, *settings)
        return GitProcess(self.root, is_bare=self._is_bare, variables=merged, settings=more)

    def argv(self, *args: str) -> list[str]:
        """Return the whole command line of a git call."""
        # git compares with the checkout's top, which is above `root` until git has said where it is
        safe = [f"safe.directory={folder}" for folder in (self.root, *self.root.parents)]
        options = [part for item in (*HARDENING, *safe, *self._settings) for part in ("-c", item)]
        return ["git", "--no-pager", "--literal-pathspecs", *options, "-C", str(self.root), *self._place, *args]

    def run(self, *args: str, given: bytes | None = None, timeout_s: float = TIMEOUT_S) -> bytes:
        """Return all that git prints; it reads `given`.

        Raises:
            ConfigError: git is not installed.
            ProviderError: it failed, or took over `timeout_s`; its code is the HTTP status with which a remote refused,
                REJECTED where it took a push and refused it, else git's exit code; None where it took too long.
        """
        try:
            done = subprocess.run(  # noqa: S603 - argv, no shell
                self.argv(*args),
                stdin=subprocess.DEVNULL if given is None else None,
                input=given,
                capture_output=True,
                timeout=timeout_s,
                env={**environment(), **self._variables},
                check=False,
            )
        except FileNotFoundError as error:
            raise ConfigError("git is not installed; install it (`apt-get install git`)") from error
        except subprocess.TimeoutExpired as error:
            raise ProviderError(self._too_slow(args[0], timeout_s)) from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            remote = [line.removeprefix("remote:").strip() for line in said if line.startswith("remote:")]
            code = _refused_with(said)
            is_refused = code and any(remote)  # git's last line then only says that it was
            why = " ".join(filter(None, remote)) if is_refused else said[-1] if said else done.returncode
            raise ProviderError(f"git {args[0]} failed in {self.root}: {why}", code=code or str(done.returncode))
        return done.stdout

    def start(self, *args: str, stdin: int | None = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Start git with its output on a pipe; raises ConfigError when it is not installed."""
        try:
            return subprocess.Popen(  # noqa: S603 - argv, no shell
                self.argv(*args),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**environment(), **self._variables},
            )
        except FileNotFoundError as error:
            raise ConfigError("git is not installed; install it (`apt-get install git`)") from error

    def run_capped(
        self,
        *args: str,
        max_bytes: int,
        fine: tuple[int, ...] = (0,),
        timeout_s: float = TIMEOUT_S,
    ) -> Captured:
        """Return the first `max_bytes` that git prints and stop it there; `fine` are the exit codes of success.

        Raises:
            ConfigError: git is not installed.
            ProviderError: it failed, or took over `timeout_s`.
        """
        process = self.start(*args)
        timer = threading.Timer(timeout_s, process.kill)
        timer.start()
        with process:
            assert process.stdout is not None
            out = process.stdout.read(max_bytes + 1)
            if len(out) > max_bytes:
                process.kill()
            code = process.wait()
            expired = timer.finished.is_set()
            timer.cancel()
        if len(out) > max_bytes:
            return Captured(out[:max_bytes], complete=False)
        if code not in fine:
            raise ProviderError(
                self._too_slow(args[0], timeout_s) if expired else f"git {args[0]} failed in {self.root}: {code}"
            )
        return Captured(out, complete=True)

    def _too_slow(self, command: str, timeout_s: float) -> str:
        return f"git {command} took over {timeout_s:g} s in {self.root}"


def _refused_with(said: Sequence[str]) -> str | None:
    """Return how a remote refused, as git tells it: an HTTP status, or REJECTED; None where it did not."""
    for line in said:
        if line.startswith(" ! ["):
            return REJECTED
        if line.startswith(("fatal: ", "error: ")):
            if match := _HTTP_STATUS.search(line):
                return match[1]
            if line.startswith(_NO_LOGIN):
                return "401"
            if line.startswith("fatal: repository ") and line.endswith(" not found"):
                return "404"
    return None


def environment() -> dict[str, str]:
    """Return the environment git runs in: no secret of ours, no configuration of anybody's."""
    keep = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    return {
        **keep,
        "HOME": "/nonexistent",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_GRAFT_FILE": "/dev/null",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
    }
