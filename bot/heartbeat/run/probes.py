"""Runs the free commands of the due tasks and remembers what they printed by its hash; no model is asked.

What is not installed, fails or exceeds a limit is a plain result with a problem, never a crash; what is not allowed is
not run and is named. The hash leaves out what differs from run to run anyway: clocks near the run, durations and ids of
runs; every other number may be what is watched. A duration that is watched belongs into the exit code of a check. Of a
failure only its kind counts.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from bot.domain.heartbeats.allowed_commands import Argv, is_allowed
from bot.domain.playbook_entries import PlaybookEntry
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line
from bot.heartbeat.run.command_process import Ran, command_environment, run_command

TIMEOUT_S: Final = 30.0
TOTAL_S: Final = 180.0
"""How long all commands of a beat may take."""

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

_CLOCK: Final = re.compile(
    r"\b(?P<iso>[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2})\b)?)"
    r"|\b[A-Z][a-z]{2} (?P<day>[A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9]{2}:[0-9]{2}:[0-9]{2}) [A-Z]{2,5} "
    r"(?P<year>[0-9]{4})\b"
    r"|(?<![\w.:])(?P<unix>[0-9]{10})(?:\.[0-9]{1,9}|[0-9]{3})?(?![\w:])"
    r"|(?<![\w.:-])(?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,][0-9]{1,9})?(?![\w:])"
)
"""A date with a time of day as most programs and `date` write it, seconds or milliseconds since 1970, a time of day."""

_OWN_CLOCK: Final = timedelta(minutes=3)
"""A time so near to that of its run is what a command took from the clock, and says nothing of what it looks at."""

_DAY, _NOON = timedelta(days=1), timedelta(hours=12)
_DURATION: Final = re.compile(
    r"(?<![\w.:/#-])(?![0-9a-f]{7,64}(?!\w))(?>(?:[0-9]{1,9}(?:\.[0-9]{1,9})?"
    r"(?: ?(?:[nuµm]?s|secs?|mins?|hrs?|(?:milli|micro|nano)?seconds?|minutes?|hours?|days?|weeks?|months?|years?)"
    r"|[mhdwy])"
    r"(?![A-Za-zµ])(?:,? (?=[0-9]))?)+)(?![\w/:-])"
)
"""`3.21s`, `1m3s`, `4 days, 2 hours`; a commit such as 12d345d is none."""

_RUN_ID: Final = re.compile(
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|(?<=/)(?:runs|job|jobs|builds|pipelines)/[0-9]{1,20}\b"
    r"|(?i:\b(?:run|request|trace)[_ -]?id\b\W{1,4}[\w-]{1,64})"
)
"""A UUID, a run in the address of a CI server, what a program calls the id of a run or of a request."""

_GAP: Final = re.compile(r"(?<=\S)[ \t]+")
_VARIES: Final = re.compile(r"(?:At|_at|Id|_id)$|^(?:id|detailsUrl|avatar_url)$")
"""The fields of a forge that hold a time, or the id or address of a run."""

_WELL: Final = ("SUCCESS", "NEUTRAL", "SKIPPED")


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
        if self.problem is None:
            said = "\n".join(_lasting(line, self.at) for line in self.output.splitlines())
        else:
            said = "" if (self.exit_code or 0) > 0 else self.problem
        return hashlib.sha256(f"{self.exit_code}\0{said}".encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class ProbeReport:
    """Everything that was to run, and what was refused."""

    results: tuple[ProbeResult, ...] = ()
    refused: tuple[Argv, ...] = ()

    def results_for(self, task: PlaybookEntry) -> tuple[ProbeResult, ...]:
        """Return the results of one task's commands."""
        return tuple(self._answers[argv] for argv in task.commands if argv in self._answers)

    def covers(self, task: PlaybookEntry) -> bool:
        """Whether commands alone answer a task: it names some, and all were allowed.

        A command that fails just as it did at the last good beat, or was late again, is no news either.
        """
        return bool(task.commands) and all(argv in self._answers for argv in task.commands)

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
        ready: Mapping[Argv, ProbeResult] = _NONE,
    ) -> ProbeReport:
        """Run what the tasks name now (`at`), each command once; what is `ready` has its answer already.

        Once the time for all is used up, the rest is left for another beat.
        """
        named = list(dict.fromkeys(argv for task in tasks for argv in task.commands))
        results, began = dict[Argv, ProbeResult](), self._monotonic()
        for argv in named:
            if argv in ready:
                results[argv] = ready[argv]
            elif is_allowed(argv, templates, cwd):
                is_late = self._monotonic() - began >= self._total_s
                results[argv] = self._late(argv) if is_late else replace(self._run(cwd, argv), at=at)
        refused = tuple(argv for argv in named if argv not in results)
        return ProbeReport(results=tuple(results.values()), refused=refused)

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


