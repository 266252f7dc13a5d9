"""Runs git; nothing else starts it: always an argv, never a shell, in a clean environment, within limits.

Hooks, file-system monitors, pagers, prompts, transports and path-spec magic are off, whatever the checkout configures.
Transports are off in the environment, which no `protocol.<name>.allow` of a checkout overrules. Git is in a process
group of its own: Ctrl-C in the terminal does not reach it, and where it is not waited for any more, it is killed with
all that it started.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Final, NamedTuple

from bot.errors import ConfigError, ProviderError

TIMEOUT_S: Final = 60.0
STREAM_S: Final = 600.0
"""For what lists all files or commits of a repository, however many there are."""

MOST_BYTES: Final = 512 * 1024 * 1024
"""More is never held in memory; whoever expects more reads it part by part."""

KEPT_BYTES: Final = 8_192
_PART_BYTES: Final = 1 << 16
_POLL_S: Final = 0.2
HARDENING: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.quotePath=true",
    "diff.external=",
    "log.showSignature=false",
    "submodule.recurse=false",
    "blame.ignoreRevsFile=",
)


class GitFailed(ProviderError):
    """Git did not do what it was told: `reason` in its own words, `said` the end of what it printed on stderr.

    `code` is its exit code; None where it was ended: it took too long, or triage stops.
    """

    def __init__(self, message: str, reason: str, said: bytes, code: str | None) -> None:
        super().__init__(f"{message}: {reason}", code=code)
        self.reason, self.said = reason, said


class Captured(NamedTuple):
    """What git printed; `complete` is False when there was more than was asked for."""

    out: bytes
    complete: bool


class Patience(NamedTuple):
    """How long git is waited for: in all, and while it prints nothing, in seconds; until `stop` at the longest."""

    timeout_s: float = TIMEOUT_S
    silence_s: float | None = None
    stop: threading.Event | None = None


def local_environment() -> dict[str, str]:
    """Return the environment of git on this machine: no secret of ours, no configuration of anybody's, no transport."""
    keep = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    return {
        **keep,
        "HOME": "/nonexistent",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_GRAFT_FILE": "/dev/null",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
    }


@dataclass(frozen=True)
class GitProcess:
    """Git at `root`; of a bare repository only at `root`, else wherever above it git finds one.

    `variables` go over its `environment`, `settings` over its configuration and the hardening. `is_detached`: it has no
    terminal, so that nothing it starts can ask there; on a busy machine Linux then lets it wait for its turn longer.
    """

    root: Path
    is_bare: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    settings: Sequence[str] = ()
    environment: Callable[[], dict[str, str]] = local_environment
    is_detached: bool = False

    def with_variables(self, variables: Mapping[str, str], *settings: str) -> GitProcess:
        """Return git at the same place with more of both."""
        return replace(self, variables={**self.variables, **variables}, settings=(*self.settings, *settings))

    def run(self, *args: str, given: bytes = b"", timeout_s: float = TIMEOUT_S) -> bytes:
        """Return all that git prints; it reads `given`.

        Raises:
            ConfigError: git is not installed.
            GitFailed: it failed, or took over `timeout_s`.
            ProviderError: it printed more than MOST_BYTES.
        """
        out, complete = self.run_capped(*args, max_bytes=MOST_BYTES, given=given, timeout_s=timeout_s)
        if not complete:
            raise ProviderError(f"git {args[0]} printed more than {MOST_BYTES >> 20} MiB in {self.root}")
        return out

    def run_capped(
        self,
        *args: str,
        max_bytes: int,
        given: bytes = b"",
        fine: Sequence[int] = (0,),
        timeout_s: float = TIMEOUT_S,
    ) -> Captured:
        """Return the first `max_bytes` that git prints and stop it there; `fine` are the exit codes of success.

        Raises:
            ConfigError: git is not installed.
            GitFailed: it failed, or took over `timeout_s`.
        """
        out = bytearray()
        with closing(self.stream(*args, given=given, fine=fine, patience=Patience(timeout_s))) as parts:
            for part in parts:
                out += part
                if len(out) > max_bytes:
                    return Captured(bytes(out[:max_bytes]), complete=False)
        return Captured(bytes(out), complete=True)

    def stream(
        self,
        *args: str,
        patience: Patience,
        given: bytes = b"",
        fine: Sequence[int] = (0,),
    ) -> Generator[bytes]:
        """Yield what git prints, part by part; where it is left before its end, git is killed.

        Only the time counts in which git is waited for.

        Raises:
            ConfigError: git is not installed.
            GitFailed: it failed, or was waited for long enough.
        """
        what = f"git {args[0]} failed in {self.root}"
        with self._started(args, has_input=bool(given)) as process:
            words = _Words(process)
            if process.stdin is not None:
                threading.Thread(target=_feed, args=(process.stdin, given), daemon=True).start()
            try:
                yield from _parts(process, patience, words)
                code = process.wait(patience.silence_s or patience.timeout_s)
            except _NotWaitedFor as error:
                raise GitFailed(what, str(error), words.said, None) from error
            except subprocess.TimeoutExpired as error:
                raise GitFailed(what, "it printed all and did not end", words.said, None) from error
            words.join()
        if code not in fine:
            lines = words.said.decode("utf-8", "replace").strip().splitlines()
            raise GitFailed(what, lines[-1] if lines else f"exit code {code}", words.said, str(code))

    def _argv(self, args: Sequence[str]) -> list[str]:
        # git compares with the checkout's top, which is above `root` until git has said where it is
        safe = [f"safe.directory={folder}" for folder in (self.root, *self.root.parents)]
        options = [part for item in (*HARDENING, *safe, *self.settings) for part in ("-c", item)]
        place = ["-C", str(self.root), *(["--git-dir", str(self.root)] if self.is_bare else [])]
        return ["git", "--no-pager", "--literal-pathspecs", *options, *place, *args]

    @contextmanager
    def _started(self, args: Sequence[str], *, has_input: bool) -> Iterator[subprocess.Popen[bytes]]:
        """Give a git that runs, and kill it at the end with all that it started unless it has ended."""
        try:
            process = subprocess.Popen(  # noqa: S603 - argv, no shell
                self._argv(args),
                bufsize=0,
                stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**self.environment(), **self.variables},
                start_new_session=self.is_detached,
                process_group=None if self.is_detached else 0,
            )
        except FileNotFoundError as error:
            raise ConfigError("git is not installed; install it (`apt-get install git`)") from error
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    with suppress(ProcessLookupError, PermissionError):
                        os.killpg(process.pid, signal.SIGKILL)


