"""Shows on the card how far a run is: at most once in 3 s, off the run's own thread, so that no run waits for a chat.

A run reports as often as it likes; only the latest counts. When the run ends the last update has been sent, or was
never begun, so nothing old is shown after what comes next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from bot.agent.run import OnProgress, Progress

EVERY_S: Final = 3.0
THINKING_CHARS: Final = 120

Show = Callable[[str], None]


@contextmanager
def shown_progress(show: Show, *, every_s: float = EVERY_S) -> Iterator[OnProgress]:
    """Yield what a run reports to; `show` gets one line of plain text, and must not raise."""
    latest: list[Progress] = []
    over = threading.Event()

    def keep_showing() -> None:
        last = None
        while not over.wait(every_s):
            now = latest[-1] if latest else None
            if now is not None and now != last:
                show(progress_line(now))
                last = now

    def report(progress: Progress) -> None:
        latest[:] = [progress]

    thread = threading.Thread(target=keep_showing, name="progress", daemon=True)
    thread.start()
    try:
        yield report
    finally:
        over.set()
        thread.join()


def progress_line(progress: Progress) -> str:
    """Return one line on how far a run is, the latest words of its thinking last.

    >>> progress_line(Progress(tool_calls=1, thinking="the limit\\nis set in"))
    '1 tool call · thinking: the limit is set in'
    """
    calls = f"{progress.tool_calls} tool call{'s' * (progress.tool_calls != 1)}"
    thinking = " ".join(progress.thinking.split())
    if len(thinking) > THINKING_CHARS:
        thinking = "…" + thinking[-THINKING_CHARS + 1 :]
    return f"{calls} · thinking: {thinking}" if thinking else calls
