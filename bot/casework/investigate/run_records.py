"""The record of every run: runs/<run_id>/ holds trace.json, transcript.md, run.log and work_products/.

The ledger in the trace is what later checks of the run's citations rest on, so it is written before the draft counts.
A model's runner writes run.log and transcript.md as it goes; own secrets are cut out of what is written here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from bot.agent.ledger import Ledger
from bot.agent.model_run import RunFailed
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.validate.validation import Validation
from bot.domain.returns import Usage
from bot.domain.secrets import OWN_SECRET, redact, redact_values
from bot.errors import TriageError, refusal
from bot.ports import Clock

T = TypeVar("T")


class RunRecorder:
    """Writes and reads the folders under runs/."""

    def __init__(self, folder: Path, clock: Clock, secrets: Collection[str] = ()) -> None:
        self._folder, self._clock, self._secrets = folder, clock, secrets

    def record(self, run_id: str, assignment: Assignment, work: Callable[[], Investigation]) -> Investigation:
        """Investigate and leave the record, also when it fails.

        Raises:
            StoreError: the record could not be written.
            TriageError: whatever the work raised.
        """
        found = self._recorded(run_id, f"round {assignment.round}", work, _investigation_trace)
        transcript = self._folder / run_id / "transcript.md"
        if not transcript.is_file():
            self._write(transcript, self._cut(_transcript(assignment, found)))
        return found

    def record_validation(self, run_id: str, work: Callable[[], Validation]) -> Validation:
        """Validate and leave the record, also when it fails; raises as `record` does."""
        return self._recorded(run_id, "validation", work, _validation_trace)

    def _recorded(self, run_id: str, what: str, work: Callable[[], T], trace_of: Callable[[T], Mapping[str, Any]]) -> T:
        folder, started = self._folder / run_id, self._clock.now()
        try:
            (folder / "work_products").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(f"cannot record the run in {folder}", error, "check the disk and its owner") from error
        self._log(folder, f"started {what}")
        try:
            done = work()
        except TriageError as error:
            self._log(folder, f"failed: {error}")
            usage = error.usage.model_dump() if isinstance(error, RunFailed) else None
            self._trace(folder, started, {"error": str(error), "usage": usage})
            raise
        self._trace(folder, started, trace_of(done))
        self._log(folder, f"finished after {self._seconds(started):.2f} s")
        return done

    def ledger(self, run_id: str) -> Ledger | None:
        """Return what a run read, or None if its record is gone or unreadable."""
        try:
            trace = json.loads((self._folder / run_id / "trace.json").read_text(encoding="utf-8"))
            return Ledger.model_validate(trace["ledger"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, ValidationError):
            return None

    def usage(self, run_id: str) -> Usage | None:
        """Return what a run cost, whether it succeeded or not; None where there is no record of it."""
        try:
            trace = json.loads((self._folder / run_id / "trace.json").read_text(encoding="utf-8"))
            return Usage.model_validate(trace["usage"] or {})
        except (OSError, ValueError, KeyError, TypeError, RecursionError, ValidationError):
            return None

    def _seconds(self, started: datetime) -> float:
        return (self._clock.now() - started).total_seconds()

    def _trace(self, folder: Path, started: datetime, facts: Mapping[str, Any]) -> None:
        trace = {
            "run_id": folder.name,
            "started_at": started.isoformat(),
            "seconds": self._seconds(started),
            **{name: fact if name == "ledger" else redact_values(fact, self._secrets) for name, fact in facts.items()},
        }
        self._write(folder / "trace.json", self._without_own(json.dumps(trace, ensure_ascii=False, indent=1)))

    def _log(self, folder: Path, line: str) -> None:
        path = folder / "run.log"
        try:
            with path.open("a", encoding="utf-8", errors="replace") as file:
                file.write(f"{self._clock.now():%Y-%m-%dT%H:%M:%SZ} {self._cut(line)}\n")
        except OSError as error:
            raise refusal(f"cannot write {path}", error, "check the disk and the folder's owner") from error

    def _write(self, path: Path, text: str) -> None:
        try:
            path.write_text(text, encoding="utf-8", errors="replace")
        except OSError as error:
            raise refusal(f"cannot write {path}", error, "check the disk and the folder's owner") from error

    def _without_own(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, f"[redacted: {OWN_SECRET}]")
        return text

    def _cut(self, text: str) -> str:
        return redact(text, self._secrets)


def _investigation_trace(found: Investigation) -> dict[str, Any]:
    return {
        "investigator": found.investigator,
        "convergence_forced": found.convergence_forced,
        "usage": found.usage.model_dump(),
        "ledger": found.ledger.model_dump() if found.ledger else None,
        "return": found.ret.model_dump(mode="json"),
    }


def _validation_trace(done: Validation) -> dict[str, Any]:
    return {
        "problem": done.problem,
        "convergence_forced": done.convergence_forced,
        "usage": done.usage.model_dump(),
        "ledger": done.ledger.model_dump(),
        "checks": [check.model_dump() for check in done.checks],
        "return": done.ret.model_dump(mode="json") if done.ret else None,
    }


def _transcript(assignment: Assignment, found: Investigation) -> str:
    known = found.ledger.reads if found.ledger else ()
    reads = "\n".join(f"- {read.path}:{read.start}-{read.end} at {read.commit[:12]}" for read in known)
    return (
        f"# Question\n\n{assignment.question}\n\n# Rubric\n\n{assignment.rubric}\n\n"
        f"# Read\n\n{reads or '(nothing)'}\n\n"
        f"# Draft ({found.investigator}, confidence {found.ret.confidence})\n\n{found.ret.draft_reply}\n"
    )
