"""What stands in the ops channel beside the cards of threads: automatic replies, suggestions, rings, files.

Ports AuditChat, PageChat, FeedbackChat and CardFiles over Slack. A card is posted once, updated in place, and shows
what is stored. Suggestions are changed by clicks, by models and by the terminal; a tick updates their cards, so that a
crash or an outage only delays a card. A ring is a message of its own, because an update of the card notifies nobody.
All but files are looked for by their mark before they are posted, so that a crash after the post, a restored backup or
a second process does not post them twice.

Port Surface over Slack: an alert's card in a DM or a channel, updated in place; its end is also said in its thread.

A card or a list of findings is looked for before it is posted, so that a crash after the post does not post it twice.
A finding that is said again gets a new card, because an update notifies nobody; the old card says so and loses its
buttons.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from collections.abc import Collection as Items
from datetime import timedelta
from functools import partial
from typing import Final

from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.cards.alert_card import (
    LISTED_AT_MOST,
    alert_blocks,
    alert_text,
    closing_blocks,
    closing_text,
    escalation_blocks,
    mark_of,
    notice_text,
    retired_blocks,
    ring_blocks,
    rings_blocks,
    rings_text,
    suggestion_blocks,
    suggestion_text,
)
from blocks.cards.incoming_alert import hand_over_blocks, hand_over_text
from blocks.cards.reply_cards import (
    audit_blocks,
    audit_text,
    marked,
    not_helpful_blocks,
    not_helpful_text,
    withdrawal_text,
)
from blocks.text.outgoing_text import escape, section
from bot.domain.heartbeats.alerts import Alert, Place
from bot.domain.questions.autonomy_record import AutoReply
from bot.domain.questions.feedback import Feedback
from bot.domain.suggestions import Suggestion
from bot.domain.threads import REPLY_MARK, ThreadState, hash_draft
from bot.errors import ProviderError
from bot.ports import PageRing
from bot.ports.collections import Collection
from handlers.cards.messenger import GONE, Card, MessageRef, publish, update
from handlers.transport.poster import Part, Poster, PostInFlight, has_block
from handlers.transport.rate_limits import CARD, LINE, REPLY
from handlers.transport.slack_clients import Members, send_to_each

log = logging.getLogger(__name__)

_STAYS: Final = GONE | {"cant_delete_message"}

CARDS_A_TICK: Final = 3
"""Slack takes about one post a second in a channel, and the drafts' cards go there too."""


class AuditCards:
    """Posts in one ops channel and changes replies that were posted."""

    def __init__(self, poster: Poster, *, ops_channel: str) -> None:
        self._poster, self._ops_channel = poster, ops_channel

    def show(self, reply: AutoReply) -> tuple[str, str]:
        """Bring the card in line, or post it; returns where it stands."""
        card = Card(
            name="an automatic reply's card",
            text=audit_text(reply),
            blocks=audit_blocks(reply),
            mark=ids.audit_block_id(reply.id),
        )
        at = MessageRef.on_file(reply.card_channel, reply.card_ts)
        return publish(self._poster, self._ops_channel, card, at=at, recorded_at=reply.at)

    def withdraw(self, reply: AutoReply) -> None:
        """Put the withdrawal in the place of the reply, its mark kept; the other messages of a long one are deleted.

        Where the reply stands and Slack lets nobody change it any more, the withdrawal is posted below it.
        """
        assert reply.posted_message_id is not None
        text, digest = withdrawal_text(reply), hash_draft(reply.reply)
        mark = f"{REPLY_MARK}{reply.id}:{digest}"
        note = Card(name="the reply", text=text, blocks=marked([section(text)], mark), mark=None)
        is_changed = update(self._poster, MessageRef(reply.chat_id, reply.posted_message_id), note)
        thread_ts = reply.thread_id.split(".", 2)[2]
        first = ids.reply_block_id(reply.thread_id, digest, 0).rpartition(":")[0]
        for message in self._poster.thread(reply.chat_id, thread_ts, what="read the thread"):
            if message["ts"] == reply.posted_message_id and not is_changed:
                self._post_below(reply, thread_ts, text)
            elif has_block(message, f"{first}:"):
                self._delete(reply.chat_id, str(message["ts"]))

    def _post_below(self, reply: AutoReply, thread_ts: str, text: str) -> None:
        part = Part(mark=f"withdrawn:{reply.id}", text=text, blocks=marked([section(text)], f"withdrawn:{reply.id}"))
        what = "say that the reply was taken back"
        self._poster.post_series([part], channel=reply.chat_id, thread_ts=thread_ts, what=what, rank=REPLY)

    def _delete(self, channel: str, ts: str) -> None:
        try:
            self._poster.delete(channel, ts, what="take back the reply")
        except ProviderError as error:
            if error.code not in _STAYS:
                raise


class SuggestionCards:
    """Shows suggestions."""

    def __init__(self, poster: Poster, store: Collection[Suggestion], *, ops_channel: str) -> None:
        self._poster, self._store, self._ops_channel = poster, store, ops_channel

    def tick(self) -> None:
        """Bring a few cards up to date; what the chat refuses is tried again."""
        behind = [one for one in self._store.all() if _is_behind(one)]
        for suggestion in behind[:CARDS_A_TICK]:
            try:
                self.show(suggestion)
            except ProviderError:
                log.info("a suggestion's card waits", extra={"action": "suggestion_card_waits"}, exc_info=True)
                return

    def show(self, suggestion: Suggestion) -> None:
        """Bring a suggestion's card in line, or post it.

        Raises:
            ProviderError: Slack refused it.
            StoreError: where it stands cannot be written down; it is found again.
        """
        card = Card(
            name="a suggestion",
            text=suggestion_text(suggestion),
            blocks=suggestion_blocks(suggestion),
            mark=ids.suggestion_block_id(suggestion.id),
            is_waiting=suggestion.is_waiting,
        )
        at = MessageRef.on_file(suggestion.card_channel or self._ops_channel, suggestion.card_ts)
        stands = publish(self._poster, self._ops_channel, card, at=at, recorded_at=suggestion.at)
        self._store.evolve(suggestion.id, card_channel=stands.channel, card_ts=stands.ts, card_shows=suggestion.status)


