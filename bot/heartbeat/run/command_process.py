"""Runs one command of a beat within limits of time, output and memory; nothing of it is left running.

No shell, a scrubbed environment, hooks and prompts off. Filters and transports that the checkout's own git config names
do run: large files need them, and who may write that file may run programs there anyway.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from bot.agent.git.git_process import HARDENING
from bot.config.environment import NETWORK_VARIABLES
from bot.domain.heartbeats.allowed_commands import Argv

MEMORY_MIB: Final = 2048
"""What a command and all it started may use together. Measured: git, npm and a linter took less than 100 MiB, a type
checker 700 for 40,000 lines of Python. So what exceeds it has run away, or belongs into CI."""

_GUARD: Final = Path(__file__).with_name("command_guard.py")
_GRACE_S: Final = 10.0
"""How long a guard may take to end its command; one that waits for a lost network drive cannot be ended."""

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
    died, alive = os.pipe()
    guard = [sys.executable, "-I", "-S", str(_GUARD), str(seconds), str(max_bytes), str(max_mib)]
    try:
        ended = subprocess.run(  # noqa: S603 - an exact argv template, no shell
            [*guard, *argv],
            cwd=cwd,
            env=environment,
            stdin=died,
            capture_output=True,
            start_new_session=True,
            timeout=seconds + _GRACE_S,
        )
    except subprocess.TimeoutExpired:
        return Ran(b"", None, "cannot be ended")
    except OSError as error:
        why = error.strerror if cwd.is_dir() else f"{cwd} is gone"
        return Ran(b"", None, f"cannot be started: {why}")
    finally:
        os.close(died)
        os.close(alive)
    exceeded = {
        "time": f"took over {seconds:g} s",
        "output": f"printed more than {max_bytes // 1024} KiB",
        "memory": f"used more than {max_mib} MiB of memory",
    }
    match ended.stderr.decode().split():
        case ["exit", code]:
            number = int(code)
            killed = f"was ended by a signal: {signal.strsignal(-number)}" if number < 0 else None
            return Ran(ended.stdout, number, killed)
        case ["errno", code]:
            return Ran(b"", None, f"cannot be started: {_why_not(argv[0], int(code))}")
        case [limit] if limit in exceeded:
            return Ran(ended.stdout, -signal.SIGKILL, exceeded[limit])
    return Ran(ended.stdout, None, "was ended from outside")


def _why_not(program: str, number: int) -> str:
    """Return why a program cannot be started."""
    if number != errno.ENOENT:
        return os.strerror(number)
    missing = "is not there, or the program in its first line is not" if "/" in program else "is not installed"
    return f"{program} {missing}"
