"""What a model run is given and what comes out of it; bot/agent/loop.py carries one out.

One run is one conversation with fresh context: a stable prefix (system, tools), one user message of delimited data,
tool turns, and a final answer: an object of the asked type in text, or the arguments of a final tool. How far it is is
shown at most once in 3 s, off the run's own thread; when the run ends nothing old is shown any more.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel

from bot.agent.ledger import Ledger
from bot.agent.tools.base import Tool
from bot.domain.returns import Usage
from bot.domain.text.humanize import counted
from bot.errors import ProviderError, Unavailable
from bot.ports import Image

EVERY_S: Final = 3.0
THINKING_CHARS: Final = 120
MAX_CALLS: Final = 500
"""Tool calls that a watch remembers."""

Show = Callable[[str], bool | None]
"""Shows a line; False: it is to be shown again, though nothing new happens meanwhile."""

Effort = Literal["low", "medium", "high"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunLimits:
    """Bounds of one run: seconds for all of it, seconds without a chunk, turns, answer tokens, US dollars left.

    `total_s`, `stall_s` and `spend_usd` may be None (no such limit).
    """

    total_s: float | None = 300.0
    stall_s: float | None = 60.0
    max_turns: int = 24
    max_tokens: int = 8_000
    spend_usd: float | None = None
    max_attempts: int = 4
    """How often the first request is made at most while its failures pass by themselves."""
    first_pause_s: float | None = None
    """The longest pause before another attempt at the first request: nothing is lost if the run is made later."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRequest:
    """One run to make.

    `system` and the tools are equal for all runs of a kind and marked for caching; `rubric` differs by question type,
    and `prompt` is this run's data.
    """

    model: str
    system: str
    rubric: str = ""
    prompt: str
    images: Sequence[Image] = ()
    """Shown before the words of the prompt; kept in no record."""
    effort: Effort | None = None
    """How hard the model works; None: its own default."""
    thinks: bool = True
    """Whether it may think before it answers; thinking counts as output."""
    tools: Sequence[Tool] = ()
    answer: type[BaseModel]
    final: Tool | None = None
    """A valid call of it ends the run, and its arguments are the answer; a run that ends in text is asked once for it.
    Text that stands nevertheless is read by `read`, below the arguments, as JSON, of a call that could not be taken."""
    read: Callable[[str], BaseModel] | None = None
    """Reads the last words instead of looking for an `answer` in them; must not raise."""
    limits: RunLimits = field(default_factory=RunLimits)
    ledger: Ledger | None = None
    """Where every call is noted, and its result under the number by which it is cited; None: nowhere."""
    folder: Path | None = None
    """runs/<run_id>/: run.log is streamed and transcript.md is kept here, when given."""
    on_progress: Callable[[RunProgress], None] | None = None
    cancel: threading.Event | None = None
    """Set from any thread, it ends this run, and only this one, with RunCancelled."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunProgress:
    """How far a run is: tool calls made, and the latest of them with its arguments, or the latest words of thinking."""

    tool_calls: int
    thinking: str = ""
    call: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """A finished run. `usage` is complete whatever happened."""

    answer: BaseModel
    usage: Usage
    turns: int
    tool_calls: int
    convergence_forced: bool = False
    images_shown: int = 0
    """How many of the request's images the model took: all or none."""


class RunFailed(ProviderError):
    """A run ended without an answer; `usage` is what it cost until then, `code` names a fault of the provider."""

    def __init__(
        self, message: str, *, usage: Usage, retry_after_s: float | None = None, code: str | None = None
    ) -> None:
        super().__init__(message, retry_after_s=retry_after_s, code=code)
        self.usage = usage

    def limits(self) -> dict[str, Any]:
        """Return which limit expired, for records and JSON output; nothing where none did."""
        return {}


class ModelUnavailable(RunFailed, Unavailable):
    """The provider is away; nothing is wrong with the run, and the same may work later."""


class RunTimedOut(RunFailed):
    """A limit of time expired: `timeout_kind` says which; both limits are as configured, or None."""

    def __init__(
        self, message: str, *, usage: Usage, timeout_kind: str, timeout_s: float | None, stall_s: float | None
    ) -> None:
        super().__init__(message, usage=usage)
        self.timeout_kind, self.timeout_s, self.stall_s = timeout_kind, timeout_s, stall_s

    def limits(self) -> dict[str, Any]:
        """Return which limit expired (`timeout_kind`: `stall` or `total`), and both in seconds as configured."""
        return {"timeout_kind": self.timeout_kind, "timeout_s": self.timeout_s, "stall_s": self.stall_s}


class RunCancelled(RunFailed):
    """Somebody set the request's `cancel`."""


class RunStopped(RunCancelled):
    """The process ends; nothing is wrong with the run, and it is to be made again."""


class SpendLimitReached(RunFailed):
    """The next call's worst case does not fit what may still be spent; it was not made."""


OnProgress = Callable[[RunProgress], None]
"""Told how far a run is, as often as it likes; must not take time."""


class RunWatch:
    """An OnProgress that keeps what it is told, and ends the run once its `cancel` is set.

    `calls` are the latest tool calls with their arguments, the last one last.
    """

    def __init__(self) -> None:
        self.latest: RunProgress | None = None
        self.calls: deque[str] = deque(maxlen=MAX_CALLS)
        self.cancel = threading.Event()

    def __call__(self, progress: RunProgress) -> None:
        """Take note of how far the run is."""
        self.latest = progress
        if progress.call:
            self.calls.append(progress.call)


@contextmanager
def report_progress(show: Show, *, every_s: float = EVERY_S) -> Iterator[RunWatch]:
    """Yield what a run reports to; `show` gets one line of plain text, and must not raise."""
    watch, over = RunWatch(), threading.Event()

    def keep_showing() -> None:
        last = None
        while not over.wait(every_s):
            now = watch.latest
            if now is not None and now != last:
                last = None if show(progress_line(now)) is False else now

    thread = threading.Thread(target=keep_showing, name="progress", daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        over.set()
        thread.join()


def progress_line(progress: RunProgress) -> str:
    """Return one line on how far a run is, its latest call or the latest words of its thinking last.

    >>> progress_line(RunProgress(tool_calls=1, thinking="the limit\\nis set in"))
    '1 tool call · thinking: the limit is set in'
    >>> progress_line(RunProgress(tool_calls=1, call='read_file {"path": "a.py"}'))
    '1 tool call · read_file {"path": "a.py"}'
    """
    calls = counted(progress.tool_calls, "tool call")
    thinking = " ".join(progress.thinking.split())
    if len(thinking) > THINKING_CHARS:
        thinking = "…" + thinking[-THINKING_CHARS + 1 :]
    latest = progress.call or (thinking and f"thinking: {thinking}")
    return f"{calls} · {latest}" if latest else calls
