"""Port Surface over Slack: a card in a DM or a channel, updated in place; its end is also said in its thread.

A card or a list of findings is looked for before it is posted, so that a crash after the post does not post it twice.
A finding that is said again gets a new card, for an update rings nobody's phone; the old one says so and has no buttons
any more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from slack_sdk import WebClient

from blocks.heartbeat_alert import alert_blocks, alert_text, closed_text, mark_of, resolved_text, retired_blocks
from bot.domain.alerts import Alert, Posted
from bot.errors import ProviderError
from handlers.pacing import CARD, LINE
from handlers.posting import InFlight, Poster, slack_time, update_message
from handlers.transport import translated

log = logging.getLogger(__name__)


class SlackAlerts:
    """Speaks to one person (`to` is a user id) or in one channel; a card is posted once and changed in place.

    `wait` takes seconds: a card that may yet come is waited for, at most ten, for the beat that it tells of was paid.
    """

    def __init__(self, client: WebClient, poster: Poster, *, wait: Callable[[float], object] = time.sleep) -> None:
        self._client, self._poster, self._wait = client, poster, wait

    def send(self, to: str, alert: Alert) -> Posted:
        """Post an alert, or find it where a run before this one posted it; the finding's earlier card is retired.

        Raises:
            ProviderError: Slack refused it; Unconfirmed if nobody can tell.
        """
        channel = self._channel(to)
        found = self._find_patiently(channel, alert)
        if found is not None:
            posted = Posted(place=channel, reference=found)
            self.show(posted, alert)
            self._retire(alert)
            return posted
        mark = mark_of(alert)
        answer = self._poster.post(
            channel, alert_text(alert), alert_blocks(alert), what="send an alert", rank=CARD, mark=mark
        )
        self._retire(alert)
        return Posted(place=channel, reference=str(answer["ts"]))

    def update(self, to: str, posted: Posted, alert: Alert) -> None:  # noqa: ARG002 - the card knows its channel
        """Bring a card up to date; a finding that is gone is also said in its thread.

        Raises:
            ProviderError: Slack refused it.
        """
        self.show(posted, alert)
        if said := closed_text(alert) or resolved_text(alert):
            self._poster.post(posted.place, said, what="say what is resolved", rank=LINE, thread_ts=posted.reference)

    def show(self, posted: Posted, alert: Alert) -> None:
        """Bring a card up to date and say nothing; raises ProviderError where Slack refuses it."""
        text, blocks = alert_text(alert), alert_blocks(alert)
        update_message(self._client, posted.place, posted.reference, text, blocks, what="update an alert")

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

    def _find_patiently(self, channel: str, alert: Alert) -> str | None:
        try:
            return self._find(channel, alert)
        except InFlight as error:
            self._wait(error.left_s)
            return self._find(channel, alert)

    def _find(self, channel: str, alert: Alert) -> str | None:
        """Return the ts of the alert's card, if one was posted since the card the finding is known by."""
        mark, finding = mark_of(alert), alert.finding
        if mark is None:
            return None
        known = finding.reference if finding is not None and finding.place == channel else None
        first_at = min(each.first_at for each in ((finding,) if finding else alert.listed))
        return self._poster.find(
            channel,
            mark,
            what="look for the alert",
            recorded_at=first_at,
            since=float(known) if known else slack_time(first_at),
        )
