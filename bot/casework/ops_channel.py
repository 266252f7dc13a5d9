"""The ops channel: sends it lines, later if the chat is down, and checks that it is private.

A line that is sent late begins with its time. The chat is asked whether the channel is private before a new card or
draft, at most once a minute, and again at each approval (bot/casework/posting/freshness.py).
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from bot.domain.text.humanize import LATE, utc_text
from bot.errors import ProviderError, Unavailable
from bot.ports import Clock, Messenger, Workspace

log = logging.getLogger(__name__)

MAX_WAITING = 100
BELIEVED_FOR: Final = timedelta(seconds=60)
PUBLIC: Final = (
    "This channel is no longer private, so new questions and drafts are not shown here. Questions wait; "
    "make the channel private again, or name another one as `ops_channel` and restart triage."
)


class OpsLines:
    """The newest lines that wait, each with the time it is of; they may be there before there is a way to say them."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.waiting: deque[tuple[datetime, str]] = deque(maxlen=MAX_WAITING)

    def append(self, text: str) -> None:
        """Keep a line of now."""
        self.waiting.append((self.clock.now(), text))

    def note(self, text: str) -> None:
        """Keep a line of now and log it; for whoever must not wait for the chat."""
        log.warning(text, extra={"action": "ops_noted"})
        self.append(text)


class ProcessLines:
    """Lines about the process: every team's ops channel is told of each, but of a codebase only where it is read."""

    def __init__(self, clock: Clock) -> None:
        self._early, self._teams = OpsLines(clock), list[tuple[OpsLines, Collection[str]]]()

    def append(self, text: str) -> None:
        """Keep a line of now, for each team that is there; before there is one, for those of the start."""
        log.warning(text, extra={"action": "ops_noted"})
        self.put(text)

    def put(self, text: str) -> None:
        """Keep it as `append` does, of which the log has it already."""
        for lines in [lines for lines, _ in self._teams] or [self._early]:
            lines.append(text)

    def append_of(self, codebase: str, text: str) -> None:
        """Keep a line of now for each team that reads a codebase."""
        log.warning(text, extra={"action": "ops_noted"})
        for lines, codebases in self._teams:
            if codebase in codebases:
                lines.append(text)

    def attach(self, lines: OpsLines, codebases: Collection[str]) -> None:
        """Have a team told from now on, and of what was kept before the first one came."""
        lines.waiting.extend(self._early.waiting)
        self._teams.append((lines, codebases))

    def end_start(self) -> None:
        """Keep no line of the start any longer: who comes from now on was not there."""
        self._early.waiting.clear()

    def detach(self, lines: OpsLines) -> None:
        """Have a team told no more."""
        self._teams = [team for team in self._teams if team[0] is not lines]


class OpsOutbox:
    """Says lines in order; what could not be said is tried again by `flush`. The log has every line at once."""

    def __init__(self, messenger: Messenger, lines: OpsLines) -> None:
        self._messenger, self.lines = messenger, lines
        self._saying = threading.Lock()

    def say(self, text: str) -> None:
        """Say a line now, or as soon as the chat takes it."""
        log.warning(text, extra={"action": "ops_told"})
        self.lines.append(text)
        self.flush()

    def flush(self) -> None:
        """Say what waits; the rest stays where the chat refuses. Nobody waits while somebody else is saying lines."""
        if not self._saying.acquire(blocking=False):
            return
        try:
            self._say_all()
        finally:
            self._saying.release()

    def _say_all(self) -> None:
        waiting = self.lines.waiting
        while waiting:
            line = waiting[0]
            try:
                self._messenger.tell_ops(_dated(*line, self.lines.clock.now()))
            except ProviderError:
                log.info("ops line waits", extra={"action": "ops_line_waits"}, exc_info=True)
                return
            if waiting[0] is line:  # else too many came meanwhile, and this one was pushed out
                waiting.popleft()


def _dated(at: datetime, text: str, now: datetime) -> str:
    return f"From {utc_text(at)}, sent late: {text}" if now - at >= LATE else text


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
