"""Runs the free commands of the due tasks and remembers what they printed by its hash; no model is asked.

What is not installed, fails or exceeds a limit is a plain result with a problem, never a crash; what is not allowed is
not run and is named.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from bot.domain.heartbeats.allowed_commands import Argv, commands_in, is_allowed
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line
from bot.heartbeat.run.command_process import Ran, command_environment, run_command
from bot.heartbeat.run.output_digest import forge_rows, output_digest

TIMEOUT_S: Final = 30.0
TOTAL_S: Final = 180.0
"""How long all commands of a beat may take; those of eight sessions run beside each other."""

OUTPUT_BYTES: Final = 64 * 1024
TOKEN_BYTES: Final = 4096
"""What is left out at the end of what was cut, so that no secret ends there."""

JSON_BYTES: Final = 8 * 1024 * 1024
"""What gh and glab may print: a list of pull requests with all their checks, of which a few lines are kept."""

_TERMINAL: Final = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\^_])")
"""What colours a terminal; nobody reads it in an alert, and it hides the words beside it from code."""

_NONE: Final[Mapping[Argv, Any]] = MappingProxyType({})
_FORGES: Final = ("gh", "glab")
_PENDING: Final = 8
"""How `gh pr checks` exits while checks run. Source: https://cli.github.com/manual/gh_pr_checks"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeResult:
    """What one command printed, secrets cut out; `problem` says how it failed, or why it has no answer.

    JSON of gh and glab is a line for each object in `output`; `exit_code` is None where nothing was started.
    """

    argv: Argv
    output: str
    exit_code: int | None
    seconds: float = 0.0
    problem: str | None = None
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
    """Everything that was to run, what each task asked for, and what was refused."""

    results: tuple[ProbeResult, ...] = ()
    wanted: tuple[tuple[str, Argv], ...] = ()
    """Pairs of a task's id and a command it names."""
    refused: tuple[Argv, ...] = ()
    late: tuple[Argv, ...] = ()
    """What no time was left for; each is among the results, with a problem."""

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

        A command that fails just as it did at the last good beat, or was late again, is no news either.
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
        left for another beat.
        """
        wanted = [(task.id, argv) for task in tasks for argv in commands_in([task.text, *task.details])]
        named = list(dict.fromkeys(argv for _, argv in wanted))
        allowed = [argv for argv in named if argv in known or is_allowed(argv, templates, cwd)]
        results = {argv: ready[argv] for argv in allowed if argv in ready}
        results |= {argv: ProbeResult(argv=argv, output=known[argv], exit_code=0) for argv in allowed if argv in known}
        began = self._monotonic()
        for argv in allowed:
            if argv not in results and self._monotonic() - began < self._total_s:
                results[argv] = replace(self._run(cwd, argv), at=at)
        late = tuple(argv for argv in allowed if argv not in results)
        results |= {argv: self._late(argv) for argv in late}
        return ProbeReport(
            results=tuple(results[argv] for argv in allowed),
            wanted=tuple(wanted),
            refused=tuple(argv for argv in named if argv not in results),
            late=late,
        )

    def run_one(self, cwd: Path, argv: Argv, templates: Sequence[Argv]) -> ProbeResult | None:
        """Run one command; None where it is not allowed."""
        return self._run(cwd, argv) if is_allowed(argv, templates, cwd) else None

    def _late(self, argv: Argv) -> ProbeResult:
        why = f"no time was left for `{' '.join(argv)}`: the commands before it took over {self._total_s:g} s"
        return ProbeResult(argv=argv, output="", exit_code=None, problem=why)

    def _run(self, cwd: Path, argv: Argv) -> ProbeResult:
        started, is_forge = self._monotonic(), argv[0] in _FORGES
        environment, max_bytes = command_environment(self._environ, argv[0]), JSON_BYTES if is_forge else OUTPUT_BYTES
        ran = run_command(argv, cwd, environment, seconds=self._timeout_s, max_bytes=max_bytes)
        rows = forge_rows(ran.output.decode("utf-8", "replace")) if is_forge else None
        return ProbeResult(
            argv=argv,
            output=self._clean(ran.output if rows is None else rows.encode()),
            exit_code=ran.exit_code,
            seconds=round(self._monotonic() - started, 3),
            problem=self._problem(argv, ran),
        )

    def _problem(self, argv: Argv, ran: Ran) -> str | None:
        """Return how a command failed, or why it has no answer; its last line tells most, of git that of the error."""
        command = " ".join(argv)
        if ran.unanswered is not None:
            return f"`{command}` {ran.unanswered}"
        if ran.exit_code == 0 or (argv[:3] == ("gh", "pr", "checks") and ran.exit_code == _PENDING):
            return None
        said = self._clean(ran.output).strip().splitlines() or [f"exit code {ran.exit_code}"]
        first = next((line for line in said if line.startswith(("fatal:", "error:"))), said[-1])
        return f"`{command}` failed: {one_line(first, 200)}"

    def _clean(self, output: bytes) -> str:
        """Return the beginning of an output without secrets; it is cut last, for half a token would not be known."""
        text = output[: OUTPUT_BYTES + TOKEN_BYTES].decode("utf-8", "replace").replace("\0", "\ufffd")
        clean = redact(_TERMINAL.sub("", text), self._secrets)
        return (clean[:-TOKEN_BYTES] if len(output) > OUTPUT_BYTES else clean)[:OUTPUT_BYTES]
