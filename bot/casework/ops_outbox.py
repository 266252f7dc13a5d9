"""Lines for the ops channel that are not lost when the chat is down: they wait and are said when it is back."""

from __future__ import annotations

import logging
import threading
from collections import deque

from bot.errors import ProviderError
from bot.ports import Messenger

log = logging.getLogger(__name__)

MAX_WAITING = 100


class OpsOutbox:
    """Says lines in order; what could not be said is tried again by `flush`. The log has every line at once."""

    def __init__(self, messenger: Messenger, noted: deque[str] | None = None) -> None:
        """Say at each `flush` what somebody put into `noted`, too: it may be there before there is a way to say it."""
        self._messenger = messenger
        self._waiting: deque[str] = deque(maxlen=MAX_WAITING) if noted is None else noted
        self._saying = threading.Lock()

    def say(self, text: str) -> None:
        """Say a line now, or as soon as the chat takes it."""
        log.warning(text, extra={"action": "ops_told"})
        self._waiting.append(text)
        self.flush()

    def note(self, text: str) -> None:
        """Leave a line to the next `flush`; for whoever must not wait for the chat."""
        log.warning(text, extra={"action": "ops_noted"})
        self._waiting.append(text)

    def flush(self) -> None:
        """Say what waits; the rest stays where the chat refuses. Nobody waits while somebody else is saying lines."""
        if not self._saying.acquire(blocking=False):
            return
        try:
            self._say_all()
        finally:
            self._saying.release()

    def _say_all(self) -> None:
        while self._waiting:
            line = self._waiting[0]
            try:
                self._messenger.tell_ops(line)
            except ProviderError:
                log.info("ops line waits", extra={"action": "ops_line_waits"}, exc_info=True)
                return
            if self._waiting[0] is line:  # else too many came meanwhile, and this one was pushed out
                self._waiting.popleft()
