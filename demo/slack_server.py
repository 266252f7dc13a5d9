"""A running local-slack server, for as long as a `with` block lasts.

The keeper holds it in a process group of its own: a Ctrl-C in the terminal reaches only us, we stop the group, and if
we are killed the keeper does. The server gets an empty environment but for a few harmless names: no proxy, no secret.
It answers this machine only, and no page of another site (loopback.js, docs/decisions/docs-and-dependencies.md).
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import requests

from bot.errors import ConfigError, ProviderError
from demo.workspace import DemoWorkspace

_START_LIMIT_S = 120.0
_STOP_LIMIT_S = 6.0
_KEPT_ENV = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_BANNER = re.compile(r"Web UI:\s+(http://localhost:\d+)")


class LocalSlack:
    """One server; enter it to start, leave it to stop.

    >>> LocalSlack(Path("local-slack"), DemoWorkspace(users=(), channels=())).url
    Traceback (most recent call last):
    RuntimeError: the server is not running
    """

    def __init__(
        self, binary: Path, workspace: DemoWorkspace, *, port: int = 0, env: Mapping[str, str] | None = None
    ) -> None:
        """Prepare a server.

        Args:
            binary: What `ensure_binary` returned.
            workspace: Who and what is in it.
            port: TCP port of page, Web API and sockets; 0 lets the server take a free one, which cannot race.
            env: The caller's environment; only a handful of names are passed on.
        """
        self._binary = binary
        self._workspace = workspace
        self._port = port
        self._env = {name: value for name, value in (env or {}).items() if name in _KEPT_ENV}
        self._process: subprocess.Popen[bytes] | None = None
        self._url: str | None = None

    @property
    def url(self) -> str:
        """The page's address, without a slash at the end."""
        if self._url is None:
            raise RuntimeError("the server is not running")
        return self._url

    @property
    def api_url(self) -> str:
        """What `slack_sdk.WebClient(base_url=…)` wants."""
        return f"{self.url}/api/"

    def __enter__(self) -> Self:
        """Start the server and return once it answers.

        Raises:
            ConfigError: the chosen port is in use.
            ProviderError: the server ended or did not answer in time; its output is in the message.
        """
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
            self._process = self._spawn(self._workspace.write(Path(folder)), output)
            try:
                self._url = self._wait_until_up(self._process, output)
            except BaseException:
                self.stop()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server, whatever happened."""
        self.stop()

    def stop(self) -> None:
        """End the server and its keeper; doing it twice is harmless."""
        process, self._process, self._url = self._process, None, None
        if process is None:
            return
        _signal_group(process, signal.SIGTERM)
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_LIMIT_S)
        finally:
            _signal_group(process, signal.SIGKILL)  # what outlived the keeper, or all of it
            process.wait()
            if process.stdin:
                process.stdin.close()

    def _spawn(self, config: Path, output: IO[bytes]) -> subprocess.Popen[bytes]:
        keeper = [sys.executable, "-I", str(Path(__file__).with_name("keeper.py"))]
        server = [str(self._binary), "--config", str(config), "--port", str(self._port)]
        return subprocess.Popen(  # noqa: S603 - a fixed argv
            [*keeper, *server],
            env={**self._env, "BUN_OPTIONS": f'"--preload={Path(__file__).with_name("loopback.js")}"'},
            stdin=subprocess.PIPE,  # held open by us and by nobody else: its end tells the keeper we are gone
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _wait_until_up(self, process: subprocess.Popen[bytes], output: IO[bytes]) -> str:
        deadline = time.monotonic() + _START_LIMIT_S
        while time.monotonic() < deadline:
            banner = _BANNER.search(_printed(output))
            if banner and _answers(banner[1]):
                return banner[1]
            if process.poll() is not None:
                raise self._failure("ended at once", _printed(output))
            time.sleep(0.05)
        raise self._failure(f"did not answer in {_START_LIMIT_S:.0f} s", _printed(output))

    def _failure(self, what: str, printed: str) -> ConfigError | ProviderError:
        if "EADDRINUSE" in printed:
            return ConfigError(f"Port {self._port} is in use already. Choose another, or none to get a free one.")
        tail = " / ".join(line.strip()[:200] for line in printed.splitlines()[-6:] if line.strip())
        return ProviderError(f"The demo's Slack server {what}. It printed: {tail or 'nothing'}")


def _printed(output: IO[bytes]) -> str:
    # pread leaves the offset alone: the server writes through the same open file
    return os.pread(output.fileno(), 1 << 16, 0).decode(errors="replace")


def _answers(url: str) -> bool:
    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(f"{url}/_control/state", timeout=2).ok
        except requests.RequestException:
            return False


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone; macOS says EPERM of a group of zombies
        os.killpg(process.pid, number)
