"""Whose turn it is to show a thread's card: one at a time, and later what could not be shown now.

Many changes of a card in a short time become few updates: what is noted here is only *that* a card is behind, and
whoever shows it reads the state as it is by then.

No new card and no draft in a channel that all can read: asked of the chat before, and believed for a minute.

Whether a *draft* may be posted is asked anew at every approval (bot/casework/freshness.py).

Shows on the card how far a run is: at most once in 3 s, off the run's own thread, so that no run waits for a chat.

A run reports as often as it likes; only the latest counts. When the run ends the last update has been sent, or was
never begun, so nothing old is shown after what comes next.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Final

from bot.agent.model_run import OnProgress, RunProgress
from bot.errors import ProviderError, Unavailable
from bot.ports import Clock, Messenger, Workspace

RETRY_S: Final = 5.0
LONGEST_S: Final = 60.0


class CardUpdates:
    """The cards being shown, and those that are behind and since when they may be tried."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._busy: set[str] = set()
        self._behind: dict[str, float] = {}
        self._changed = threading.Condition()

    @contextmanager
    def exclusive(self, thread_id: str, *, wait_s: float = 0.0) -> Iterator[bool]:
        """Yield whether it is ours to show the card now; False after `wait_s` if somebody else still shows it."""
        with self._changed:
            mine = self._changed.wait_for(lambda: thread_id not in self._busy, timeout=wait_s)
            if mine:
                self._busy.add(thread_id)
        try:
            yield mine
        finally:
            if mine:
                with self._changed:
                    self._busy.discard(thread_id)
                    self._changed.notify_all()

    def postpone(self, thread_id: str, after_s: float | None = None) -> None:
        """Note that a card is behind and may be tried after so long (at most a minute)."""
        with self._changed:
            self._behind[thread_id] = self._monotonic() + min(RETRY_S if after_s is None else after_s, LONGEST_S)

    def forget(self, thread_id: str) -> None:
        """Note that a card is about to show the state as it is now, so what was put off before need not be shown."""
        with self._changed:
            self._behind.pop(thread_id, None)

    def next(self, *, at_once: bool = False) -> str | None:
        """Return the card whose time has come, longest past first, and forget it; `at_once`: or has not come yet."""
        with self._changed:
            if not self._behind:
                return None
            thread_id, due = min(self._behind.items(), key=lambda entry: entry[1])
            if due > self._monotonic() and not at_once:
                return None
            del self._behind[thread_id]
            return thread_id


log = logging.getLogger(__name__)

BELIEVED_FOR: Final = timedelta(seconds=60)
PUBLIC: Final = (
    "This channel is no longer private, so new questions and drafts are not shown here. Questions wait; "
    "make the channel private again, or name another one as `ops_channel` and restart triage."
)


class OpsChannelGuard:
    """Watches one channel."""

    def __init__(self, channel: str, workspace: Workspace, messenger: Messenger, clock: Clock) -> None:
        self._channel, self._workspace, self._messenger, self._clock = channel, workspace, messenger, clock
        self._private_at: datetime | None = None
        self._told = False

    def require(self) -> None:
        """Return if the channel was private within the last minute.

        Raises:
            Unavailable: it is not private; the job waits in the queue until it is.
            ProviderError: the chat cannot say.
        """
        now = self._clock.now()
        if self._private_at is not None and timedelta() <= now - self._private_at < BELIEVED_FOR:
            return
        if self.is_private_now():
            return
        self._tell_once()
        raise Unavailable(f"The ops channel {self._channel} is not private; no card or draft was shown there.")

    def is_private_now(self) -> bool:
        """Return what the chat says at this moment; raises ProviderError if it cannot say."""
        private = self._workspace.channel(self._channel).is_private
        self._private_at = self._clock.now() if private else None
        if private:
            self._told = False
        return private

    def _tell_once(self) -> None:
        """Say so where the approvers look; that a channel is public is no secret in it."""
        if not self._told:
            self._told = True
            log.error("ops channel %s is not private: nothing is shown", self._channel, extra={"action": "ops_public"})
            with suppress(ProviderError):
                self._messenger.tell_ops(PUBLIC)


EVERY_S: Final = 3.0
THINKING_CHARS: Final = 120

Show = Callable[[str], None]


@contextmanager
def report_progress(show: Show, *, every_s: float = EVERY_S) -> Iterator[OnProgress]:
    """Yield what a run reports to; `show` gets one line of plain text, and must not raise."""
    latest: list[RunProgress] = []
    over = threading.Event()

    def keep_showing() -> None:
        last = None
        while not over.wait(every_s):
            now = latest[-1] if latest else None
            if now is not None and now != last:
                show(progress_line(now))
                last = now

    def report(progress: RunProgress) -> None:
        latest[:] = [progress]

    thread = threading.Thread(target=keep_showing, name="progress", daemon=True)
    thread.start()
    try:
        yield report
    finally:
        over.set()
        thread.join()


def progress_line(progress: RunProgress) -> str:
    """Return one line on how far a run is, the latest words of its thinking last.

    >>> progress_line(RunProgress(tool_calls=1, thinking="the limit\\nis set in"))
    '1 tool call · thinking: the limit is set in'
    """
    calls = f"{progress.tool_calls} tool call{'s' * (progress.tool_calls != 1)}"
    thinking = " ".join(progress.thinking.split())
    if len(thinking) > THINKING_CHARS:
        thinking = "…" + thinking[-THINKING_CHARS + 1 :]
    return f"{calls} · thinking: {thinking}" if thinking else calls
