"""Runs git commands that reach another machine: with the operator's credentials, without prompts, with a time limit.

The operator's git configuration is used, because it names credential helpers and proxies; our hardening options
override it. Git runs in a session without a terminal, so neither git nor ssh can prompt. Git's output is redacted
before it leaves this module.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from bot.agent.git.git_process import GitProcess
from bot.config.network_variables import NETWORK_VARIABLES
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.errors import ConfigError, ProviderError

STALL_S: Final = 300.0
"""How long git may print nothing; it reports its progress every second while something arrives."""

LIMIT_S: Final = 6 * 3600.0
WORDS_CHARS: Final = 240
_POLL_S: Final = 0.2
_KEPT_BYTES: Final = 8_192
_PASSED_ON: Final = frozenset(
    {"PATH", "LANG", "TMPDIR", "HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}
    | {"DBUS_SESSION_BUS_ADDRESS", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL"}
    | NETWORK_VARIABLES
)
_FIXED: Final = {
    "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_COMMITTER_NAME": "triage",
    "GIT_COMMITTER_EMAIL": "triage@localhost",
    "LC_ALL": "C.UTF-8",
}
_USER_OF_URL: Final = re.compile(r"(?<=://)[^/\s@'\"]{1,500}@")
_FAILURES: Final = ("fatal:", "error:")
_PROGRESS: Final = re.compile(r"\d{1,3}% \(\d|, done\.|^From |^remote: (?:Total|Enumerating)|^remote:[ =]*$")


def network_environment() -> dict[str, str]:
    """Return the environment of a git that needs credentials: the operator's, without any secret of triage."""
    return {**{name: os.environ[name] for name in _PASSED_ON if name in os.environ}, **_FIXED}


class GitNetwork:
    """Runs git commands that reach other machines; safe to use from any thread, until `close`."""

    def __init__(self, secrets: Collection[str] = (), *, stall_s: float = STALL_S, limit_s: float = LIMIT_S) -> None:
        self._secrets, self._stall_s, self._limit_s = secrets, stall_s, limit_s
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def run(
        self,
        git: GitProcess,
        *args: str,
        on_progress: Callable[[str], None] | None = None,
        stall_s: float | None = None,
    ) -> None:
        """Run git and return at its end.

        Args:
            git: Where git runs.
            args: The command line after `git`; what comes from outside cannot be an option in it.
            on_progress: Gets git's newest line of progress, often.
            stall_s: How long git may be silent, where it is not as usual.

        Raises:
            ConfigError: git is not installed.
            ProviderError: it failed, was silent for too long or ran for too long; with git's words, shortened.
        """
        with self._started(git.argv(*args)) as process:
            said, why = self._follow(process, on_progress, stall_s or self._stall_s)
        if why is not None or process.returncode != 0:
            raise ProviderError(why or self._words(said) or f"git ended with exit code {process.returncode}")

    def close(self) -> None:
        """End what runs, for good; git leaves nothing half done that anybody reads."""
        with self._lock:
            self._is_closed = True
            for process in self._running:
                _end(process)

    @contextmanager
    def _started(self, argv: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
        with self._lock:
            if self._is_closed:
                raise ProviderError("triage is stopping")
            try:
                process = subprocess.Popen(  # noqa: S603 - argv, no shell
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env=network_environment(),
                    start_new_session=True,
                )
            except FileNotFoundError as error:
                raise ConfigError("git is not installed; install it (`apt-get install git`)") from error
            self._running.add(process)
        try:
            yield process
        finally:
            with self._lock:
                _end(process)
                self._running.discard(process)
            assert process.stderr is not None
            process.stderr.close()

    def _follow(
        self, process: subprocess.Popen[bytes], on_progress: Callable[[str], None] | None, stall_s: float
    ) -> tuple[bytes, str | None]:
        """Return the end of what git printed, and why it was not waited for any longer.

        Its end counts, not that of its output, which a helper that it left behind may keep open.
        """
        assert process.stderr is not None
        said, began_s = b"", time.monotonic()
        heard_s = began_s
        with selectors.DefaultSelector() as output:
            output.register(process.stderr, selectors.EVENT_READ)
            while True:
                part = os.read(process.stderr.fileno(), _KEPT_BYTES) if output.select(_POLL_S) else None
                now_s = time.monotonic()
                if part:
                    said, heard_s = (said + part)[-_KEPT_BYTES:], now_s
                    if on_progress and (line := _newest_progress(said)):
                        on_progress(line)
                elif part == b"" or process.poll() is not None:
                    break
                elif now_s - heard_s > stall_s:
                    return said, f"nothing came for {stall_s:g} s"
                if now_s - began_s > self._limit_s:
                    return said, f"it took over {self._limit_s:g} s"
        with suppress(subprocess.TimeoutExpired):
            process.wait(stall_s)
            return said, None
        return said, f"git did not end within {stall_s:g} s"

    def _words(self, said: bytes) -> str:
        """Return git's own words on a failure as one line: its first `error:` or `fatal:`, and what came before it."""
        lines = [line.strip() for line in re.split(r"[\r\n]+", said.decode("utf-8", "replace")) if line.strip()]
        telling = [line for line in lines if not _PROGRESS.search(line)]
        end = next((number for number, line in enumerate(telling, 1) if line.startswith(_FAILURES)), len(telling))
        words = "; ".join(re.sub(r"^(?:fatal|error): ", "", line) for line in telling[max(0, end - 2) : end])
        return one_line(redact(_USER_OF_URL.sub("", strip_hidden(words)[0]), self._secrets), WORDS_CHARS)


def _newest_progress(said: bytes) -> str | None:
    lines = re.split(rb"[\r\n]+", said)
    shown = (line.decode("utf-8", "replace").strip() for line in reversed(lines) if b"%" in line)
    return next((one_line(strip_hidden(line)[0], 100) for line in shown), None)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that has not ended, with all that it started."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
