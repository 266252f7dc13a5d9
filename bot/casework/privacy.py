"""No new card in a channel that all can read: asked of the chat before each one, and believed for a minute.

Whether a *draft* may be posted is asked anew at every approval (bot/casework/freshness.py).
"""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from bot.errors import ProviderError, Unavailable
from bot.ports import Clock, Messenger, Workspace

log = logging.getLogger(__name__)

BELIEVED_FOR: Final = timedelta(seconds=60)
PUBLIC: Final = (
    "This channel is not private any more, so no new question is shown here. What was asked waits; "
    "make the channel private again, or name another one as `ops_channel` and restart triage."
)


class OpsPrivacy:
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
        if self._workspace.is_private(self._channel):
            self._private_at, self._told = now, False
            return
        self._private_at = None
        self._tell_once()
        raise Unavailable(f"The ops channel {self._channel} is not private; no card was posted there.")

    def _tell_once(self) -> None:
        """Say so where the approvers look; that a channel is public is no secret in it."""
        log.error("ops channel %s is not private: no card is posted", self._channel, extra={"action": "ops_public"})
        if not self._told:
            self._told = True
            with suppress(ProviderError):
                self._messenger.tell_ops(PUBLIC)
