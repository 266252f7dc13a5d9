"""Runs one command of a beat within limits of time, output and memory; nothing of it is left running.

No shell, a scrubbed environment, hooks and prompts off. Filters and transports that the checkout's own git config names
do run: large files need them, and who may write that file may run programs there anyway.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from bot.agent.git.git_process import HARDENING
from bot.config.network_variables import NETWORK_VARIABLES
from bot.domain.heartbeats.allowed_commands import Argv

MEMORY_MIB: Final = 2048
"""What a command and all it started may use together. Measured: git, npm and a linter took less than 100 MiB, a type
checker 700 for 40,000 lines of Python. So what exceeds it has run away, or belongs into CI."""

_GUARD: Final = Path(__file__).with_name("command_guard.py")
_GRACE_S: Final = 10.0
"""How long a guard may take to end its command; one that waits for a lost network drive cannot be ended."""

_PIECE: Final = 1 << 16
_SETTINGS: Final = (*HARDENING, "core.askPass=", "protocol.ext.allow=never", "gc.auto=0", "maintenance.auto=false")
_FIXED: Final = MappingProxyType(
    {
        "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
        **{f"GIT_CONFIG_KEY_{n}": setting.partition("=")[0] for n, setting in enumerate(_SETTINGS)},
        **{f"GIT_CONFIG_VALUE_{n}": setting.partition("=")[2] for n, setting in enumerate(_SETTINGS)},
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GLAB_CHECK_UPDATE": "false",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
    }
)
_SSH: Final = "ssh -oBatchMode=yes -oConnectTimeout=10"
"""How git starts ssh where the operator does not say; a beat has no terminal, so ssh never asks in any case."""

_PASSED_ON: Final = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "TZ", "XDG_CONFIG_HOME"}) | NETWORK_VARIABLES
_PREFIXES: Final = MappingProxyType({"gh": ("GH_",), "glab": ("GITLAB_", "GLAB_")})
"""How the variables begin that a program sees besides."""


class Ran(NamedTuple):
    """What a command printed, up to a piece more than its limit, how it ended, and why that is no answer.

    `exit_code` is negative after a signal, always -9 after a limit, and None where nothing was started.
    """

    output: bytes
    exit_code: int | None
    unanswered: str | None = None


def command_environment(environ: Mapping[str, str], program: str) -> dict[str, str]:
    """Return the environment of a command: of the bot's own only what the program needs."""
    prefixes = _PREFIXES.get(program, ())
    given = {name: value for name, value in environ.items() if name in _PASSED_ON or name.startswith(prefixes)}
    return {**({} if "GIT_SSH" in environ else {"GIT_SSH_COMMAND": _SSH}), **given, **_FIXED}


def run_command(
    argv: Argv, cwd: Path, environment: Mapping[str, str], *, seconds: float, max_bytes: int, max_mib: int = MEMORY_MIB
) -> Ran:
    """Run a command to its end, or to the first limit it exceeds; then nothing that it started runs any more.

    The limits are of time, output and memory. The same holds when this process ends meanwhile, however it ends.
    """
    ours, theirs = socket.socketpair()
    with ours:
        try:
            with theirs:
                process = subprocess.Popen(  # noqa: S603 - an exact argv template, no shell
                    [sys.executable, "-I", "-S", str(_GUARD), str(max_mib), *argv],
                    cwd=cwd,
                    env=environment,
                    stdin=theirs.fileno(),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            why = error.strerror if cwd.is_dir() else f"{cwd} is gone"
            return Ran(b"", None, f"cannot be started: {why}")
        with process, ours:
            output, is_late = _printed(process, ours, seconds, max_bytes)
            ours.shutdown(socket.SHUT_WR)
            answer = _answer(process, ours)
    if is_late:
        return Ran(output, -signal.SIGKILL, f"took over {seconds:g} s")
    if len(output) > max_bytes:
        return Ran(output, -signal.SIGKILL, f"printed more than {max_bytes // 1024} KiB")
    return Ran(output, answer.get("exit_code"), answer.get("unanswered", "was ended from outside"))


def _printed(
    process: subprocess.Popen[bytes], guard: socket.socket, seconds: float, max_bytes: int
) -> tuple[bytes, bool]:
    """Return what a command prints up to its end or the limit of output, and whether the limit of time came first."""
    assert process.stdout is not None
    pipe, output, deadline = process.stdout.fileno(), b"", time.monotonic() + seconds
    looks = select.poll()  # select() itself takes no descriptor above 1023
    for each in (pipe, guard.fileno()):
        looks.register(each, select.POLLIN | select.POLLHUP)
    while len(output) <= max_bytes:
        left_s = deadline - time.monotonic()
        ready = {each for each, _ in looks.poll(left_s * 1000)} if left_s > 0 else set()
        piece = os.read(pipe, _PIECE) if pipe in ready else b""
        if not piece:
            return output, not ready
        output += piece
    return output, False


def _answer(process: subprocess.Popen[bytes], guard: socket.socket) -> dict[str, Any]:
    """Return what the guard says; nothing where somebody killed it, or it cannot end its command."""
    guard.settimeout(_GRACE_S)
    try:
        said = guard.recv(_PIECE)
    except OSError:
        process.kill()
        return {}
    return dict(json.loads(said)) if said else {}
