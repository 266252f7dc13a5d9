"""The record of every run: runs/<run_id>/ holds trace.json, transcript.md, run.log and work_products/.

The ledger in the trace is what later checks of the run's citations rest on, so it is written before the draft counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from bot.agent.ledger import Ledger
from bot.casework.investigator import Assignment, Investigation
from bot.errors import StoreError, TriageError
from bot.ports import Clock


class RunRecorder:
    """Writes and reads the folders under runs/."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def record(self, run_id: str, assignment: Assignment, work: Callable[[], Investigation]) -> Investigation:
        """Do the work and leave its record, also when it fails.

        Raises:
            StoreError: the record could not be written.
            TriageError: whatever the work raised.
        """
        folder = self._folder / run_id
        started = self._clock.now()
        try:
            (folder / "work_products").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot record the run in {folder}: {error.strerror}") from error
        self._log(folder, f"started round {assignment.round}")
        try:
            found = work()
        except TriageError as error:
            self._log(folder, f"failed: {error}")
            raise
        seconds = (self._clock.now() - started).total_seconds()
        trace = {
            "run_id": run_id,
            "investigator": found.investigator,
            "started_at": started.isoformat(),
            "seconds": seconds,
            "usage": found.usage.model_dump(),
            "ledger": found.ledger.model_dump(),
            "return": found.ret.model_dump(mode="json"),
        }
        _write(folder / "trace.json", json.dumps(trace, ensure_ascii=False, indent=1))
        _write(folder / "transcript.md", _transcript(assignment, found))
        self._log(folder, f"finished after {seconds:.2f} s, {len(found.ledger.reads)} reads")
        return found

    def ledger(self, run_id: str) -> Ledger | None:
        """Return what a run read, or None if its record is gone or unreadable."""
        try:
            trace = json.loads((self._folder / run_id / "trace.json").read_text(encoding="utf-8"))
            return Ledger.model_validate(trace["ledger"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, ValidationError):
            return None

    def _log(self, folder: Path, line: str) -> None:
        path = folder / "run.log"
        try:
            with path.open("a", encoding="utf-8", errors="replace") as file:
                file.write(f"{self._clock.now():%Y-%m-%dT%H:%M:%SZ} {line}\n")
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from error


def _transcript(assignment: Assignment, found: Investigation) -> str:
    reads = "\n".join(f"- {read.path}:{read.start}-{read.end} at {read.commit[:12]}" for read in found.ledger.reads)
    return (
        f"# Question\n\n{assignment.question}\n\n# Rubric\n\n{assignment.rubric}\n\n"
        f"# Read\n\n{reads or '(nothing)'}\n\n"
        f"# Draft ({found.investigator}, confidence {found.ret.confidence})\n\n{found.ret.draft_reply}\n"
    )


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
