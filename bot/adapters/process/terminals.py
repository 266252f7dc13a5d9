"""Port Terminal: long runs in tmux if it is installed, else in plain processes; both outlive the bot.

tmux: the server is our own, on a socket in the data directory, without anybody's tmux.conf. Commands are passed as
several arguments, because tmux hands a single one to a shell. Variables travel over the socket (`update-environment`),
never on a command line, where `ps` would show them.
Source: tmux(1), CLIENTS AND SESSIONS, GLOBAL AND SESSION ENVIRONMENT; tried with tmux 3.3a.

Plain process: it counts as alive while it holds the lock on the file that is its standard input. The kernel frees the
lock with the process, so another process with a reused id is never taken for ours.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.atomic_write import make_folder
from bot.domain.questions.escalation_rules import SESSION_PREFIX, socket_path
from bot.errors import ProviderError, StoreError
from bot.ports import Terminal

TIMEOUT_S: Final = 20
MAX_SOCKET_BYTES: Final = 100
"""A socket's path may have 107 bytes on Linux, 103 on macOS."""

ENDING_TRIES: Final = 50
ENDING_PAUSE_S: Final = 0.1
"""The server ends with its last session; whoever meets it in that moment asks again."""

_ENDING: Final = ("server exited", "lost server")
_NO_SERVER: Final = ("no server running", "No such file or directory", "no sessions", *_ENDING)
TEE: Final = Path(__file__).with_name("tee.py")


def choose_terminal(home: Path) -> Terminal:
    """Return tmux where it is installed and its socket has room, else plain processes."""
    program = shutil.which("tmux")
    if program is None or not has_room_for_socket(home):
        return DetachedTerminal(home / "terminal")
    return TmuxTerminal(socket_path(home), program=program)


def has_room_for_socket(home: Path) -> bool:
    """Whether the path of a data directory leaves room for the name of tmux's socket."""
    return len(os.fsencode(socket_path(home))) <= MAX_SOCKET_BYTES


class TmuxTerminal:
    """Sessions whose names begin with `investigator-` on the server at `socket`."""

    def __init__(self, socket: Path, *, program: str = "tmux") -> None:
        self._socket, self._program = socket, program

    def start(self, session: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str]) -> str | None:
        """Start `argv` unless the session is alive; returns its name, by which one attaches."""
        if session in self.sessions():
            return session
        command = [sys.executable, "-I", str(TEE), str(log), *argv]
        words = (
            *("start-server", ";", "set-option", "-g", "update-environment", " ".join(sorted(env)), ";"),
            *("new-session", "-d", "-s", session, "-x", "160", "-y", "50", "--", *map(_word, command)),
        )
        for _ in range(ENDING_TRIES):
            done = self._tmux(*words, env=env)
            if done.returncode == 0 or not any(ending in done.stderr for ending in _ENDING):
                break
            time.sleep(ENDING_PAUSE_S)
        if done.returncode != 0 and "duplicate session" not in done.stderr:
            raise ProviderError(f"tmux could not start {session}: {done.stderr.strip()[:200] or done.returncode}")
        return session

    def sessions(self) -> frozenset[str]:
        """Return the names of our sessions that are alive."""
        if not self._socket.exists():
            return frozenset()
        done = self._tmux("list-sessions", "-F", "#{session_name}")
        if done.returncode != 0 and not any(words in done.stderr for words in _NO_SERVER):
            raise ProviderError(f"tmux does not say what runs: {done.stderr.strip()[:200]}")
        return frozenset(name for name in done.stdout.splitlines() if name.startswith(SESSION_PREFIX))

    def end(self, session: str) -> None:
        """End a session and everything in it; harmless when there is none."""
        if session not in self.sessions():
            return
        panes = self._tmux("list-panes", "-s", "-t", f"={session}", "-F", "#{pane_pid}")
        for pid in panes.stdout.split():
            with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
                os.killpg(int(pid), signal.SIGKILL)
        self._tmux("kill-session", "-t", f"={session}")

    def _tmux(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        argv = [self._program, "-u", "-S", str(self._socket), "-f", "/dev/null", *args]
        try:
            return subprocess.run(  # noqa: S603 - argv, no shell
                argv,
                env=dict(env or {}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ProviderError("tmux does not answer; is it installed, and its socket's folder ours?") from error


def _word(argument: str) -> str:
    r"""Return an argument as tmux takes it literally: a `;` at its end would begin tmux's next command.

    >>> print(_word("a;"), _word("a;b"))
    a\; a;b
    """
    return f"{argument[:-1]}\\;" if argument.endswith(";") else argument


class DetachedTerminal:
    """Processes with a file `<session>.lock` each in `folder`; one bot at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = make_folder(folder)
        self._guard = threading.Lock()
        self._children: list[subprocess.Popen[bytes]] = []

    def start(self, session: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str]) -> str | None:
        """Start `argv` unless the session is alive; returns None: there is nothing to attach to."""
        with self._guard:
            handle = _take(self._file(session))
            if handle is None:
                return None
            try:
                process = subprocess.Popen(  # noqa: S603 - argv, no shell
                    [sys.executable, "-I", str(TEE), str(log), *argv],
                    env=dict(env),
                    stdin=handle,  # the lock goes with it, and stays when we die
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                os.pwrite(handle, f"{process.pid}\n".encode(), 0)
            except OSError as error:
                raise ProviderError(f"could not start {session}: {error.strerror}") from error
            finally:
                os.close(handle)
            self._children.append(process)
        return None

    def sessions(self) -> frozenset[str]:
        """Return the names of the processes that are alive; forgets the others."""
        with self._guard:
            self._children = [child for child in self._children if child.poll() is None]
            return frozenset(path.stem for path in self._folder.glob("*.lock") if not _forget(path))

    def end(self, session: str) -> None:
        """End a process and everything it started; harmless when there is none."""
        path = self._file(session)
        with self._guard:
            if not path.exists() or _forget(path):
                return
            pid = path.read_text(encoding="ascii").strip()
            if not pid.isdecimal():  # the bot died between starting it and noting its id; it ends by its own limit
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(pid), signal.SIGKILL)
                _wait_and_forget(path)

    def _file(self, session: str) -> Path:
        return self._folder / f"{session}.lock"


def _take(path: Path) -> int | None:
    """Return a handle that holds the lock, or None if a process holds it."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; check the disk and the folder's owner") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    os.truncate(handle, 0)
    return handle


def _wait_and_forget(path: Path) -> None:
    """Wait for the end of a process that was killed, then remove its file."""
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        path.unlink(missing_ok=True)


def _forget(path: Path) -> bool:
    """Remove the file of a process that has ended; False if it is alive."""
    handle = _take(path)
    if handle is None:
        return False
    path.unlink(missing_ok=True)
    os.close(handle)
    return True
