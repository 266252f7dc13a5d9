"""Port History over Slack's Web API, one page a call.

Its client does not wait by itself when Slack asks for patience: whoever reads may be told to stop meanwhile.
"""

from __future__ import annotations

from typing import Any

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.errors import ProviderError
from bot.ports import Page
from handlers.transport import translated

PAGE = 200


class SlackHistory:
    """Reads channels and threads back."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def messages(self, chat_id: str, *, oldest: str, cursor: str | None = None) -> Page:
        """Return a page of a channel's root messages; raises ProviderError, Unavailable with Slack's Retry-After."""
        with translated(f"read the history of {chat_id}"):
            return _page(
                self._client.conversations_history(channel=chat_id, oldest=oldest, limit=PAGE, **_from(cursor))
            )

    def replies(self, chat_id: str, thread_ts: str, *, oldest: str = "0", cursor: str | None = None) -> Page:
        """Return a page of a thread, empty when its root is gone; raises as `messages` does."""
        try:
            with translated(f"read a thread in {chat_id}"):
                return _page(
                    self._client.conversations_replies(
                        channel=chat_id, ts=thread_ts, oldest=oldest, limit=PAGE, **_from(cursor)
                    )
                )
        except ProviderError as error:
            if "thread_not_found" in str(error):
                return Page(messages=())
            raise


def _from(cursor: str | None) -> dict[str, Any]:
    return {"cursor": cursor} if cursor else {}


def _page(answer: SlackResponse) -> Page:
    found = [message for message in answer.get("messages") or [] if isinstance(message, dict)]
    return Page(messages=found, cursor=(answer.get("response_metadata") or {}).get("next_cursor") or None)
