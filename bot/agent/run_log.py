"""What a run leaves while it runs: run.log live, transcript.md turn by turn, and a word to whoever watches.

Everything is redacted before it is written or shortened. A disk that refuses costs the record, never the run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from bot.agent.model_run import RunProgress, RunRequest
from bot.domain.secrets import redact
from bot.errors import TriageError
from bot.ports import Clock

log = logging.getLogger(__name__)

PREVIEW_EVERY_S: Final = 3.0
_PREVIEW_CHARS: Final = 120
_KEPT_CHARS: Final = 4_000


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
        self._append("run.log", f"{self._clock.now():%Y-%m-%dT%H:%M:%SZ} {' '.join(self._safe(line).split())}\n")

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
        if self._report is None:
            return
        try:
            self._report(RunProgress(tool_calls=self.tool_calls, thinking=latest))
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
