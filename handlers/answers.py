"""Sends what only one person sees: ephemeral and direct messages, and reactions on what they wrote.

Every text passes here last, so that its times are shown in the reader's zone. A chat that does not take the answer to
a click is only logged: what was clicked is done. Reactions (scope reactions:write) keep Slack's rate, and nobody waits
for one: the caller tries again later.
Source: https://docs.slack.dev/reference/methods/reactions.add (Tier 3) and reactions.remove (Tier 2).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, Final

from slack_bolt import Respond
from slack_sdk import WebClient
from slack_sdk.models.blocks import Block

from blocks.text.message_size import REFUSED_CONTENT
from blocks.text.outgoing_text import with_local_times
from blocks.text.tables import ListedTable, without_tables
from bot.domain.acknowledgement import Reaction
from bot.domain.threads import ThreadState
from bot.errors import ProviderError, Unavailable
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import LINE
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)


Ephemeral = Callable[[str, str, str], None]
"""Takes `(channel, user, mrkdwn)`."""

Whisper = Callable[[str, str, str, str | None], None]
"""Takes `(channel, user, mrkdwn, thread_ts or None)`."""

_STANDS_ALREADY, _DOES_NOT_STAND = "already_reacted", "no_reaction"


def ephemeral_reply(client: WebClient) -> Whisper:
    """Return a way to tell one user something only they see, in a channel or in one of its threads."""

    def tell(channel: str, user: str, text: str, thread_ts: str | None) -> None:
        with translate_slack_errors("answer you"):
            client.chat_postEphemeral(channel=channel, user=user, text=with_local_times(text), thread_ts=thread_ts)

    return tell


def ephemeral(client: WebClient, poster: Poster) -> Ephemeral:
    """Return a way to tell one user something only they see: in a channel, or in private if they are not there."""
    whispered = ephemeral_reply(client)

    def tell(channel: str, user: str, text: str) -> None:
        try:
            whispered(channel, user, text, None)
        except Unavailable:
            raise
        except ProviderError:
            log.info("answering in private instead", extra={"action": "answered_in_private"}, exc_info=True)
            poster.post(poster.open_place(user), with_local_times(text), what="answer you", rank=LINE)

    return tell


def answer(tell: Callable[..., None], *said: str | None) -> None:
    """Answer a click as an `Ephemeral` or a `Whisper`; one that Slack does not take is logged: the click is done."""
    try:
        tell(*said)
    except ProviderError:
        log.exception("could not answer a click", extra={"action": "answer_failed"})


def respond_privately(respond: Respond, text: str, **said: Any) -> str:
    """Say something more to the one who typed, at their command's response_url; return why Slack refused, or "".

    Slack takes five of these within 30 minutes, and then only the log hears.
    Source: https://docs.slack.dev/interactivity/implementing-slash-commands
    """
    try:
        with translate_slack_errors("answer you"):
            answer = respond(text=with_local_times(text), response_type="ephemeral", replace_original=False, **said)
    except (ProviderError, ValueError):  # Bolt's word for a command that came without a response_url
        log.warning("an answer could not be given", extra={"action": "answer_failed"}, exc_info=True)
        return ""
    status, body = getattr(answer, "status_code", HTTPStatus.OK), str(getattr(answer, "body", ""))
    if status == HTTPStatus.OK and not any(code in body for code in REFUSED_CONTENT):
        return ""
    log.warning("an answer was refused with status %s: %s", status, body[:80], extra={"action": "answer_failed"})
    return body or str(status)


class TableAnswers:
    """Answers with table blocks until Slack refuses one; from then on, for the life of the process, with their text."""

    def __init__(self) -> None:
        self._are_refused = False

    def wanted_for(self, blocks: Sequence[Block]) -> bool:
        """Whether an answer has a table that Slack may take."""
        return not self._are_refused and any(isinstance(block, ListedTable) for block in blocks)

    def respond(self, respond: Respond, text: str, blocks: Sequence[Block]) -> None:
        """Send an answer with its tables; where Slack refuses it, send the same without."""
        refused = respond_privately(respond, text, blocks=[block.to_dict() for block in blocks])
        if not refused:
            return
        self._are_refused = True
        log.info("Slack takes no tables; lists are sent as text", extra={"action": "tables_refused"})
        respond_privately(respond, text, blocks=[block.to_dict() for block in without_tables(blocks)])


TABLES: Final = TableAnswers()
"""Of this process: what one workspace refused is sent as text to every other, too."""


class SlackAskerChat:
    """Speaks with the bot's token."""

    def __init__(self, client: WebClient, poster: Poster) -> None:
        self._poster = poster
        self._whisper = ephemeral_reply(client)

    def add_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        """Put our reaction on a message; harmless where it stands already."""
        self._react(chat_id, message_id, reaction, is_set=True)

    def remove_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        """Take our reaction from a message; harmless where it does not stand."""
        self._react(chat_id, message_id, reaction, is_set=False)

    def tell_asker(self, state: ThreadState, text: str) -> None:
        """Say a line beside the question that only its asker sees: in its thread only if it was asked there."""
        in_thread = state.thread_ts if state.thread_ts != state.original_message_id else None
        self._whisper(state.chat_id, state.original_sender_id, text, in_thread)

    def _react(self, chat_id: str, message_id: str, reaction: Reaction, *, is_set: bool) -> None:
        try:
            self._poster.react(chat_id, message_id, reaction.value, is_set=is_set)
        except ProviderError as error:
            if error.code != (_STANDS_ALREADY if is_set else _DOES_NOT_STAND):
                raise
