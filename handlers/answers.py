"""What only one person sees: an ephemeral message beside what they clicked, or the answer to what they typed.

Every text passes here last, so its times are the reader's. A chat that does not take an answer is logged and no more:
what was clicked is done.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from slack_bolt import Respond
from slack_sdk import WebClient

from blocks.text.escaping import with_local_times
from bot.errors import ProviderError, Unavailable
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import LINE
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

Ephemeral = Callable[[str, str, str], None]
"""Takes `(channel, user, mrkdwn)`."""
Whisper = Callable[[str, str, str, str | None], None]
"""Takes `(channel, user, mrkdwn, thread_ts or None)`."""


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
            _in_private(client, poster, user, text)

    return tell


def _in_private(client: WebClient, poster: Poster, user: str, text: str) -> None:
    with translate_slack_errors("open a direct message"):
        channel = str(client.conversations_open(users=user)["channel"]["id"])
    poster.post(channel, with_local_times(text), what="answer you", rank=LINE)


def answer(tell: Ephemeral, channel: str, user: str, text: str) -> None:
    """Answer a click; a chat that does not take the answer is logged, for what was clicked is done."""
    try:
        tell(channel, user, text)
    except ProviderError:
        log.exception("could not answer a click", extra={"action": "answer_failed"})


def whisper_answer(tell: Whisper, channel: str, user: str, text: str, thread_ts: str | None) -> None:
    """Answer a click in the thread where it was made; a chat that does not take the answer is logged."""
    try:
        tell(channel, user, text, thread_ts)
    except ProviderError:
        log.warning("could not answer a click", extra={"action": "answer_failed"}, exc_info=True)


def respond_privately(respond: Respond, text: str, **said: Any) -> None:
    """Say something more to the one who typed, at their command's response_url.

    Slack takes five of these within 30 minutes, and then only the log hears.
    Source: https://docs.slack.dev/interactivity/implementing-slash-commands
    """
    try:
        with translate_slack_errors("answer you"):
            answer = respond(text=with_local_times(text), response_type="ephemeral", replace_original=False, **said)
    except ProviderError:
        log.warning("an answer could not be given", extra={"action": "answer_failed"}, exc_info=True)
    else:
        status = getattr(answer, "status_code", HTTPStatus.OK)
        if status != HTTPStatus.OK:
            log.warning("an answer was refused with status %s", status, extra={"action": "answer_failed"})