class _NotWaitedFor(Exception):
    """Git is not waited for any longer; the text says why."""


class _Words(threading.Thread):
    """What a git says on stderr: the end of it, and how much it was."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(name="git-words", daemon=True)
        assert process.stderr is not None
        self._pipe, self.said, self.total = process.stderr, b"", 0
        self.start()

    def run(self) -> None:
        """Read until the pipe ends."""
        with suppress(OSError, ValueError):  # closed, since git is not waited for any longer
            while part := self._pipe.read(_PART_BYTES):
                self.said, self.total = (self.said + part)[-KEPT_BYTES:], self.total + len(part)

    def join(self, timeout: float | None = _POLL_S) -> None:
        """Wait for the last words; a helper that git leaves behind may keep the pipe open for longer."""
        super().join(timeout)


def _feed(pipe: IO[bytes], given: bytes) -> None:
    """Write all that a git is to read; one that reads no more is no failure."""
    with suppress(OSError, ValueError), pipe:
        rest = memoryview(given)
        while rest:
            rest = rest[pipe.write(rest) :]


def _parts(process: subprocess.Popen[bytes], patience: Patience, words: _Words) -> Iterator[bytes]:
    """Yield what a git prints until it has ended; raises _NotWaitedFor.

    A helper that git leaves behind may keep the pipe open for longer.
    """
    assert process.stdout is not None
    waited_s, silent_s, heard = 0.0, 0.0, 0
    while True:
        began_s = time.monotonic()
        ready, _, _ = select.select([process.stdout], [], [], _POLL_S)
        passed_s = time.monotonic() - began_s
        waited_s, silent_s = waited_s + passed_s, 0.0 if ready or words.total != heard else silent_s + passed_s
        heard = words.total
        if patience.stop is not None and patience.stop.is_set():
            raise _NotWaitedFor("triage is stopping")
        if patience.silence_s is not None and silent_s > patience.silence_s:
            raise _NotWaitedFor(f"nothing came for {patience.silence_s:g} s")
        if waited_s > patience.timeout_s:
            raise _NotWaitedFor(f"it took over {patience.timeout_s:g} s")
        if ready and (part := os.read(process.stdout.fileno(), _PART_BYTES)):
            yield part
        elif ready or process.poll() is not None:
            return
