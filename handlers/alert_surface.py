"""Port Surface over Slack: a card in a DM or a channel, updated in place; its end is also said in its thread.

A card is looked for before it is posted, so that a crash after the post does not post it twice.
"""

from __future__ import annotations

from typing import Any

from slack_sdk import WebClient

from blocks import ids
from blocks.heartbeat_alert import alert_blocks, alert_text
from bot.domain.alerts import Alert, Posted
from handlers.transport import translated

CARDS_LOOKED_AT = 50


class SlackAlerts:
    """Speaks to one person (`to` is a user id) or in one channel; `client` may repeat itself, `posting` may not."""

    def __init__(self, client: WebClient, posting: WebClient) -> None:
        self._client, self._posting = client, posting

    def send(self, to: str, alert: Alert) -> Posted:
        """Post an alert, or find it where a run before this one posted it.

        Raises:
            ProviderError: Slack refused it; Unconfirmed if nobody can tell.
        """
        channel = self._channel(to)
        found = self._find(channel, alert)
        if found is not None:
            self._write(channel, found, alert)
            return Posted(place=channel, reference=found)
        with translated("send an alert", posting=True):
            answer = self._posting.chat_postMessage(
                channel=channel,
                text=alert_text(alert),
                blocks=alert_blocks(alert),
                unfurl_links=False,
                unfurl_media=False,
            )
        return Posted(place=channel, reference=str(answer["ts"]))

    def update(self, to: str, posted: Posted, alert: Alert) -> None:  # noqa: ARG002 - the card knows its channel
        """Bring a card up to date; a finding that is gone is also said in its thread.

        Raises:
            ProviderError: Slack refused it.
        """
        self._write(posted.place, posted.reference, alert)
        if alert.finding is not None and alert.finding.resolved_at is not None:
            with translated("say that it is resolved", posting=True):
                self._posting.chat_postMessage(
                    channel=posted.place, thread_ts=posted.reference, text=":white_check_mark: Resolved."
                )

    def _write(self, channel: str, ts: str, alert: Alert) -> None:
        with translated("update an alert"):
            self._client.chat_update(channel=channel, ts=ts, text=alert_text(alert), blocks=alert_blocks(alert))

    def _channel(self, to: str) -> str:
        if to[:1] not in ("U", "W"):
            return to
        with translated("open a direct message"):
            return str(self._client.conversations_open(users=to)["channel"]["id"])

    def _find(self, channel: str, alert: Alert) -> str | None:
        if alert.finding is None:
            return None
        marker = ids.alert_block_id(alert.session_id, alert.finding)
        with translated("look for the alert"):
            history = self._client.conversations_history(channel=channel, limit=CARDS_LOOKED_AT)
        messages: list[dict[str, Any]] = history.get("messages") or []
        marked = (m for m in messages if any(block.get("block_id") == marker for block in m.get("blocks") or []))
        return next((str(m["ts"]) for m in marked), None)
