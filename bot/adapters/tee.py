"""A program that runs a command, copies its output to a file and to its own output, and ends with it.

Started by path (`python -I tee.py LOCK LOG COMMAND…`), so that neither the current folder nor the environment chooses
what Python imports; it therefore imports nothing of ours. It holds the lock on LOCK as long as it lives, its process id
in there. Only the owner may read the files. When it ends, it ends the command too.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
from typing import IO

_LINGER_S = 0.2
"""How long output is awaited after the command's end: a grandchild may hold the pipe open for ever."""


def main(lock: str, log: str, *argv: str) -> int:
    """Return the command's exit code; 127 if it cannot be started, 75 if another process has the lock."""
    held = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)  # the command does not inherit it
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 75
    os.write(held, f"{os.getpid()}\n".encode())
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        process = subprocess.Popen(  # noqa: S603 - argv, no shell
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as error:
        _write(handle, f"cannot start {argv[0]}: {error.strerror}\n".encode())
        return 127
    assert process.stdout is not None
    _copy(process, process.stdout, handle)
    return process.wait()


def _copy(process: subprocess.Popen[bytes], source: IO[bytes], handle: int) -> None:
    """Copy until the end of the output, or until the command has ended and nothing more comes."""
    while True:
        ended = process.poll() is not None
        ready, _, _ = select.select([source], [], [], _LINGER_S)
        if ready:
            data = os.read(source.fileno(), 65_536)
            if not data:
                return
            _write(handle, data)
        elif ended:
            return


def _write(handle: int, data: bytes) -> None:
    os.write(handle, data)
    with contextlib.suppress(OSError):  # the screen is gone; the file is what counts
        os.write(sys.stdout.fileno(), data)


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    if os.getpgrp() == os.getpid():  # nothing it started in the background outlives it
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
    sys.exit(code)
