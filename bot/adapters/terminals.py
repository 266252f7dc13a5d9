"""Port Terminal: long runs in tmux if it is installed, else in plain processes; both outlive the bot.

Either way the command runs below bot/adapters/tee.py, which holds the lock on `<session>.lock` while the run
lasts and writes its process id there. The kernel frees the lock with the process, so another process with a reused id
is never taken for ours.

tmux: the server is our own, on a socket in the data directory, without anybody's tmux.conf. Commands are passed as
several arguments, because tmux hands a single one to a shell. Variables travel over the socket (`update-environment`),
never on a command line, where `ps` would show them.
Source: tmux(1), CLIENTS AND SESSIONS, GLOBAL AND SESSION ENVIRONMENT; tried with tmux 3.3a.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.atomic_write import make_folder
from bot.domain.questions.rubrics import socket_path
from bot.errors import ProviderError, StoreError

TIMEOUT_S: Final = 20
MAX_SOCKET_BYTES: Final = 100
"""A socket's path may have 107 bytes on Linux, 103 on macOS."""

TRIES: Final = 50
PAUSE_S: Final = 0.1
"""A server ends with its last session, and a session soon after its command; a start in that moment is repeated."""

_ENDING: Final = ("server exited", "lost server", "duplicate session")
TEE: Final = Path(__file__).with_name("tee.py")


def choose_terminal(home: Path) -> SessionTerminal:
    """Return sessions in tmux where it is installed and its socket has room, else plain processes."""
    return SessionTerminal(home, tmux=shutil.which("tmux") if has_room_for_socket(home) else None)


def has_room_for_socket(home: Path) -> bool:
    """Whether the path of a data directory leaves room for the name of tmux's socket."""
    return len(os.fsencode(socket_path(home))) <= MAX_SOCKET_BYTES


class SessionTerminal:
    """The sessions of one data directory, which one bot at a time uses; `tmux` is the program, None for none."""

    def __init__(self, home: Path, *, tmux: str | None) -> None:
        self._folder, self._socket, self._tmux = make_folder(home / "terminal"), socket_path(home), tmux
        self._guard = threading.Lock()
        self._children: list[subprocess.Popen[bytes]] = []

    def start(self, session: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str]) -> str | None:
        """Start `argv` unless the session is alive; returns its name in tmux, None where one cannot attach."""
        path = self._file(session)
        command = [sys.executable, "-I", str(TEE), str(path), str(log), *argv]
        with self._guard:
            handle = _take(path)
            if handle is not None:
                os.close(handle)
                if self._tmux is None:
                    self._spawn(path, command, env)
                else:
                    self._open_in_tmux(self._tmux, path, command, env)
                _wait_for_start(path)
        return session if self._tmux else None

    def sessions(self) -> frozenset[str]:
        """Return the names of the sessions that are alive; forgets the others."""
        with self._guard:
            self._children = [child for child in self._children if child.poll() is None]
            return frozenset(path.stem for path in self._folder.glob("*.lock") if not _forget(path))

    def may_hold_others(self) -> bool:
        """Whether our tmux answers: 8154d7ff started sessions in it that hold no lock."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as asked:
            asked.connect(os.fspath(self._socket))
            return True
        return False

    def end(self, session: str) -> None:
        """End a session and everything it started; harmless when there is none."""
        path = self._file(session)
        with self._guard:
            if not path.exists() or _forget(path):
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(path.read_text(encoding="ascii")), signal.SIGKILL)
                _wait_and_forget(path)

    def _file(self, session: str) -> Path:
        return self._folder / f"{session}.lock"

    def _spawn(self, path: Path, command: Sequence[str], env: Mapping[str, str]) -> None:
        nothing = subprocess.DEVNULL
        try:
            process = subprocess.Popen(  # noqa: S603 - argv, no shell
                command, env=dict(env), stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
            )
        except OSError as error:
            raise ProviderError(f"could not start {path.stem}: {error.strerror}") from error
        self._children.append(process)

    def _open_in_tmux(self, program: str, path: Path, command: Sequence[str], env: Mapping[str, str]) -> None:
        words = (
            *(program, "-u", "-S", str(self._socket), "-f", "/dev/null", "start-server", ";"),
            *("set-option", "-g", "update-environment", " ".join(sorted(env)), ";"),
            *("new-session", "-d", "-s", path.stem, "-x", "160", "-y", "50", "--", *map(_word, command)),
        )
        for _ in range(TRIES):
            try:
                done = subprocess.run(  # noqa: S603 - argv, no shell
                    words,
                    env=dict(env),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=TIMEOUT_S,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise ProviderError("tmux does not answer; is it installed, and its socket's folder ours?") from error
            if done.returncode == 0 or path.read_bytes():  # it runs: a bot that died has started it
                return
            if not any(ending in done.stderr for ending in _ENDING):
                break
            time.sleep(PAUSE_S)
        raise ProviderError(f"tmux could not start {path.stem}: {done.stderr.strip()[:200] or done.returncode}")


def _word(argument: str) -> str:
    r"""Return an argument as tmux takes it literally: a `;` at its end would begin tmux's next command.

    >>> print(_word("a;"), _word("a;b"))
    a\; a;b
    """
    return f"{argument[:-1]}\\;" if argument.endswith(";") else argument


def _take(path: Path) -> int | None:
    """Return a handle that holds the lock on an empty file, or None if a process holds it."""
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


def _wait_for_start(path: Path) -> None:
    """Wait until the session has taken its lock, which it may have given back already."""
    deadline = time.monotonic() + TIMEOUT_S
    while not path.read_bytes().endswith(b"\n"):
        if time.monotonic() > deadline:
            raise ProviderError(f"{path.stem} did not start within {TIMEOUT_S} s")
        time.sleep(PAUSE_S / 10)


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
