"""Port LiveWork over Slack: each step of a run below its card, as it happens.

Steps are task cards of a stream where Slack has streams. Where it refuses one, they are one message that is edited, in
this process from then on. Slack seals a stream after about 5 min 20 s and says so at the next step: then another one is
opened.
Source: https://docs.slack.dev/reference/methods/chat.startStream, and `slack_sdk.models.messages.chunk` (read)
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from slack_sdk import WebClient
from slack_sdk.models.blocks import Block
from slack_sdk.models.messages.chunk import Chunk, MarkdownTextChunk, TaskUpdateChunk

from blocks.text.outgoing_text import context, escape, plain
from bot.domain.text.humanize import counted
from bot.domain.threads import ThreadState
from bot.errors import ProviderError, Unavailable, Unconfirmed
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import LINE, UPDATE_BURST
from handlers.transport.slack_clients import OF_ONE_PLACE, translate_slack_errors

log = logging.getLogger(__name__)

STREAM_S: Final = 300.0
"""How long one stream is used; Slack seals it a little later."""

SHOWN_STEPS: Final = 8
STEP_CHARS: Final = 150
_NO_TOKENS: Final = {ord("<"): "‹", ord(">"): "›"}
"""What Slack makes of its own tokens in the title of a task card is not documented: none gets there."""


class SlackLiveWork:
    """`client` repeats no call."""

    def __init__(self, client: WebClient, poster: Poster, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.client, self.poster, self.monotonic = client, poster, monotonic
        self.has_streams = True
        """Whether Slack has refused none so far."""

    def begin(self, state: ThreadState, title: str) -> SlackLiveRun:
        """Return where the steps of a run are shown."""
        return SlackLiveRun(self, state, title)


class SlackLiveRun:
    """The steps of one run: a stream, or a message."""

    def __init__(self, work: SlackLiveWork, state: ThreadState, title: str) -> None:
        self._work, self._state, self._title = work, state, title
        self._channel, self._thread_ts = str(state.card_channel), str(state.card_ts)
        self._stream_ts: str | None = None
        self._message_ts: str | None = None
        self._opened_at, self._sent = 0.0, 0
        self._is_lost = False

    def show(self, steps: Sequence[str]) -> None:
        """Show the steps, the last one under way."""
        if self._is_lost:
            return
        try:
            if not self._streamed(steps):
                self._show_message(steps)
        except Unconfirmed:
            self._is_lost = True  # it may stand there; a second one would be worse than none
            raise

    def end(self, steps: Sequence[str], said: str) -> None:
        """Complete the steps, or fold the message into a line; a run too short to be shown leaves nothing.

        Of a run that was stopped the steps stay: they are what is left of it.
        """
        line = f"{self._title}: {counted(len(steps) - 1, 'step')}, {said}"
        if self._stream_ts is not None:
            chunks: list[Chunk] = [*self._tasks(steps, is_over=True), MarkdownTextChunk(text=line)]
            with translate_slack_errors("end a stream"):
                self._work.client.chat_stopStream(channel=self._channel, ts=self._stream_ts, chunks=chunks)
        elif self._message_ts is not None:
            shown = _message(line, steps if said != "done" else ())
            self._work.poster.update(self._channel, self._message_ts, line, shown, what="fold the steps of a run")

    def _streamed(self, steps: Sequence[str]) -> bool:
        """Show the steps in a stream; False where Slack has none."""
        if self._message_ts is not None or not (self._work.has_streams and self._state.is_from_person):
            return False
        if self._stream_ts is not None and self._work.monotonic() - self._opened_at >= STREAM_S:
            self._stop_stream(steps)
        if self._stream_ts is not None and self._appended(steps):
            return True
        try:
            with translate_slack_errors("open a stream", posting=True):
                answer = self._work.client.chat_startStream(
                    channel=self._channel,
                    thread_ts=self._thread_ts,
                    recipient_user_id=self._state.original_sender_id,
                    recipient_team_id=self._state.team_id,
                    task_display_mode="timeline",
                    chunks=self._tasks(steps),
                )
        except (Unavailable, Unconfirmed):
            raise
        except ProviderError as error:
            log.info("Slack takes no stream: %s", error.code, extra={"action": "no_streams"})
            self._work.has_streams = error.code in OF_ONE_PLACE
            return False
        self._stream_ts, self._opened_at, self._sent = str(answer["ts"]), self._work.monotonic(), len(steps)
        return True

    def _appended(self, steps: Sequence[str]) -> bool:
        """Add what is new; False where Slack has sealed the stream."""
        try:
            with translate_slack_errors("add to a stream"):
                self._work.client.chat_appendStream(
                    channel=self._channel, ts=str(self._stream_ts), chunks=self._tasks(steps)
                )
        except Unavailable:
            raise
        except ProviderError as error:
            log.info("a stream was sealed: %s", error.code, extra={"action": "stream_sealed"})
            self._stream_ts = None
            return False
        self._sent = len(steps)
        return True

    def _stop_stream(self, steps: Sequence[str]) -> None:
        ts, self._stream_ts = str(self._stream_ts), None
        try:
            with translate_slack_errors("end a stream"):
                self._work.client.chat_stopStream(channel=self._channel, ts=ts, chunks=self._tasks(steps, is_over=True))
        except ProviderError:
            log.info("a stream was not ended", extra={"action": "stream_unended"}, exc_info=True)

    def _tasks(self, steps: Sequence[str], *, is_over: bool = False) -> list[Chunk]:
        """Return the task cards that changed: that which was under way, and what came since."""
        first = max(self._sent - 1, 0)
        last = len(steps) - 1
        return [
            TaskUpdateChunk(
                id=f"step-{number}",
                title=plain(steps[number], STEP_CHARS).translate(_NO_TOKENS),
                status="in_progress" if number == last and not is_over else "complete",
            )
            for number in range(first, len(steps))
        ]

    def _show_message(self, steps: Sequence[str]) -> None:
        """Post the message, or edit it."""
        blocks, poster = _message(self._title, steps), self._work.poster
        if self._message_ts is None:
            answer = poster.post(
                self._channel, self._title, blocks, what="show a run", rank=LINE, thread_ts=self._thread_ts
            )
            self._message_ts = str(answer["ts"])
        else:
            poster.update(
                *(self._channel, self._message_ts, self._title, blocks),
                what="show a run",
                patience_s=0.0,
                spare=UPDATE_BURST // 2,
            )


def _message(title: str, steps: Sequence[str]) -> list[Block]:
    """Return a message with the latest steps below its title."""
    latest = [f"• {escape(plain(one, STEP_CHARS))}" for one in steps[1:][-SHOWN_STEPS:]]
    return [context("\n".join([f"*{escape(title)}*", *latest]))]
