"""Runs the codebase's own check in a throw-away folder: no network, none of the bot's files, limits of time and memory.

What is kept from it depends on the machine: bubblewrap hides the data directory and known files of credentials and
takes the network away; unshare takes the network away; without both the check runs as the bot's user. Which it was is
part of the result. The environment has no secret in any case. The program is the operator's; what it runs is a patch
that an approver has read.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from bot.errors import Unavailable

TAIL_BYTES: Final = 64 * 1024
_PIECE: Final = 1 << 16
_LOOK_MS: Final = 200
_PROBE_S: Final = 10
_CREDENTIALS: Final = (".ssh", ".aws", ".azure", ".kube", ".docker", ".gnupg", ".config/gh", ".config/glab-cli")
_NIXOS: Final = "/run/current-system"
"""Where the programs of some machines are."""
_CREDENTIAL_FILES: Final = (".netrc", ".git-credentials", ".npmrc", ".pypirc")


class Isolation(StrEnum):
    """What a check could not reach."""

    FILES_AND_NETWORK = "files-and-network"
    NETWORK = "network"
    NOTHING = "nothing"


ISOLATION_WORDS: Final = {
    Isolation.FILES_AND_NETWORK: "without network and without the bot's files",
    Isolation.NETWORK: "without network",
    Isolation.NOTHING: "*not isolated*: this machine offers neither bubblewrap nor unshare",
}


class CheckStopped(Unavailable):
    """The process ends; nothing is wrong with the check."""


class CheckLimits(NamedTuple):
    """What a check may take; memory is of each process."""

    seconds: float
    memory_mb: int


class CheckRun(NamedTuple):
    """How a check ended: `exit_code` None where it was stopped or never began, `problem` says why."""

    exit_code: int | None
    tail: str
    problem: str | None
    isolation: Isolation

    @property
    def passed(self) -> bool:
        """Whether it ended well."""
        return self.exit_code == 0


def run_check(
    argv: Sequence[str], folder: Path, *, limits: CheckLimits, hidden: Sequence[Path], stop: threading.Event
) -> CheckRun:
    """Run a program in `folder`; `hidden` are folders that it should not see.

    Raises:
        CheckStopped: `stop` was set, for the bot ends.
    """
    isolation = best_isolation()
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    command = [*_isolated(isolation, folder, home, hidden), *_limited(limits), *argv]
    try:
        process = subprocess.Popen(  # noqa: S603 - the operator's argv, no shell
            command,
            cwd=folder,
            env=_environment(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return CheckRun(None, "", f"`{argv[0]}` cannot be started: {error.strerror}", isolation)
    with process:
        try:
            tail, in_time = _watched(process, time.monotonic() + limits.seconds, stop)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    text = tail.decode("utf-8", "replace").replace("\0", "\ufffd")
    if not in_time:
        return CheckRun(None, text, f"it took over {limits.seconds / 60:g} minutes", isolation)
    return CheckRun(code, text, None if code == 0 else f"it ended with exit code {code}", isolation)


@cache
def best_isolation() -> Isolation:
    """Return what this machine offers, tried once with a program that does nothing."""
    if _works(["bwrap", "--unshare-net", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]):
        return Isolation.FILES_AND_NETWORK
    return Isolation.NETWORK if _works(_UNSHARE) else Isolation.NOTHING


_UNSHARE: Final = ["unshare", "--map-root-user", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]


def _works(prefix: Sequence[str]) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 - constants
            [*prefix, "true"], capture_output=True, stdin=subprocess.DEVNULL, timeout=_PROBE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _isolated(isolation: Isolation, folder: Path, home: Path, hidden: Sequence[Path]) -> list[str]:
    """Return what stands before a program that is kept from the rest of the machine."""
    if isolation is not Isolation.FILES_AND_NETWORK:
        return [] if isolation is Isolation.NOTHING else _UNSHARE
    mine = Path.home()
    folders = [*hidden, *(mine / name for name in _CREDENTIALS)]
    files = [Path.cwd() / ".env", *(mine / name for name in _CREDENTIAL_FILES)]
    return [
        *("bwrap", "--die-with-parent", "--new-session", "--unshare-net", "--unshare-pid", "--unshare-ipc"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),  # noqa: S108 - its own
        *("--tmpfs", "/run", "--ro-bind-try", _NIXOS, _NIXOS),  # sockets of databases, containers and agents lie there
        *(part for path in folders if path.is_dir() for part in ("--tmpfs", str(path))),
        *(part for path in files if path.is_file() for part in ("--ro-bind", "/dev/null", str(path))),
        *(part for path in (folder, home) for part in ("--bind", str(path), str(path))),
        *("--chdir", str(folder), "--"),
    ]


def _limited(limits: CheckLimits) -> list[str]:
    """Return what limits a program's memory and core dumps, and its CPU time where nothing else ends it."""
    if shutil.which("prlimit") is None:
        return []
    return ["prlimit", f"--data={limits.memory_mb << 20}", f"--cpu={int(limits.seconds) + 1}", "--core=0", "--"]


def _environment(home: Path) -> dict[str, str]:
    keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**keep, "HOME": str(home), "LC_ALL": "C.UTF-8", "CI": "1", "NO_COLOR": "1", "TERM": "dumb"}


def _watched(process: subprocess.Popen[bytes], deadline: float, stop: threading.Event) -> tuple[bytes, bool]:
    """Return the last that a program prints, and whether it ended in time."""
    assert process.stdout is not None
    pipe, tail = process.stdout.fileno(), b""
    looks = select.poll()
    looks.register(pipe, select.POLLIN | select.POLLHUP)
    while time.monotonic() < deadline:
        if stop.is_set():
            raise CheckStopped("The bot stops; the check is run again at the next start")
        was_running = process.poll() is None
        piece = os.read(pipe, _PIECE) if looks.poll(_LOOK_MS) else None
        if piece:
            tail = (tail + piece)[-TAIL_BYTES:]
        elif piece is None and not was_running:
            return tail, True
        elif piece == b"":
            return tail, _ended(process, deadline, stop)
    return tail, False


def _ended(process: subprocess.Popen[bytes], deadline: float, stop: threading.Event) -> bool:
    """Wait for a program that prints no more; False where it is still running at the deadline."""
    while time.monotonic() < deadline:
        if stop.is_set():
            raise CheckStopped("The bot stops; the check is run again at the next start")
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_MS / 1000)
            return True
    return False