def _lasting(line: str, at: datetime | None) -> str:
    """Return what of a line outlasts its run; a column is as wide as what stands in it, so its spaces do not."""
    left = line if at is None else _CLOCK.sub(lambda found: "" if _is_own_clock(found, at) else found[0], line)
    left = _RUN_ID.sub("", _DURATION.sub("", left))
    return _GAP.sub(" ", left if left == line else left.lstrip()).rstrip()


def _is_own_clock(found: re.Match[str], at: datetime) -> bool:
    """Whether a time is that of the run; one without a zone is UTC's or the machine's."""
    try:
        if found["unix"]:
            told = datetime.fromtimestamp(int(found["unix"]), UTC)
        elif found["day"]:
            told = datetime.strptime(f"{found['day']} {found['year']}", "%b %d %H:%M:%S %Y")
        elif found["iso"]:
            day, _, time_of_day = found["iso"].replace("UTC", "Z").replace("T", " ").partition(" ")
            told = datetime.fromisoformat(f"{day} {time_of_day.replace(' ', '')}")
        else:
            told = datetime.fromisoformat(f"{at:%Y-%m-%d} {found['time']}")
        meant = (told,) if told.tzinfo else (told.replace(tzinfo=UTC), told.astimezone())
        away = [each - at for each in meant]
        return any(abs((each + _NOON) % _DAY - _NOON if found["time"] else each) <= _OWN_CLOCK for each in away)
    except (ValueError, OverflowError):
        return False


def forge_rows(printed: str) -> str | None:
    """Return each object in the JSON of gh or glab in a line of its own; None where it is no list of objects.

    Titles and names are shown and never judged. Left out is what is empty, times, ids and addresses of runs, and of the
    checks of a request those that are well or were run again.
    Source: https://cli.github.com/manual/gh_pr_list and https://docs.gitlab.com/api/pipelines/

    >>> forge_rows('[{"number": 7, "closedAt": "", "statusCheckRollup": [{"name": "e2e", "conclusion": "FAILURE"}]}]')
    '{"number": 7, "statusCheckRollup": [{"name": "e2e", "conclusion": "FAILURE"}]}\\n'
    """
    try:
        found = json.loads(printed)
        rows = [found] if isinstance(found, dict) else found
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            return None
        return "".join(f"{json.dumps(_lasting_fields(row), ensure_ascii=False)}\n" for row in rows)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _lasting_fields(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _not_well(of or []) if name == "statusCheckRollup" else of for name, of in value.items()}
        return {name: _lasting_fields(of) for name, of in kept.items() if of and not _VARIES.search(name)}
    return [_lasting_fields(each) for each in value] if isinstance(value, list) else value


def _not_well(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the checks of a request that fail or run, by their newest run."""
    runs = sorted(checks, key=lambda run: str(run.get("startedAt") or run.get("createdAt")))
    newest = {(run.get("workflowName"), run.get("name") or run.get("context")): run for run in runs}
    return [run for run in newest.values() if (run.get("conclusion") or run.get("state")) not in _WELL]
