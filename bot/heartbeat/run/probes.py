"""Runs the free commands of the due tasks and remembers what they printed by its hash; no model is asked.

No shell, a scrubbed environment, hooks and prompts off, limits of time and output. What is not installed or fails is a
plain result, never a crash; what is not allowed is not run and is named. Filters and transports that the checkout's own
git config names do run: large files need them, and who may write that file may run programs there anyway.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from bot.domain.heartbeats.allowed_commands import Argv, commands_in, is_allowed, prints_json
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line
from bot.heartbeat.run.forge_checks import Item, items_in
from bot.heartbeat.run.output_digest import output_digest

TIMEOUT_S: Final = 30.0
TOTAL_S: Final = 180.0
"""How long all commands of a beat may take; those of eight sessions run beside each other."""

OUTPUT_BYTES: Final = 64 * 1024
TOKEN_BYTES: Final = 4096
"""What is read beyond a limit, so that no secret ends at it."""

JSON_BYTES: Final = 8 * 1024 * 1024
"""What a list of pull requests with all their checks may take; a few lines of it are kept."""

_GIT_SETTINGS: Final = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.askPass": "",
    "diff.external": "",
    "protocol.ext.allow": "never",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_TERMINAL: Final = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\^_])")
"""What colours a terminal; nobody reads it in an alert, and it hides the words beside it from code."""

_LOOK_MS: Final = 100
"""How long a command that prints nothing is left alone, in milliseconds, before it is looked at again."""

_NONE: Final[Mapping[Argv, Any]] = MappingProxyType({})
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "TMPDIR", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME")
_OF_PROGRAMS: Final = MappingProxyType(
    {
        "gh": ("GH_TOKEN", "GH_HOST", "GH_CONFIG_DIR"),
        "glab": ("GITLAB_TOKEN", "GITLAB_HOST", "GLAB_CONFIG_DIR"),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeResult:
    """What one command printed, secrets cut out; `problem` says why it has no answer."""

    argv: Argv
    output: str
    exit_code: int | None
    seconds: float
    problem: str | None = None
    items: tuple[Item, ...] | None = None
    """The requests and runs in the JSON of gh or glab; None where the output is none. `output` are their lines."""
    at: datetime | None = None
    """When the commands of its beat began to run."""

    @property
    def command(self) -> str:
        """The command as it stands in a playbook."""
        return " ".join(self.argv)

    @property
    def digest(self) -> str:
        """The hash by which two outputs are compared."""
        return output_digest(self.argv, self.output, exit_code=self.exit_code, problem=self.problem, at=self.at)


@dataclass(frozen=True, kw_only=True)
class ProbeReport:
    """Everything that ran, what each task asked for, what was refused, and what there was no time left for."""

    results: tuple[ProbeResult, ...] = ()
    wanted: tuple[tuple[str, Argv], ...] = ()
    """Pairs of a task's id and a command it names."""
    refused: tuple[Argv, ...] = ()
    late: tuple[Argv, ...] = ()

    def results_for(self, task: PlaybookEntry) -> tuple[ProbeResult, ...]:
        """Return the results of one task's commands."""
        return tuple(self._answers[argv] for argv in self._asked.get(task.id, ()) if argv in self._answers)

    def commands_of(self, task: PlaybookEntry) -> frozenset[Argv]:
        """Return the commands that a task names, allowed or not."""
        return frozenset(self._asked.get(task.id, ()))

    def names_commands(self, task: PlaybookEntry) -> bool:
        """Whether a task names any command, allowed or not."""
        return task.id in self._asked

    def covers(self, task: PlaybookEntry) -> bool:
        """Whether commands alone answer a task: it names some, and all were allowed.

        A command that fails just as it did at the last good beat is no news either.
        """
        asked = self._asked.get(task.id, {})
        return bool(asked) and all(argv in self._answers for argv in asked)

    @cached_property
    def _asked(self) -> dict[str, dict[Argv, None]]:
        """The commands of each task, in order; a playbook may hold thousands, so nothing is searched twice."""
        asked: dict[str, dict[Argv, None]] = {}
        for task_id, argv in self.wanted:
            asked.setdefault(task_id, {})[argv] = None
        return asked

    @cached_property
    def _answers(self) -> dict[Argv, ProbeResult]:
        return {result.argv: result for result in self.results}

    def changed(self, digests: dict[str, str]) -> tuple[ProbeResult, ...]:
        """Return the results that differ from the last good beat's, by command."""
        return tuple(result for result in self.results if digests.get(result.command) != result.digest)

    def digests(self) -> dict[str, str]:
        """Return what the next beat compares with."""
        return {result.command: result.digest for result in self.results}


