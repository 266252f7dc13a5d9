"""The one door for posts: paced per channel, never sent twice blindly, never unfurled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from slack_sdk import WebClient
from slack_sdk.models.blocks import Block

from handlers.pacing import Pacer, paced
from handlers.transport import translated

PATIENCE_S: Final = 5.0


class Poster:
    """Posts with a client that repeats nothing but what Slack says it refused."""

    def __init__(self, client: WebClient, pacer: Pacer) -> None:
        self._client, self._pacer = client, pacer

    def post(
        self, channel: str, text: str, blocks: Sequence[Block] | None = None, *, what: str, rank: int, **more: Any
    ) -> dict[str, Any]:
        """Post a message and return Slack's answer; `what` completes "Slack could not …".

        Raises:
            ProviderError: Slack refused it; nothing was posted. Unavailable says when to come back.
            Unconfirmed: nobody can tell.
        """
        with paced(self._pacer, channel, what, rank=rank, patience_s=PATIENCE_S), translated(what, posting=True):
            answer = self._client.chat_postMessage(
                channel=channel, text=text, blocks=blocks, unfurl_links=False, unfurl_media=False, **more
            )
        return dict(answer.data) if isinstance(answer.data, dict) else {}
