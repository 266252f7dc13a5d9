"""Port Messenger: everything the bot says leaves here.

Every reply carries a mark made of its question alone, so that whichever process posted it, it is recognised before
anything is posted again. Replies of older versions are recognised by their metadata, or else by their text.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from slack_sdk import WebClient
from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.draft_card import LinkTo, card_blocks, card_text
from blocks.reply import reply_sections, reply_text
from blocks.text import escape
from bot.casework.lessons import NO_LESSON, LessonMark
from bot.domain.threads import ThreadState, hash_draft, reply_mark
from bot.errors import ProviderError, Unavailable
from handlers.pacing import CARD, LINE, REPLY, UPDATE_BURST, Pacer, paced
from handlers.posting import Poster, slack_time
from handlers.transport import translated

log = logging.getLogger(__name__)

REPLY_EVENT = "triage_reply"
LAST_UPDATE_PATIENCE_S = 3.0
"""How long a closed thread's card waits for its turn: its buttons are dead already."""
_ALL_CARDS = "chat.update"


class SlackMessenger:
    """Speaks in one ops channel and in the threads that are answered."""

    def __init__(
        self,
        client: WebClient,
        poster: Poster,
        updates: Pacer,
        *,
        ops_channel: str,
        bot_user_id: str,
        link_to: LinkTo,
        team_language: str = "en",
        offers_notes: bool = False,
        paused: Callable[[], str | None] = lambda: None,
        lesson: Callable[[ThreadState], LessonMark] = lambda _: NO_LESSON,
    ) -> None:
        self._client, self._poster, self._updates = client, poster, updates
        self._ops_channel, self._bot_user_id = ops_channel, bot_user_id
        self._link_to, self._team_language, self._offers_notes = link_to, team_language, offers_notes
        self._paused, self._lesson = paused, lesson

    def show_card(self, state: ThreadState, *, progress: str | None = None) -> tuple[str, str]:
        """Post the thread's card, or update it in place; returns `(channel id, ts)`."""
        blocks = card_blocks(
            state,
            link_to=self._link_to,
            team_language=self._team_language,
            offers_notes=self._offers_notes,
            progress=progress,
            paused=self._paused(),
            lesson=self._lesson(state),
        )
        text = card_text(state)
        if state.card_channel and state.card_ts:
            try:
                with self._paced_update(state, is_progress=progress is not None), translated("update the card"):
                    self._client.chat_update(channel=state.card_channel, ts=state.card_ts, text=text, blocks=blocks)
            except ProviderError as error:
                if "message_not_found" not in str(error):
                    raise
            else:
                return state.card_channel, state.card_ts
        answer = self._poster.post(
            self._ops_channel, text, blocks, what="post the card", rank=CARD, mark=ids.card_block_id(state.thread_id)
        )
        return self._ops_channel, self._first_card(state, str(answer["ts"]), text, blocks)

    def _first_card(self, state: ThreadState, posted: str, text: str, blocks: Sequence[Block]) -> str:
        """Return the ts of the one card: where another process posted one in the same moment, the older one stays."""
        try:
            with translated("look for a second card"):
                first = self._poster.first(
                    self._ops_channel, ids.card_block_id(state.thread_id), since=_asked_at(state)
                )
                if first is None or float(first) >= float(posted):
                    return posted
                self._client.chat_delete(channel=self._ops_channel, ts=posted)
                self._client.chat_update(channel=self._ops_channel, ts=first, text=text, blocks=blocks)
        except ProviderError:
            log.warning("a second card may stand", extra={"action": "second_card"}, exc_info=True)
            return posted
        return first

    def find_card(self, state: ThreadState, *, after: str | None = None) -> tuple[str, str] | None:
        """Return where the thread's card stands, if it was posted and nobody knows; it is newer than the question.

        A question that is taken up again is older than the card it had before, whose ts is `after`.

        Raises:
            Unavailable: it stands nowhere, and may yet come.
        """
        found = self._poster.find(
            self._ops_channel,
            ids.card_block_id(state.thread_id),
            what="look for the card",
            recorded_at=state.started_at,
            by_others=True,
            since=max(_asked_at(state), float(after or 0)),
        )
        return (self._ops_channel, found) if found is not None else None

    def post_reply(self, state: ThreadState, text: str) -> str:
        """Post an approved reply in the thread and return its ts.

        Raises:
            ProviderError: Slack refused it; nothing was posted.
            Unconfirmed: nobody can tell.
        """
        metadata = {"event_type": REPLY_EVENT, "event_payload": _payload(state, text)}
        blocks = reply_sections(text)
        blocks[0].block_id = f"{reply_mark(state)}:{hash_draft(text)}"
        answer = self._poster.post(
            state.chat_id,
            reply_text(text),
            blocks,
            what="post the reply",
            rank=REPLY,
            thread_ts=state.thread_ts,
            metadata=metadata,
        )
        return str(answer["ts"])

    def find_reply(self, state: ThreadState, text: str) -> str | None:
        """Return the ts of our reply, if it stands in the thread; a thread that is gone holds none."""
        try:
            with translated("look for the reply"):
                pages = self._client.conversations_replies(
                    channel=state.chat_id, ts=state.thread_ts, include_all_metadata=True, limit=200
                )
                ours = [m for page in pages for m in page.get("messages") or [] if m.get("user") == self._bot_user_id]
        except ProviderError as error:
            if "thread_not_found" in str(error):
                return None
            raise
        return next((m["ts"] for m in ours if _is_reply(m, state, text)), None)

    def delete_reply(self, state: ThreadState, ts: str) -> None:
        """Delete a reply that was posted beside another one; raises ProviderError where Slack refuses."""
        with translated("delete the second reply"):
            self._client.chat_delete(channel=state.chat_id, ts=ts)

    def tell_ops(self, text: str) -> None:
        """Say one line in the ops channel."""
        self._poster.post(self._ops_channel, escape(text), what="tell the ops channel", rank=LINE)

    def _paced_update(self, state: ThreadState, *, is_progress: bool) -> AbstractContextManager[None]:
        """Pace an update: a state is put off rather than waited for, and progress leaves half of the room to states."""
        return paced(
            self._updates,
            _ALL_CARDS,
            "update the card",
            patience_s=0.0 if state.is_open else LAST_UPDATE_PATIENCE_S,
            spare=UPDATE_BURST // 2 if is_progress else 0,
        )