class Probes:
    """Runs commands; `secrets` are cut out of what they print, `environ` is what the process was given."""

    def __init__(
        self,
        environ: dict[str, str],
        *,
        secrets: Collection[str] = (),
        timeout_s: float = TIMEOUT_S,
        total_s: float = TOTAL_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environ, self._secrets = environ, secrets
        self._timeout_s, self._total_s, self._monotonic = timeout_s, total_s, monotonic

    def run(
        self,
        cwd: Path,
        tasks: Sequence[PlaybookEntry],
        templates: Sequence[Argv],
        *,
        at: datetime,
        known: Mapping[Argv, str] = _NONE,
        ready: Mapping[Argv, ProbeResult] = _NONE,
    ) -> ProbeReport:
        """Run what the tasks name now (`at`), each command once; `known` are answers code has already.

        What is in `ready` was run a moment ago and is not run again. Once the time for all is used up, the rest is
        left for another beat; their tasks are not covered.
        """
        wanted = [(task.id, argv) for task in tasks for argv in commands_in([task.text, *task.details])]
        named = list(dict.fromkeys(argv for _, argv in wanted))
        allowed = {argv: None for argv in named if argv in known or is_allowed(argv, templates, cwd)}
        results = {argv: ready[argv] for argv in allowed if argv in ready}
        results |= {argv: _answered(argv, known[argv]) for argv in allowed if argv in known}
        began = self._monotonic()
        for argv in allowed:
            if argv not in results and self._monotonic() - began < self._total_s:
                results[argv] = replace(self._run(cwd, argv), at=at)
        return ProbeReport(
            results=tuple(results[argv] for argv in allowed if argv in results),
            wanted=tuple(wanted),
            refused=tuple(argv for argv in named if argv not in allowed),
            late=tuple(argv for argv in allowed if argv not in results),
        )

    def run_one(self, cwd: Path, argv: Argv, templates: Sequence[Argv]) -> ProbeResult | None:
        """Run one command; None where it is not allowed."""
        return self._run(cwd, argv) if is_allowed(argv, templates, cwd) else None

    def _run(self, cwd: Path, argv: Argv) -> ProbeResult:
        started = self._monotonic()
        output, exit_code, problem = self._capture(cwd, argv)
        text, items = self._clean(output), None
        if problem is None and prints_json(argv):
            items = items_in(output.decode("utf-8", "replace"))
            problem = None if items is not None else f"`{' '.join(argv)}` printed no list in JSON"
            text = self._clean("".join(f"{each.line}\n" for each in items or ()).encode())
        return ProbeResult(
            argv=argv,
            output=text,
            exit_code=exit_code,
            seconds=round(self._monotonic() - started, 3),
            problem=problem,
            items=items,
        )

    def _capture(self, cwd: Path, argv: Argv) -> tuple[bytes, int | None, str | None]:
        """Return what a command printed, its exit code, and why there is no answer."""
        try:
            process = subprocess.Popen(  # noqa: S603 - an exact argv template, no shell
                argv,
                cwd=cwd,
                env=self._env(argv[0]),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except FileNotFoundError:
            missing = "is not there, or the program in its first line is not" if "/" in argv[0] else "is not installed"
            return b"", None, f"{argv[0]} {missing}" if cwd.is_dir() else f"{cwd} is gone"
        except OSError as error:
            return b"", None, f"{argv[0]} cannot be started: {error.strerror}"
        return self._read(process, argv)

    def _read(self, process: subprocess.Popen[bytes], argv: Argv) -> tuple[bytes, int | None, str | None]:
        """Read up to the limit of output within the limit of time, and leave nothing of its group running.

        What left the group (a daemon, a kept connection) may hold the pipe for ever: nobody waits for it.
        """
        deadline = time.monotonic() + self._timeout_s
        with process:
            assert process.stdout is not None
            limit = JSON_BYTES if prints_json(argv) else OUTPUT_BYTES
            output = _printed(process, process.stdout.fileno(), deadline, limit + TOKEN_BYTES)
            expired = len(output) <= limit and _is_late(process, deadline)
            _kill_group(process)
            code = process.wait() if len(output) <= limit else -signal.SIGKILL  # even if it ended before that
        problem = self._problem(argv, output, code, expired=expired, limit=limit)
        return output[: limit + TOKEN_BYTES], code, problem

    def _problem(self, argv: Argv, output: bytes, code: int, *, expired: bool, limit: int) -> str | None:
        command = " ".join(argv)
        if expired:
            return f"`{command}` took over {self._timeout_s:g} s"
        if len(output) > limit:
            return f"`{command}` printed more than {limit // 1024} KiB"
        if code == 0:
            return None
        if code < 0:
            return f"`{command}` was ended by {_signal_name(-code)}"
        said = self._clean(output).strip().splitlines() or [f"exit code {code}"]
        first = next((line for line in said if line.startswith(("fatal:", "error:"))), said[-1])
        return f"`{command}` failed: {one_line(first, 200)}"

    def _env(self, program: str) -> dict[str, str]:
        names = (*_PASSED_ON, *_OF_PROGRAMS.get(program, ()))
        settings = list(_GIT_SETTINGS.items())
        keys = {f"GIT_CONFIG_KEY_{n}": key for n, (key, _) in enumerate(settings)}
        values = {f"GIT_CONFIG_VALUE_{n}": value for n, (_, value) in enumerate(settings)}
        return {
            **{name: self._environ[name] for name in names if name in self._environ},
            **keys,
            **values,
            "GIT_CONFIG_COUNT": str(len(settings)),
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=10",
            "GH_PROMPT_DISABLED": "1",
            "GH_NO_UPDATE_NOTIFIER": "1",
            "NO_PROMPT": "1",
            "GLAB_CHECK_UPDATE": "false",
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
        }

    def _clean(self, output: bytes) -> str:
        """Return the beginning of an output without secrets; it is cut last, for half a token would not be known."""
        text = output[: OUTPUT_BYTES + TOKEN_BYTES].decode("utf-8", "replace").replace("\0", "\ufffd")
        clean = redact(_TERMINAL.sub("", text), self._secrets)
        return (clean[:-TOKEN_BYTES] if len(output) > OUTPUT_BYTES else clean)[:OUTPUT_BYTES]


def _answered(argv: Argv, output: str) -> ProbeResult:
    return ProbeResult(argv=argv, output=output, exit_code=0, seconds=0.0)


def _printed(process: subprocess.Popen[bytes], pipe: int, deadline: float, limit: int) -> bytes:
    """Return what a command prints until it ends, the deadline passes or the limit of output is reached."""
    output = b""
    while len(output) <= limit and time.monotonic() < deadline:
        was_running = process.poll() is None
        piece = _piece(pipe)
        if piece == b"" or (piece is None and not was_running):
            break
        output += piece or b""
    return output


def _piece(pipe: int) -> bytes | None:
    """Return what a pipe holds: nothing at its end, None where nothing came for a moment."""
    looks = select.poll()  # select() itself takes no descriptor above 1023
    looks.register(pipe, select.POLLIN | select.POLLHUP)
    return os.read(pipe, OUTPUT_BYTES) if looks.poll(_LOOK_MS) else None


def _is_late(process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Whether a command that prints no more is still running at its deadline."""
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return True
    return False


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a command and all it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
