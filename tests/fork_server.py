"""`python -m MODULE` as a process of its own, forked from one that has loaded the bot: a start without that second.

Module, arguments, environment, folder, standard streams, signals, exit code and the interpreter's end are those of a
start from nothing. What is not tried is the loading: where that is the point, a test starts `python -m bot` itself.
One server for each process that runs tests; it ends with it, and has no thread that a fork could lose.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final

ROOT: Final = Path(__file__).parents[1]
LOADED: Final = ("bot.cli.run", "bot.adapters.storage.postgres.postgres_engine")
MODELS: Final = ("anthropic",)
"""What is loaded before the first start with a key for models: another second."""
LIMIT_S: Final = 180.0
_NUMBER: Final = struct.Struct("!i")


class ForkedProcess:
    """A process that was forked; what tests use of `subprocess.Popen`."""

    stdin: IO[Any] | None = None
    stdout: IO[Any] | None = None

    def __init__(self, args: Sequence[str], line: socket.socket) -> None:
        self.args = list(args)
        self.returncode: int | None = None
        self._line = line
        self.pid = self._number()

    def poll(self) -> int | None:
        """Return how the process ended, or None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Return how the process ended, a signal as a negative number; raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            ends = select.poll()
            ends.register(self._line, select.POLLIN)
            if not ends.poll(None if timeout is None else timeout * 1000):
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = self._number(socket.MSG_PEEK)  # another thread may wait as well
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _number(self, flags: int = 0) -> int:
        got = self._line.recv(_NUMBER.size, socket.MSG_WAITALL | flags)
        if len(got) < _NUMBER.size:
            raise RuntimeError("the fork server is gone")
        return int(_NUMBER.unpack(got)[0])


def start(
    module: str,
    *arguments: str,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: IO[Any] | None = None,
    stdout: IO[Any] | None = None,
    stderr: IO[Any] | None = None,
    loads: Sequence[str] = (),
) -> ForkedProcess:
    """Run `python -m module arguments` with `env` alone.

    Args:
        module: Such as "bot".
        arguments: What it is called with.
        env: Its environment.
        cwd: Its folder; ours if None.
        stdin: An open file; empty if None.
        stdout: An open file; ours if None.
        stderr: An open file; ours if None.
        loads: Modules that the server loads before it forks, as others will want them, too.
    """
    loads = MODELS if "ANTHROPIC_API_KEY" in env else loads
    request = {"module": module, "arguments": arguments, "env": dict(env), "cwd": str(cwd or Path.cwd())}
    ours, theirs = socket.socketpair()
    with theirs, Path(os.devnull).open("rb") as nothing:
        streams = [(stdin or nothing).fileno(), stdout.fileno() if stdout else 1, stderr.fileno() if stderr else 2]
        socket.send_fds(_server(), [b"+"], [theirs.fileno(), *streams])
    ours.sendall(json.dumps({**request, "loads": loads}).encode() + b"\n")
    return ForkedProcess([sys.executable, "-m", module, *arguments], ours)


def run(
    module: str, *arguments: str, env: Mapping[str, str], cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a module as `start` does, and return what it printed once it has ended."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = start(module, *arguments, env=env, cwd=cwd, stdout=out, stderr=err)
        try:
            code = process.wait(LIMIT_S)
        finally:
            process.kill()
        said = [_read(each) for each in (out, err)]
    return subprocess.CompletedProcess(process.args, code, *said)


@contextmanager
def lines(
    module: str, *arguments: str, env: Mapping[str, str] | None = None, loads: Sequence[str] = ()
) -> Iterator[ForkedProcess]:
    """Run a module as `start` does, with lines to it and from it, until the end; `env` is ours if None."""
    with ExitStack() as files:
        (theirs_in, ours_in), (ours_out, theirs_out) = os.pipe(), os.pipe()
        stdin, stdout = files.enter_context(os.fdopen(ours_in, "w")), files.enter_context(os.fdopen(ours_out))
        with os.fdopen(theirs_in) as given, os.fdopen(theirs_out, "w") as said:
            process = start(module, *arguments, env=env or os.environ, stdin=given, stdout=said, loads=loads)
        process.stdin, process.stdout = stdin, stdout
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@cache
def _server() -> socket.socket:
    """Start the server of this process and return the line to it; the end of the line is the server's end."""
    ours, theirs = socket.socketpair()
    with theirs:
        argv = [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())]
        subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    return ours


def _serve(control: socket.socket) -> None:
    """Fork for each request until the line ends; returns in the forked process too, once its module has ended."""
    while True:
        _, descriptors, *_ = socket.recv_fds(control, 1, 4)
        if not descriptors:
            return
        line = socket.socket(fileno=descriptors[0])
        request = json.loads(line.makefile().readline())
        for name in request["loads"]:
            import_module(name)
        assert threading.active_count() == 1
        if os.fork() == 0:
            control.close()
            _keep(line, descriptors[1:], request)
            return
        line.close()
        for each in descriptors[1:]:
            os.close(each)


def _keep(line: socket.socket, streams: list[int], request: dict[str, Any]) -> None:
    """Fork the process that was asked for, and say over the line its number and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        line.close()
        _become(streams, request)
        return
    try:
        for each in streams:
            os.close(each)
        line.sendall(_NUMBER.pack(pid))
        line.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
    finally:
        os._exit(0)


def _become(streams: list[int], request: dict[str, Any]) -> None:
    for number, each in enumerate(streams):
        os.dup2(each, number)
        os.close(each)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = [request["module"], *request["arguments"]]
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)


def _warm_up() -> None:
    """Use once what reads certificates or compiles patterns at its first use, so that no forked process has to."""
    from bot.domain.languages.packs import tells_of_alarm
    from bot.domain.questions.rubrics import question_type_of
    from bot.domain.questions.verdict_rules import risky_commands
    from bot.domain.search.stack_frames import frames_in
    from bot.domain.secrets import redact
    from bot.intake.classifier.classification import Rules
    from handlers.transport.slack_clients import tls_context

    tls_context()
    Rules()
    for use in (question_type_of, frames_in, redact, tells_of_alarm, risky_commands):
        use("Why does the retry in `shop/payments.py` fail, größer als? Set `x` to 3.")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests; they end what they started
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who was forked first is waited for by nobody
    gc.disable()  # of what is loaded nothing becomes garbage
    for each in LOADED:
        import_module(each)
    _warm_up()
    gc.enable()
    gc.freeze()  # a forked process would look through all of it for garbage, and copy every page of it for that
    _serve(socket.socket(fileno=int(sys.argv[1])))
