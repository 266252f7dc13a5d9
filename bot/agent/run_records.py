"""Writes and reads the record of every run: runs/<run_id>/ with trace.json, transcript.md, run.log and work_products/.

The trace holds the run's ledger (bot/agent/ledger.py). Later checks of the run's citations rest on it, so it is written
before the draft counts. `RunLog` writes run.log and transcript.md while a model runs; an error of the disk costs that
record, not the run. Everything is redacted before it is written or shortened.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from bot.agent.ledger import Ledger
from bot.agent.model_run import RunFailed, RunProgress, RunRequest
from bot.domain.returns import Usage
from bot.domain.secrets import OWN_SECRET, redact, redact_values
from bot.errors import TriageError, refused
from bot.ports import Clock, RunFolders

log = logging.getLogger(__name__)

_T = TypeVar("_T", bound=BaseModel)

PREVIEW_EVERY_S: Final = 3.0
_PREVIEW_CHARS: Final = 120
_KEPT_CHARS: Final = 4_000
_LINE_CHARS: Final = 500


@dataclass(slots=True)
class RunRecord:
    """What a run came to, to be set before it ends; a transcript is written where its runner wrote none.

    `products` are the files of work_products/: what people may take from the run, by file name.
    """

    trace: Mapping[str, Any] = field(default_factory=dict)
    transcript: str | None = None
    products: Mapping[str, str] = field(default_factory=dict)


class RunRecorder:
    """Writes and reads the folders under runs/."""

    def __init__(self, folders: RunFolders, clock: Clock, secrets: Collection[str] = ()) -> None:
        self._folders, self._clock, self._secrets = folders, clock, secrets

    @contextmanager
    def recording(self, run_id: str, what: str) -> Iterator[RunRecord]:
        """Yield the record of a run that begins now, and leave it at the end for all, also when the run fails.

        Raises:
            StoreError: the record could not be written.
        """
        folder, started = self._folders.here(f"runs/{run_id}"), self._clock.now()
        with refused(f"cannot record the run in {folder}", "check the disk and its owner"):
            (folder / "work_products").mkdir(parents=True, exist_ok=True)
        self._log(folder, f"started {what}")
        record = RunRecord()
        try:
            yield record
        except TriageError as error:
            self._log(folder, f"failed: {error}")
            self._trace(folder, started, {"error": str(error), **_failure(error)})
            self._folders.publish(f"runs/{run_id}")
            raise
        self._trace(folder, started, record.trace)
        took = self._seconds(started)
        self._log(folder, f"finished after {took:.2f} s")
        log.info("%s took %.1f s", what, took, extra={"action": "run_finished", "run_id": run_id, "seconds": took})
        for name, text in record.products.items():
            self._write(folder / "work_products" / name, self._cut(text))
        transcript = folder / "transcript.md"
        if record.transcript is not None and not transcript.is_file():
            self._write(transcript, self._cut(record.transcript))
        self._folders.publish(f"runs/{run_id}")

    def publish_long_run(self, thread_id: str, run_id: str) -> None:
        """Have what an escalation left be read everywhere; raises StoreError."""
        for folder in (f"runs/{run_id}", f"escalations/{thread_id}"):
            self._folders.publish(folder)

    def ledger(self, run_id: str) -> Ledger | None:
        """Return what a run read, or None if its record is gone or unreadable; raises StoreError."""
        return self._read(run_id, "ledger", Ledger)

    def usage(self, run_id: str) -> Usage | None:
        """Return what a run cost, whether it succeeded or not; None where there is no record of it. StoreError."""
        return self._read(run_id, "usage", Usage, if_null={})

    def _read(self, run_id: str, name: str, kind: type[_T], *, if_null: object = None) -> _T | None:
        """Return a part of a run's trace; None where it is gone or unreadable. Raises StoreError."""
        folder = self._folders.fetch(f"runs/{run_id}")
        try:
            trace = json.loads((folder / "trace.json").read_text(encoding="utf-8"))
            return kind.model_validate(if_null if trace[name] is None else trace[name], extra="ignore")
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
        self._write(folder / "run.log", f"{self._clock.now():%Y-%m-%dT%H:%M:%SZ} {self._cut(line)}\n", mode="a")

    def _write(self, path: Path, text: str, *, mode: str = "w") -> None:
        with (
            refused(f"cannot write {path}", "check the disk and the folder's owner"),
            path.open(mode, encoding="utf-8", errors="replace") as file,
        ):
            file.write(text)

    def _without_own(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, f"[redacted: {OWN_SECRET}]")
        return text

    def _cut(self, text: str) -> str:
        return redact(text, self._secrets)


def _failure(error: TriageError) -> dict[str, Any]:
    """Return what a failed run cost, and which limit of time ended it, as far as the error says so."""
    return {"usage": error.usage.model_dump(), **error.limits()} if isinstance(error, RunFailed) else {"usage": None}


class RunLog:
    """The record of one run; `tool_calls` counts what was called."""

    def __init__(
        self, request: RunRequest, *, clock: Clock, monotonic: Callable[[], float], secrets: Collection[str]
    ) -> None:
        self._folder, self._report = request.folder, request.on_progress
        self._clock, self._monotonic, self._secrets = clock, monotonic, secrets
        self._previewed_at: float | None = None
        self._recent = ""
        self.tool_calls = 0

    def say(self, line: str) -> None:
        """Add one line to run.log."""
        said = " ".join(self._safe(line).split())[:_LINE_CHARS]
        self._append("run.log", f"{self._clock.now():%Y-%m-%dT%H:%M:%SZ} {said}\n")

    def write(self, heading: str, text: str) -> None:
        """Add a section to transcript.md."""
        self._append("transcript.md", f"## {heading}\n\n{self._safe(text)}\n\n")

    def log_progress(self, words: str) -> bool:
        """Take in words of thinking or text; whether a preview of them is due."""
        self._recent = (self._recent + words)[-_KEPT_CHARS:]
        now = self._monotonic()
        return self._previewed_at is None or now - self._previewed_at >= PREVIEW_EVERY_S

    def preview(self) -> None:
        """Show the latest words, in run.log and to the watcher."""
        self._previewed_at = self._monotonic()
        latest = " ".join(self._safe(_whole_words(self._recent)).split())[-_PREVIEW_CHARS:]
        self.say(f"thinking: {latest}")
        self._show(RunProgress(tool_calls=self.tool_calls, thinking=latest))

    def note_call(self, call: str) -> None:
        """Add a tool call with its arguments to both files, and show it to the watcher."""
        self.say(f"tool: {call}")
        self.write("Call", call)
        self._show(RunProgress(tool_calls=self.tool_calls, call=" ".join(self._safe(call).split())[:_PREVIEW_CHARS]))

    def _show(self, progress: RunProgress) -> None:
        if self._report is None:
            return
        try:
            self._report(progress)
        except TriageError:
            log.warning("progress could not be shown", exc_info=True, extra={"action": "progress_unshown"})

    def _safe(self, text: str) -> str:
        return redact(text, self._secrets)

    def _append(self, name: str, text: str) -> None:
        if self._folder is None:
            return
        path = Path(self._folder, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8", errors="replace") as file:
                file.write(text)
        except OSError:
            log.warning("a run's record could not be written", exc_info=True, extra={"action": "journal_unwritten"})


def _whole_words(text: str) -> str:
    """Return a text that is still growing without its last word: half a secret would not be recognised as one.

    >>> _whole_words("the key is sk-an")
    'the key is'
    """
    return text[: -len(text.split()[-1])].rstrip() if text.split() and not text[-1].isspace() else text
