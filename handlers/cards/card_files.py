"""Port CardFiles: files in the thread of a card in the ops channel, which must be private."""

from __future__ import annotations

from collections.abc import Callable

from blocks.text.outgoing_text import escape
from bot.domain.threads import ThreadState
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import LINE


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
            rank=LINE,
            thread_ts=state.card_ts,
            initial_comment=escape(said),
        )
