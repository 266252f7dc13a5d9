"""Port Surface over Slack: a card in a DM or a channel, updated in place; its end is also said in its thread.

A card or a list of findings is looked for before it is posted, so that a crash after the post does not post it twice.
A finding that is said again gets a new card, for an update rings nobody's phone; the old one says so and has no buttons
any more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection

from slack_sdk import WebClient

from blocks.cards.alert_card import alert_blocks, alert_text, closed_text, mark_of, resolved_text, retired_blocks
from bot.domain.heartbeats.alerts import Alert, Posted
from bot.domain.heartbeats.session_state import OpenFinding
from bot.errors import ProviderError
from handlers.transport.poster import Poster, PostInFlight, slack_time, update_message
from handlers.transport.rate_limits import CARD, LINE
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

MAX_MEMBERS = 30
"""How many members of a user group get a card."""


class SlackAlerts:
    """Speaks to one person (`to` is a user id) or in one channel; a card is posted once and changed in place.

    `wait` takes seconds: a card that may yet come is waited for, at most ten, for the beat that it tells of was paid.
    """

    def __init__(
        self,
        client: WebClient,
        poster: Poster,
        *,
        members: Callable[[str], Collection[str]],
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        self._client, self._poster, self._members, self._wait = client, poster, members, wait

    def send(self, to: str, alert: Alert) -> Posted:
        """Post an alert, or find it where a run before this one posted it; the finding's earlier cards are retired.

        Of a user group each member gets a card; it was sent if one of them got it.

        Raises:
            ProviderError: Slack refused it; Unconfirmed if nobody can tell.
        """
        people = sorted(self._members(to))[:MAX_MEMBERS] if to.startswith("S") else [to]
        placed: list[tuple[str, str]] = []
        problem = ProviderError(f"Slack could not send an alert: the user group {to} has no members")
        for person in people:
            try:
                placed.append(self._send_one(person, alert))
            except ProviderError as error:
                log.warning("an alert did not reach everybody", extra={"action": "alert_unsent"}, exc_info=True)
                problem = error
        if not placed:
            raise problem
        self._retire(alert, frozenset(place for place, _ in placed))
        (place, reference), *copies = placed
        return Posted(place=place, reference=reference, copies=tuple(copies))

    def _send_one(self, to: str, alert: Alert) -> tuple[str, str]:
        channel, mark = self._channel(to), mark_of(alert)
        found = self._find_patiently(channel, alert)
        if found is not None:
            self._show_one(channel, found, alert)
            return channel, found
        answer = self._poster.post(
            channel, alert_text(alert), alert_blocks(alert), what="send an alert", rank=CARD, mark=mark
        )
        return channel, str(answer["ts"])

    def update(self, to: str, posted: Posted, alert: Alert) -> None:  # noqa: ARG002 - the card knows its channel
        """Bring a card and its copies up to date; a finding that is gone is also said in their threads.

        Raises:
            ProviderError: Slack refused it.
        """
        self.show(posted, alert)
        if said := closed_text(alert) or resolved_text(alert):
            for place, reference in ((posted.place, posted.reference), *posted.copies):
                self._poster.post(place, said, what="say what is resolved", rank=LINE, thread_ts=reference)

    def show(self, posted: Posted, alert: Alert) -> None:
        """Bring a card and its copies up to date and say nothing; raises ProviderError where Slack refuses the card."""
        self._show_one(posted.place, posted.reference, alert)
        for place, reference in posted.copies:
            try:
                self._show_one(place, reference, alert)
            except ProviderError:
                log.warning("a copy was not updated", extra={"action": "alert_stale"}, exc_info=True)

    def _show_one(self, place: str, reference: str, alert: Alert) -> None:
        text, blocks = alert_text(alert), alert_blocks(alert)
        update_message(self._client, place, reference, text, blocks, what="update an alert")

    def _retire(self, alert: Alert, told: Collection[str]) -> None:
        """Take the buttons off the cards a finding had before; a copy where nothing new stands keeps them."""
        finding = alert.finding
        if finding is None or finding.place is None or finding.reference is None:
            return
        copies = [copy for copy in finding.copies if copy[0] in told]
        for place, reference in ((finding.place, finding.reference), *copies):
            try:
                with translate_slack_errors("retire an alert"):
                    self._client.chat_update(
                        channel=place, ts=reference, text=alert_text(alert), blocks=retired_blocks(alert)
                    )
            except ProviderError:
                log.warning("an old alert keeps its buttons", extra={"action": "alert_not_retired"}, exc_info=True)

    def _channel(self, to: str) -> str:
        if to[:1] not in ("U", "W"):
            return to
        with translate_slack_errors("open a direct message"):
            return str(self._client.conversations_open(users=to)["channel"]["id"])

    def _find_patiently(self, channel: str, alert: Alert) -> str | None:
        try:
            return self._find(channel, alert)
        except PostInFlight as error:
            self._wait(error.left_s)
            return self._find(channel, alert)

    def _find(self, channel: str, alert: Alert) -> str | None:
        """Return the ts of the alert's card, if one was posted since the card the finding is known by."""
        mark, finding = mark_of(alert), alert.finding
        if mark is None:
            return None
        known = _earlier(finding, channel) if finding is not None else None
        first_at = min(each.first_at for each in ((finding,) if finding else alert.listed))
        return self._poster.find(
            channel,
            mark,
            what="look for the alert",
            recorded_at=first_at,
            since=float(known) if known else slack_time(first_at),
        )


def _earlier(finding: OpenFinding, channel: str) -> str | None:
    """Return the ts of the card that a finding already has in a channel."""
    return dict(((str(finding.place), finding.reference), *finding.copies)).get(channel)
