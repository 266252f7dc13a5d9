"""Port Surface over Slack: an alert's card in a DM or a channel, updated in place; its end is also said in its thread.

A card or a list of findings is looked for before it is posted, so that a crash after the post does not post it twice.
A finding that is said again gets a new card, because an update notifies nobody; the old card says so and loses its
buttons.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection

from blocks.cards.alert_card import (
    alert_blocks,
    alert_text,
    closing_blocks,
    closing_text,
    mark_of,
    retired_blocks,
)
from bot.domain.heartbeats.alerts import Alert, Place
from bot.errors import ProviderError
from handlers.cards.publisher import Card, MessageRef, publish, update
from handlers.transport.poster import Part, Poster, PostInFlight
from handlers.transport.rate_limits import LINE
from handlers.transport.slack_clients import Members, send_to_each

log = logging.getLogger(__name__)


class SlackAlerts:
    """Speaks to one person (`to` is a user id) or in one channel; a card is posted once and changed in place.

    `wait` takes seconds: a card that may yet come is waited for, at most ten, for the beat that it tells of was paid.
    """

    def __init__(self, poster: Poster, *, members: Members, wait: Callable[[float], object] = time.sleep) -> None:
        self._poster, self._members, self._wait = poster, members, wait

    def send(self, to: str, alert: Alert) -> list[MessageRef]:
        """Post an alert, or find it where a run before this one posted it; the finding's earlier cards are retired.

        Of a user group each member gets a card; it was sent if one of them got it.

        Raises:
            ProviderError: Slack refused it; Unconfirmed if nobody can tell.
        """
        placed = send_to_each(to, self._members, lambda person: self._send_one(person, alert))
        self._retire(alert, frozenset(place for place, _ in placed))
        return placed

    def _send_one(self, to: str, alert: Alert) -> MessageRef:
        channel = self._poster.open_place(to)
        try:
            return self._publish(channel, alert)
        except PostInFlight as error:
            self._wait(error.left_s)
            return self._publish(channel, alert)

    def _publish(self, channel: str, alert: Alert) -> MessageRef:
        """Post the alert, unless it was posted since the card the finding is known by."""
        known = dict(alert.finding.places).get(channel) if alert.finding else None
        return publish(
            self._poster,
            channel,
            self._card(alert),
            recorded_at=min((each.first_at for each in alert.findings), default=None),
            since=float(known) if known else None,
        )

    def _card(self, alert: Alert) -> Card:
        blocks = alert_blocks(alert)
        return Card(name="an alert", text=alert_text(alert), blocks=blocks, mark=mark_of(alert))

    def update(self, at: Place, alert: Alert) -> None:
        """Bring a card up to date; what was closed since is also said in its thread, once.

        Raises:
            ProviderError: Slack refused it.
        """
        card, said = MessageRef(*at), closing_blocks(alert)
        if update(self._poster, card, self._card(alert)) and said:
            part = Part(mark=str(said[0].block_id), text=closing_text(alert), blocks=said)
            self._poster.post_series(
                [part], channel=card.channel, thread_ts=card.ts, what="say what is resolved", rank=LINE
            )

    def _retire(self, alert: Alert, told: Collection[str]) -> None:
        """Take the buttons off the cards a finding had before; a copy where nothing new stands keeps them."""
        finding = alert.finding
        known = finding.places if finding else ()
        first = (finding.place, finding.reference) if finding else None
        old = Card(name="an old alert", text=alert_text(alert), blocks=retired_blocks(alert), mark=mark_of(alert))
        for place in known:
            if place == first or place[0] in told:
                try:
                    update(self._poster, MessageRef(*place), old)
                except ProviderError:
                    log.warning("an alert is out of date", extra={"action": "alert_stale"}, exc_info=True)