def _is_behind(suggestion: Suggestion) -> bool:
    """Whether a card is missing or shows something else; a decision is shown once it is carried out."""
    if suggestion.card_shows == suggestion.status:
        return False
    return suggestion.is_waiting or (suggestion.settled_at is not None and suggestion.card_ts is not None)


class PagePosts:
    """Posts in one ops channel; `pages` returns the users and groups a ring mentions, or `channel`."""

    def __init__(
        self, poster: Poster, *, ops_channel: str, pages: Callable[[], Sequence[str]], members: Members
    ) -> None:
        self._poster, self._ops_channel, self._pages, self._members = poster, ops_channel, pages, members

    def ring(self, rings: Sequence[PageRing]) -> None:
        """Ring in the ops channel; raises ProviderError if Slack refused it or nobody can tell."""
        due = [each for each in rings if not self._stands(self._ops_channel, each.state, _ring_mark(each))]
        for start in range(0, len(due), LISTED_AT_MOST):
            self._ring_together(due[start : start + LISTED_AT_MOST])

    def _ring_together(self, rings: Sequence[PageRing]) -> None:
        state, number, waited = rings[0]
        if len(rings) == 1:
            text, blocks = notice_text(state, waited), ring_blocks(state, self._pages(), number=number, waited=waited)
        else:
            text, blocks = rings_text(rings), rings_blocks(rings, self._pages())
        marks = tuple(map(_ring_mark, rings))
        self._poster.post(self._ops_channel, text, blocks, what="ring again", rank=CARD, mark=marks)

    def escalate(self, state: ThreadState, to: str, *, waited: timedelta) -> None:
        """Tell who comes next; of a group it was told if one of its members was. Raises ProviderError."""
        mark, text = ids.page_block_id(state, None), notice_text(state, waited)
        blocks = escalation_blocks(state, waited=waited)
        send_to_each(to, self._members, lambda one: self._post(self._poster.open_place(one), state, mark, text, blocks))

    def hand_over(self, state: ThreadState) -> None:
        """Tell the assignee, each member where that is a user group. Raises ProviderError."""
        mark, text, blocks = ids.hand_over_block_id(state), hand_over_text(state), hand_over_blocks(state)
        told = partial(self._post, state=state, mark=mark, text=text, blocks=blocks)
        send_to_each(str(state.assignee), self._members, lambda one: told(self._poster.open_place(one)))

    def _post(self, channel: str, state: ThreadState, mark: str, text: str, blocks: Sequence[Block]) -> None:
        """Post a notice unless it stands in the channel."""
        if not self._stands(channel, state, mark):
            self._poster.post(channel, text, blocks, what="ring again", rank=CARD, mark=mark)

    def _stands(self, channel: str, state: ThreadState, mark: str) -> bool:
        """Whether a notice stands in a channel since the question was asked; raises ProviderError."""
        since = max(float(state.original_message_id), float(state.opened_by_message_id or 0))
        found = self._poster.find(
            channel, mark, what="look for a page", recorded_at=state.started_at, since=since, by_others=True
        )
        return found is not None


def _ring_mark(ring: PageRing) -> str:
    return ids.page_block_id(ring.state, ring.number)


class FeedbackPosts:
    """Speaks below cards."""

    def __init__(self, poster: Poster) -> None:
        self._poster = poster

    def is_told(self, state: ThreadState, feedback: Feedback) -> bool:
        """Whether it stands below the card; raises ProviderError."""
        mark = ids.feedback_block_id(feedback.id)
        found = self._poster.standing(str(state.card_channel), str(state.card_ts), {mark}, what="look below the card")
        return mark in found

    def tell(self, state: ThreadState, feedback: Feedback) -> None:
        """Say below the card that a reply did not help; raises ProviderError, Unconfirmed where nobody can tell."""
        self._poster.post(
            str(state.card_channel),
            not_helpful_text(feedback),
            not_helpful_blocks(state, feedback),
            what="tell of a reply that did not help",
            rank=LINE,
            mark=ids.feedback_block_id(feedback.id),
            thread_ts=str(state.card_ts),
        )


class SlackCardFiles:
    """Posts files; `require_private` raises where the ops channel is not private any more."""

    def __init__(self, poster: Poster, require_private: Callable[[], None]) -> None:
        self._poster, self._require_private = poster, require_private

    def show(self, state: ThreadState, *, filename: str, title: str, text: str, said: str) -> None:
        """Post a file below a thread's card, with a line above it."""
        if state.card_channel is None or state.card_ts is None:
            return
        self._require_private()
        self._poster.upload(
            state.card_channel,
            text.encode("utf-8", "replace"),
            filename=filename,
            title=title,
            alt_text=title,
            what="post a file below the card",
            thread_ts=state.card_ts,
            initial_comment=escape(said),
        )


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

    def _retire(self, alert: Alert, told: Items[str]) -> None:
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
