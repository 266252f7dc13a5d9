"""Port Surface over Slack: a card in a DM or a channel, updated in place; its end is also said in its thread.

A card is looked for before it is posted, so that a crash after the post does not post it twice. A finding that is said
again gets a new card, for an update rings nobody's phone; the old one says so and has no buttons any more.
"""

from __future__ import annotations

import logging
from typing import Any

from slack_sdk import WebClient

from blocks import ids
from blocks.heartbeat_alert import alert_blocks, alert_text, retired_blocks
from bot.domain.alerts import Alert, Posted
from bot.errors import ProviderError
from handlers.pacing import CARD, LINE
from handlers.posting import Poster
from handlers.transport import translated

log = logging.getLogger(__name__)

CARDS_LOOKED_AT = 50


class SlackAlerts:
    """Speaks to one person (`to` is a user id) or in one channel; a card is posted once and changed in place."""

    def __init__(self, client: WebClient, poster: Poster) -> None:
        self._client, self._poster = client, poster

    def send(self, to: str, alert: Alert) -> Posted:
        """Post an alert, or find it where a run before this one posted it; the finding's earlier card is retired.

        Raises:
            ProviderError: Slack refused it; Unconfirmed if nobody can tell.
        """
        channel = self._channel(to)
        found = self._find(channel, alert)
        if found is not None:
            posted = Posted(place=channel, reference=found)
            self.show(posted, alert)
            self._retire(alert)
            return posted
        answer = self._poster.post(channel, alert_text(alert), alert_blocks(alert), what="send an alert", rank=CARD)
        self._retire(alert)
        return Posted(place=channel, reference=str(answer["ts"]))

    def update(self, to: str, posted: Posted, alert: Alert) -> None:  # noqa: ARG002 - the card knows its channel
        """Bring a card up to date; a finding that is gone is also said in its thread.

        Raises:
            ProviderError: Slack refused it.
        """
        self.show(posted, alert)
        if alert.finding is not None and alert.finding.resolved_at is not None:
            said = ":white_check_mark: Resolved."
            self._poster.post(posted.place, said, what="say that it is resolved", rank=LINE, thread_ts=posted.reference)

    def show(self, posted: Posted, alert: Alert) -> None:
        """Bring a card up to date and say nothing; raises ProviderError where Slack refuses it."""
        with translated("update an alert"):
            self._client.chat_update(
                channel=posted.place, ts=posted.reference, text=alert_text(alert), blocks=alert_blocks(alert)
            )

    def _retire(self, alert: Alert) -> None:
        """Take the buttons off the card a finding had before; a card that is gone needs none."""
        finding = alert.finding
        if finding is None or finding.place is None or finding.reference is None:
            return
        try:
            with translated("retire an alert"):
                self._client.chat_update(
                    channel=finding.place, ts=finding.reference, text=alert_text(alert), blocks=retired_blocks(alert)
                )
        except ProviderError:
            log.warning("an old alert keeps its buttons", extra={"action": "alert_not_retired"}, exc_info=True)

    def _channel(self, to: str) -> str:
        if to[:1] not in ("U", "W"):
            return to
        with translated("open a direct message"):
            return str(self._client.conversations_open(users=to)["channel"]["id"])

    def _find(self, channel: str, alert: Alert) -> str | None:
        """Return the ts of the alert's card, if one was posted since the card the finding is known by."""
        if alert.finding is None:
            return None
        known = alert.finding.reference if alert.finding.place == channel else None
        marker = ids.alert_block_id(alert.session_id, alert.finding)
        with translated("look for the alert"):
            history = self._client.conversations_history(channel=channel, limit=CARDS_LOOKED_AT)
        messages: list[dict[str, Any]] = history.get("messages") or []
        marked = (m for m in messages if any(block.get("block_id") == marker for block in m.get("blocks") or []))
        found = max((str(m["ts"]) for m in marked), key=float, default=None)
        return found if found is not None and (known is None or float(found) > float(known)) else None
