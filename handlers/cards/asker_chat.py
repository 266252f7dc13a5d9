"""Port AskerChat over Slack: reactions on the asker's message, or a line that only they see.

Needs the scope reactions:write. A reaction is asked for at most at Slack's pace, and nobody waits for it: whoever asked
tries again later.
Source: https://docs.slack.dev/reference/methods/reactions.add (Tier 3) and reactions.remove (Tier 2).
"""

from __future__ import annotations

from slack_sdk import WebClient

from bot.domain.acknowledgement import Reaction
from bot.domain.threads import ThreadState
from bot.errors import ProviderError
from handlers.answers import ephemeral_reply
from handlers.transport.rate_limits import RateLimiter, rate_limited
from handlers.transport.slack_clients import translate_slack_errors

_ADD, _REMOVE = "reactions.add", "reactions.remove"
_STANDS_ALREADY, _DOES_NOT_STAND = "already_reacted", "no_reaction"


class SlackAskerChat:
    """Speaks with the bot's token, at the pace of `reactions`."""

    def __init__(self, client: WebClient, reactions: RateLimiter) -> None:
        self._client, self._reactions = client, reactions
        self._whisper = ephemeral_reply(client)

    def add_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        """Put our reaction on a message; harmless where it stands already."""
        self._change(_ADD, chat_id, message_id, reaction, unless=_STANDS_ALREADY)

    def remove_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        """Take our reaction from a message; harmless where it does not stand."""
        self._change(_REMOVE, chat_id, message_id, reaction, unless=_DOES_NOT_STAND)

    def tell_asker(self, state: ThreadState, text: str) -> None:
        """Say a line beside the question that only its asker sees: in its thread only if it was asked there."""
        in_thread = state.thread_ts if state.thread_ts != state.original_message_id else None
        self._whisper(state.chat_id, state.original_sender_id, text, in_thread)

    def _change(self, method: str, chat_id: str, message_id: str, reaction: Reaction, *, unless: str) -> None:
        what = "set a reaction" if method == _ADD else "remove a reaction"
        call = self._client.reactions_add if method == _ADD else self._client.reactions_remove
        try:
            with rate_limited(self._reactions, method, what, patience_s=0), translate_slack_errors(what):
                call(channel=chat_id, timestamp=message_id, name=reaction.value)
        except ProviderError as error:
            if error.code != unless:
                raise
