"""No new card and no draft in a channel that all can read: asked of the chat before, and believed for a minute.

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
    "This channel is not private any more, so no new question or draft is shown here. What was asked waits; "
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
