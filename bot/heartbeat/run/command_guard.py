"""Runs one command within its limits and ends all it started; a program of its own that starts in few milliseconds.

Called as `python -I -S command_guard.py <seconds> <bytes> <MiB> <argv…>` with a pipe from the bot as standard input,
which ends when the bot dies, and then so does the command. Standard output gets what the command printed, up to a piece
more than its limit, standard error how it ended: `exit <code>` (negative: a signal), `errno <number>` where it could
not be started, `time`, `output` or `memory` for the limit it exceeded, nothing where a signal hit the process between
them: the command's parent, which is there to be hit.

Linux hands every orphan below it to the guard, and the guard kills whole groups, which no fork escapes. Elsewhere the
command's own group ends, and memory has no limit. What is not found: what looks for the guard itself and kills it;
what a service of the machine starts. Where the machine has no memory left, Linux ends the command before the bot.
Sources: https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html,
https://man7.org/linux/man-pages/man5/proc_tid_children.5.html (kernels built with PROC_CHILDREN, as distributions do)
"""

from __future__ import annotations

import ctypes
import os
import select
import sys
import time

_SET_CHILD_SUBREAPER = 36
_SIGKILL, _SIGPIPE, _SIGXFSZ = 9, 13, 25
"""The same on Linux and macOS; importing `signal` takes two thirds of the time that Python takes to start."""

_BOT, _PIECE = 0, 1 << 16
_LOOK_S = 0.1
"""How long the memory of a command is left alone between two looks."""

_KILL_S = 5.0
"""How long killing may take: what belongs to another user, or waits for a lost network drive, cannot be ended."""


def main() -> None:
    """Run the command of the command line, then hand over what it printed and how it ended."""
    seconds, max_bytes, max_mib, argv = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")
    (heard, report), (printed, output) = os.pipe(), os.pipe()
    parent = os.fork()
    if parent == 0:
        _run(argv, report, output)
        os._exit(0)
    os.setpgid(parent, parent)
    os.close(report)
    os.close(output)
    over, report_of_it, out = _watch(heard, printed, time.monotonic() + seconds, max_bytes, max_mib << 10)
    command, _, ending = report_of_it.partition(b" ")
    _end(int(command or 0))
    sys.stdout.buffer.write(out)
    sys.stderr.write(over or ending.decode())


def _run(argv: list[str], report: int, output: int) -> None:
    """Be the command's parent: say its id, wait for it and say how it ended."""
    for ours, its in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
        os.dup2(ours, its)
    try:
        pid = os.posix_spawnp(argv[0], argv, os.environ, setsid=True, setsigdef=(_SIGPIPE, _SIGXFSZ))
    except OSError as error:
        os.write(report, b"0 errno %d" % (error.errno or 0))
    else:
        os.write(report, b"%d " % pid)
        os.write(report, b"exit %d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _watch(heard: int, printed: int, deadline: float, max_bytes: int, max_kib: int) -> tuple[str, bytes, bytes]:
    """Read until a command ends or has to; return the limit it exceeded, what its parent said and what it printed."""
    said = {heard: bytearray(), printed: bytearray()}
    unread, look, limit = set(said), time.monotonic() + _LOOK_S, ""
    while not limit:
        ready, _, _ = select.select([_BOT, *unread], [], [], _LOOK_S if heard in unread else 0)
        for pipe in unread.intersection(ready):
            piece = os.read(pipe, _PIECE)
            said[pipe] += piece
            if not piece:
                unread.discard(pipe)
        if _BOT in ready or (heard not in unread and printed not in ready):
            break
        now = time.monotonic()
        if len(said[printed]) > max_bytes:
            limit = "output"
        elif now > deadline:
            limit = "time"
        elif now > look:
            look = now + _LOOK_S
            limit = "memory" if sum(map(_memory_kib, _descendants())) > max_kib else ""
    return limit, bytes(said[heard]), bytes(said[printed])


def _end(command: int) -> None:
    """Kill a command and what it started until nothing is left; who loses a parent meanwhile becomes our child.

    Groups are killed whole: who forks and ends at once is gone before its number is read, but its group is not.
    """
    until = time.monotonic() + _KILL_S
    if command:
        _kill(command, group=command)  # a group may outlive its first process
    while time.monotonic() < until:
        for pid in _descendants():
            _kill(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_KILL_S / 5000)


def _kill(pid: int, *, group: int = 0) -> None:
    """Kill a process and its group."""
    try:
        os.killpg(group or os.getpgid(pid), _SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _descendants() -> list[int]:
    """Return the id of each process below this one."""
    found = [os.getpid()]
    for pid in found:
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children") as children:
                    found += map(int, children.read().split())
        except OSError:  # it has ended
            pass
    return found[1:]


def _memory_kib(pid: int) -> int:
    """Return the memory of one process's own in KiB, swapped out or not.

    What it shares with a file or with others does not count: git maps packs larger than any limit.
    """
    try:
        with open(f"/proc/{pid}/status", errors="replace") as status:
            fields = dict(line.split(":", 1) for line in status)
    except OSError:  # it has ended
        return 0
    return sum(int(fields.get(name, "0").split()[0]) for name in ("RssAnon", "VmSwap"))


if __name__ == "__main__":
    main()