def _asked_at(state: ThreadState) -> float:
    """Return the Slack time after which the card of this state was posted."""
    return max(float(state.original_message_id), float(state.opened_by_message_id or 0))


def _payload(state: ThreadState, text: str) -> dict[str, Any]:
    """Return what names one reply: an earlier answer in the same words had another draft version."""
    return {"thread_id": state.thread_id, "draft_version": state.draft_version, "draft_hash": hash_draft(text)}


def _is_reply(message: dict[str, Any], state: ThreadState, text: str) -> bool:
    metadata = message.get("metadata") or {}
    if any(str(block.get("block_id")).startswith(f"{reply_mark(state)}:") for block in message.get("blocks") or []):
        return True
    if metadata.get("event_type") == REPLY_EVENT:
        return bool(metadata.get("event_payload") == _payload(state, text))
    since = slack_time(state.post_intent.at) if state.post_intent else 0.0
    return message.get("text") == reply_text(text) and float(message["ts"]) >= since


Ephemeral = Callable[[str, str, str], None]


Whisper = Callable[[str, str, str, str | None], None]


def whisper(client: WebClient) -> Whisper:
    """Return a way to tell one user something only they see, in a channel or in one of its threads."""

    def tell(channel: str, user: str, text: str, thread_ts: str | None) -> None:
        with translated("answer you"):
            client.chat_postEphemeral(channel=channel, user=user, text=text, thread_ts=thread_ts)

    return tell


def ephemeral(client: WebClient, poster: Poster) -> Ephemeral:
    """Return a way to tell one user something only they see: in a channel, or in private if they are not there."""
    whispered = whisper(client)

    def tell(channel: str, user: str, text: str) -> None:
        try:
            whispered(channel, user, text, None)
        except Unavailable:
            raise
        except ProviderError:
            log.info("answering in private instead", extra={"action": "answered_in_private"}, exc_info=True)
            _in_private(client, poster, user, text)

    return tell


def _in_private(client: WebClient, poster: Poster, user: str, text: str) -> None:
    with translated("open a direct message"):
        channel = str(client.conversations_open(users=user)["channel"]["id"])
    poster.post(channel, text, what="answer you", rank=LINE)


def answer(tell: Ephemeral, channel: str, user: str, text: str) -> None:
    """Answer a click; a chat that does not take the answer is logged, for what was clicked is done."""
    try:
        tell(channel, user, text)
    except ProviderError:
        log.exception("could not answer a click", extra={"action": "answer_failed"})
