"""Runs the codebase's own check on a patch, in a throw-away folder: without network or secrets, with limits.

What isolates it depends on the machine: bubblewrap hides the data directory and known credential files and takes the
network away; unshare takes the network away; without both the check runs as the bot's user. The result names which it
was. The program is the operator's; it runs a patch that an approver has read.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import tempfile
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
LOOK_S: Final = 0.2
_PROBE_S: Final = 10
MAX_PROCESSES: Final = 4096
TEMPORARY: Final = "tmp"
"""Beside the folder of a check: what it sees as /tmp."""

_CREDENTIALS: Final = (
    *(".ssh", ".aws", ".azure", ".kube", ".docker", ".gnupg"),
    *(".config/gh", ".config/glab-cli", ".config/gcloud"),
)
_NIXOS: Final = "/run/current-system"
"""Where the programs of some machines are."""

_CREDENTIAL_FILES: Final = (".netrc", ".git-credentials", ".config/git/credentials", ".npmrc", ".pypirc", ".pgpass")

_UNSHARE: Final = ["unshare", "--map-root-user", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]


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
    """What a check may take; memory is of each process, and so much of the disk it must leave free."""

    seconds: float
    memory_mb: int
    spare_mb: int = 256


LIMITS: Final = CheckLimits(seconds=600, memory_mb=4096)


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
    home, temporary = folder.parent / "home", folder.parent / TEMPORARY
    for own in (home, temporary):
        own.mkdir(exist_ok=True)
    command = [*_isolated(isolation, folder, home, temporary, hidden), *_limited(limits), *argv]
    with tempfile.TemporaryFile(dir=folder.parent) as output:
        try:
            process = subprocess.Popen(  # noqa: S603 - the operator's argv, no shell
                command,
                cwd=folder,
                env=_environment(home),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            return CheckRun(None, "", f"`{argv[0]}` cannot be started: {error.strerror}", isolation)
        with process:
            try:
                problem = _wait(process, folder.parent, limits, stop)  # its own folder it may remove
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            code = process.wait() if problem is None else None
        output.seek(max(0, output.seek(0, os.SEEK_END) - TAIL_BYTES))
        text = output.read(TAIL_BYTES).decode("utf-8", "replace").replace("\0", "\ufffd")
    return CheckRun(code, text, f"it ended with exit code {code}" if code else problem, isolation)


def _wait(process: subprocess.Popen[bytes], disk: Path, limits: CheckLimits, stop: threading.Event) -> str | None:
    """Return when a program has ended, or has to be ended: then why; raises CheckStopped."""
    deadline = time.monotonic() + limits.seconds
    while process.poll() is None:
        if stop.is_set():
            raise CheckStopped("The bot stops; the check is run again at the next start")
        if time.monotonic() >= deadline:
            return f"it took over {limits.seconds / 60:g} minutes"
        if shutil.disk_usage(disk).free < limits.spare_mb << 20:
            return f"it left less than {limits.spare_mb} MB of the disk free"
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_S)
    return None


@cache
def best_isolation() -> Isolation:
    """Return what this machine offers, tried once with a program that does nothing."""
    if _works(["bwrap", "--unshare-net", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]):
        return Isolation.FILES_AND_NETWORK
    return Isolation.NETWORK if _works(_UNSHARE) else Isolation.NOTHING


def _works(prefix: Sequence[str]) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 - constants
            [*prefix, "true"], capture_output=True, stdin=subprocess.DEVNULL, timeout=_PROBE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _isolated(isolation: Isolation, folder: Path, home: Path, temporary: Path, hidden: Sequence[Path]) -> list[str]:
    """Return what stands before a program that is kept from the rest of the machine."""
    if isolation is not Isolation.FILES_AND_NETWORK:
        return [] if isolation is Isolation.NOTHING else _UNSHARE
    mine = Path.home()
    folders = [*hidden, *(mine / name for name in _CREDENTIALS)]
    files = [Path.cwd() / ".env", *(mine / name for name in _CREDENTIAL_FILES)]
    return [
        *("bwrap", "--die-with-parent", "--new-session", "--unshare-net", "--unshare-pid", "--unshare-ipc"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", str(temporary), "/tmp"),  # noqa: S108 - its own, on disk: memory has a limit
        *("--tmpfs", "/run", "--ro-bind-try", _NIXOS, _NIXOS),  # sockets of databases, containers and agents lie there
        *(part for path in folders if path.is_dir() for part in ("--tmpfs", str(path))),
        *(part for path in files if path.is_file() for part in ("--ro-bind", "/dev/null", str(path))),
        *(part for path in (folder, home) for part in ("--bind", str(path), str(path))),
        *("--chdir", str(folder), "--"),
    ]


def _limited(limits: CheckLimits) -> list[str]:
    """Return what limits a program's memory, processes and core dumps, and its CPU time where nothing else ends it."""
    if shutil.which("prlimit") is None:
        return []
    wanted = {
        "data": (resource.RLIMIT_DATA, limits.memory_mb << 20),
        "cpu": (resource.RLIMIT_CPU, int(limits.seconds) + 1),
        "nproc": (resource.RLIMIT_NPROC, MAX_PROCESSES),
        "core": (resource.RLIMIT_CORE, 0),
    }
    return ["prlimit", *(f"--{name}={_at_most(kind, value)}" for name, (kind, value) in wanted.items()), "--"]


def _at_most(kind: int, value: int) -> int:
    """Return a limit, or the lower one that this process must keep to itself."""
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _environment(home: Path) -> dict[str, str]:
    keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**keep, "HOME": str(home), "LC_ALL": "C.UTF-8", "CI": "1", "NO_COLOR": "1", "TERM": "dumb"}
