"""Run a server for as long as the parent lives, and not a moment longer.

Started as a script, `keeper.py <argv…>`, with a pipe as its standard input that the parent never writes to. The end of
that pipe is the one sign of the parent's death that no `kill -9` can prevent and every POSIX system has; then, as
on SIGTERM or SIGINT, the server is stopped. It leaves with the server's exit code. Imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

_GRACE_S = 3.0
_LOOK_S = 0.1


def keep(argv: Sequence[str]) -> int:
    """Run `argv` until it ends, the parent is gone or a signal asks for it; return its exit code."""
    server = subprocess.Popen(argv, stdin=subprocess.DEVNULL)  # noqa: S603 - argv comes from slack_server.py alone
    ended: queue.SimpleQueue[None] = queue.SimpleQueue()  # its put, unlike Event.set, may interrupt itself

    def on_signal(*_: Any) -> None:
        ended.put(None)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    threading.Thread(target=_wait_for_parent, args=[ended], daemon=True).start()
    while server.poll() is None and not _has_ended(ended):
        pass
    return _end(server)


def _has_ended(ended: queue.SimpleQueue[None]) -> bool:
    with contextlib.suppress(queue.Empty):
        ended.get(timeout=_LOOK_S)
        return True
    return False


def _wait_for_parent(ended: queue.SimpleQueue[None]) -> None:
    # not sys.stdin: its lock, held by a reading thread, makes the interpreter abort at exit
    while os.read(0, 1024):
        pass
    ended.put(None)


def _end(server: subprocess.Popen[bytes]) -> int:
    if server.poll() is None:
        server.terminate()
    try:
        return server.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        server.kill()
        return server.wait()


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1:]))
