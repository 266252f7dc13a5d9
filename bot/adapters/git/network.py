"""Runs git commands that reach another machine: with the operator's credentials, without prompts, until `close`.

The operator's git configuration is used, because it names credential helpers and proxies; our hardening options
override it. Git's output is redacted before it leaves this module.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from bot.agent.git.git_process import GitFailed, GitProcess, Patience
from bot.config.network_variables import NETWORK_VARIABLES
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.errors import ProviderError

STALL_S: Final = 300.0
"""How long git may print nothing; it reports its progress every second while something arrives."""

LIMIT_S: Final = 6 * 3600.0
WORDS_CHARS: Final = 240
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
        self._secrets, self._patience = secrets, Patience(limit_s, stall_s, threading.Event())

    def run(
        self,
        root: Path,
        *args: str,
        is_bare: bool = True,
        on_progress: Callable[[str], None] | None = None,
        stall_s: float | None = None,
    ) -> None:
        """Run git at `root`, which is a bare repository, and return at its end.

        Args:
            root: Where git runs.
            args: The command line after `git`; what comes from outside cannot be an option in it.
            is_bare: Whether there is a repository at all.
            on_progress: Gets git's newest line of progress, often.
            stall_s: How long git may be silent, where it is not as usual.

        Raises:
            ConfigError: git is not installed.
            ProviderError: it failed, was silent for too long or ran for too long; with git's words, shortened.
        """
        git = GitProcess(root, is_bare=is_bare, environment=network_environment, is_detached=True)
        patience = self._patience._replace(silence_s=stall_s or self._patience.silence_s)

        def note(said: bytes) -> None:
            if on_progress is not None and (line := _newest_progress(said)):
                on_progress(line)

        try:
            for _ in git.stream(*args, patience=patience, on_words=note):
                pass
        except GitFailed as error:
            words = self._words(error.said) if error.code is not None else ""
            raise ProviderError(words or error.reason) from error

    def close(self) -> None:
        """End what runs, for good; git leaves nothing half done that anybody reads."""
        assert self._patience.stop is not None
        self._patience.stop.set()

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
