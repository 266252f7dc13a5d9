"""Notices that the codebase cannot be read, and that it can be again; both are told once.

Questions that meet it wait in the queue without losing an attempt (`CodebaseUnreadable`), and go on by themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.errors import ConfigError, StoreError


class CodebaseWatch:
    """Asks `head` for the newest commit at every tick; what it raises is told."""

    def __init__(self, head: Callable[[], str], *, say: Callable[[str], None]) -> None:
        self._head, self._say = head, say
        self._refused = False

    def tick(self) -> None:
        """Look once."""
        try:
            self._head()
        except (StoreError, ConfigError) as error:
            if not self._refused:
                self._say(f"The code cannot be read: {error}. Questions wait until it can; then they continue.")
            self._refused = True
            return
        if self._refused:
            self._say("The code can be read again. Waiting questions continue.")
        self._refused = False
