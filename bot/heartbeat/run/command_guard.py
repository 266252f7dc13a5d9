"""Runs one command, and ends with it everything that it started; a program of its own, without the bot's modules.

Called as `python -I -S command_guard.py <MiB> <argv…>` with a socket to the bot as standard input. It ends the command
when the bot shuts its side of the socket or dies, or when all its processes together use more memory than that. Then
it sends {"exit_code": int | null, "unanswered": text | null}: how the command ended, and why that is no answer.
On Linux it adopts orphans, so that a daemon with a session, a parent and an environment of its own is still found.
Elsewhere the process group ends, and memory has no limit. What a service of the machine starts is not found.
Where the machine itself has no memory left, Linux ends the command before the bot.
Source: https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SET_CHILD_SUBREAPER = 36
_BOT = 0
_LOOK_S, _SHARE = 0.1, 20
"""How long the memory of a command is left alone between two looks, in seconds, or so many times what a look takes."""

_KILL_S = 5.0
"""How long killing may take: what belongs to another user, or waits for a lost network drive, cannot be ended."""


def main() -> None:
    """Run the command of the command line and say how it ended."""
    limit_mib, argv = int(sys.argv[1]), sys.argv[2:]
    exit_code: int | None = None
    unanswered: str | None
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
    woken = _wake_at_ends()
    try:
        command = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603 - an exact argv
    except FileNotFoundError:
        missing = "is not there, or the program in its first line is not" if "/" in argv[0] else "is not installed"
        unanswered = f"cannot be started: {argv[0]} {missing}"
    except OSError as error:
        unanswered = f"cannot be started: {error.strerror}"
    else:
        is_too_large = _watch(command, woken, limit_mib << 10)
        exit_code = _end(command)
        unanswered = f"used more than {limit_mib} MiB of memory" if is_too_large else _signalled(exit_code)
    with suppress(OSError):  # the bot is gone
        os.write(_BOT, json.dumps({"exit_code": exit_code, "unanswered": unanswered}).encode())


def _wake_at_ends() -> int:
    """Return a descriptor that can be read once a child has ended."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return woken


def _watch(command: subprocess.Popen[bytes], woken: int, limit_kib: int) -> bool:
    """Wait until a command ends or is to be ended; return whether it uses too much memory."""
    look_at = time.monotonic()
    while command.poll() is None:
        ready, _, _ = select.select([_BOT, woken], [], [], max(0.0, look_at - time.monotonic()))
        if _BOT in ready:
            return False
        if woken in ready:
            os.read(woken, select.PIPE_BUF)
        if (now := time.monotonic()) >= look_at:
            began = time.process_time()
            if sum(used for _, used in _descendants()) > limit_kib:
                return True
            look_at = now + max(_LOOK_S, _SHARE * (time.process_time() - began))
    return False


def _end(command: subprocess.Popen[bytes]) -> int:
    """Kill a command and what it started until nothing is left; who loses a parent meanwhile becomes our child."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(command.pid, signal.SIGKILL)
    exit_code = command.wait()
    until = time.monotonic() + _KILL_S
    with suppress(ChildProcessError):  # there are no children any more
        while time.monotonic() < until:
            for pid, _ in _descendants():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(_KILL_S / 1000)
    return exit_code


def _descendants() -> Iterator[tuple[int, int]]:
    """Yield the id of each process below this one, and its own memory in KiB, swapped out or not.

    Memory that it shares with a file or with others does not count: git maps packs larger than any limit.
    """
    children: dict[int, list[tuple[int, int]]] = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError, ValueError):  # it has ended
            fields = dict(line.split(":", 1) for line in status.read_text(errors="replace").splitlines())
            used = sum(int(fields.get(name, "0").split()[0]) for name in ("RssAnon", "VmSwap"))
            children.setdefault(int(fields["PPid"]), []).append((int(fields["Pid"]), used))
    found = list(children.get(os.getpid(), ()))
    for pid, used in found:
        yield pid, used
        found += children.get(pid, [])


def _signalled(exit_code: int) -> str | None:
    if exit_code >= 0:
        return None
    is_known = -exit_code in set(signal.Signals)
    return f"was ended by {signal.Signals(-exit_code).name if is_known else f'signal {-exit_code}'}"


if __name__ == "__main__":
    main()
