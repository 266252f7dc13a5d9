"""Port LiveWork over Slack: each step of a run below its card, as it happens.

Steps are task cards of a stream where Slack has streams. Where it refuses one, they are one message that is edited, in
this process from then on. Slack seals a stream after about 5 min 20 s and says so at the next step: then another one is
opened. Where the steps stand is on file, so that another process folds them if this one dies: a message is on file
before it is posted and found by its mark; a stream cannot be looked for, so one that nobody confirmed is left to Slack.
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
from bot.domain.threads import CardShown, LiveShown, ThreadState
from bot.errors import ProviderError, Unavailable, Unconfirmed
from bot.ports import Clock
from bot.ports.chat import may_still_arrive
from bot.ports.collections import Collection
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
    """`client` repeats no call; `shown` is where it is on file what stands below a card."""

    def __init__(
        self,
        client: WebClient,
        poster: Poster,
        shown: Collection[CardShown],
        clock: Clock,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.client, self.poster, self.monotonic = client, poster, monotonic
        self.clock, self._shown = clock, shown
        self.has_streams = True
        """Whether Slack has refused none so far."""

    def begin(self, state: ThreadState, title: str) -> SlackLiveRun:
        """Return where the steps of a run are shown."""
        return SlackLiveRun(self, state, title)

    def fold_left(self, thread_id: str) -> None:
        """Fold what a run shows that ended with its process. Raises Unavailable where the same works later."""
        left = self._shown.get(thread_id).live
        if left is None:
            return
        try:
            if (ts := left.ts or self._found(left)) is not None:
                if left.is_stream:
                    self.seal(left, ())
                self.fold(left.model_copy(update={"ts": ts}))
        except Unavailable:
            raise
        except ProviderError:
            log.info("steps that were left are gone", extra={"action": "steps_gone"}, exc_info=True)
        self.forget(thread_id, left)

    def _found(self, left: LiveShown) -> str | None:
        """Return where a message stands that nobody confirmed, None if nowhere."""
        mark, what = _mark(left), "look for the steps of a run"
        found = self.poster.standing(left.channel, left.thread_ts, {mark}, what=what).get(mark)
        if found is None and may_still_arrive(left.at, self.clock.now()):
            raise Unavailable("The steps of a run may still be on their way.")
        return found

    def seal(self, live: LiveShown, chunks: Sequence[Chunk]) -> bool:
        """End a stream; False where Slack did so before."""
        try:
            with translate_slack_errors("end a stream"):
                self.client.chat_stopStream(channel=live.channel, ts=str(live.ts), chunks=chunks or None)
        except Unavailable:
            raise
        except ProviderError as error:
            log.info("a stream was sealed: %s", error.code, extra={"action": "stream_sealed"})
            return False
        return True

    def fold(self, live: LiveShown, steps: Sequence[str] = ()) -> None:
        """Show the last line in the place of the steps, but for those that stay."""
        what = "fold the steps of a run"
        self.poster.update(live.channel, str(live.ts), live.line, _message(live, live.line, steps), what=what)

    def note(self, thread_id: str, live: LiveShown) -> LiveShown:
        """Put on file where steps stand, or will; raises StoreError."""
        self._shown.evolve(thread_id, live=live)
        return live

    def forget(self, thread_id: str, live: LiveShown) -> None:
        """Put on file that these steps are folded; those of a later run stay."""

        def folded(now: CardShown) -> CardShown:
            is_same = now.live is not None and now.live.at == live.at
            return now.model_copy(update={"live": None}) if is_same else now

        self._shown.change(thread_id, folded)


class SlackLiveRun:
    """The steps of one run: a stream, or a message."""

    def __init__(self, work: SlackLiveWork, state: ThreadState, title: str) -> None:
        self._work, self._state, self._title = work, state, title
        self._live: LiveShown | None = None
        self._opened_at, self._sent = 0.0, 0
        self._is_lost = False

    def show(self, steps: Sequence[str]) -> None:
        """Show the steps, the last one under way; what an earlier run of the thread left is folded first."""
        if self._is_lost:
            return
        if self._live is None:
            self._work.fold_left(self._state.thread_id)
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
        if self._live is None:
            return
        line = f"{self._title}: {counted(len(steps) - 1, 'step')}, {said}"
        live = self._note(self._live.model_copy(update={"line": line}))
        chunks = [*self._tasks(steps, is_over=True), MarkdownTextChunk(text=line)]
        if live.ts is None:
            self._work.fold_left(self._state.thread_id)
        elif not (live.is_stream and self._work.seal(live, chunks)):
            self._work.fold(live, steps if said != "done" else ())
        self._work.forget(self._state.thread_id, live)

    def _note(self, live: LiveShown) -> LiveShown:
        self._live = live
        return self._work.note(self._state.thread_id, live)

    def _begun(self, *, ts: str | None = None) -> LiveShown:
        return LiveShown(
            line=f"{self._title}: interrupted",
            channel=str(self._state.card_channel),
            thread_ts=str(self._state.card_ts),
            at=self._work.clock.now(),
            ts=ts,
            is_stream=ts is not None,
        )

    def _streamed(self, steps: Sequence[str]) -> bool:
        """Show the steps in a stream; False where Slack has none."""
        if self._live is not None:
            if not self._live.is_stream or self._appended(self._live, steps):
                return self._live.is_stream
        elif not (self._work.has_streams and self._state.is_from_person):
            return False
        try:
            with translate_slack_errors("open a stream", posting=True):
                answer = self._work.client.chat_startStream(
                    channel=str(self._state.card_channel),
                    thread_ts=str(self._state.card_ts),
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
            self._live = None
            return False
        self._opened_at, self._sent = self._work.monotonic(), len(steps)
        self._note(self._begun(ts=str(answer["ts"])))
        return True

    def _appended(self, live: LiveShown, steps: Sequence[str]) -> bool:
        """Add what is new; False where the stream is over: Slack sealed it, or soon would."""
        if self._work.monotonic() - self._opened_at >= STREAM_S:
            self._work.seal(live, self._tasks(steps, is_over=True))
            return False
        try:
            with translate_slack_errors("add to a stream"):
                self._work.client.chat_appendStream(channel=live.channel, ts=str(live.ts), chunks=self._tasks(steps))
        except Unavailable:
            raise
        except ProviderError as error:
            log.info("a stream was sealed: %s", error.code, extra={"action": "stream_sealed"})
            return False
        self._sent = len(steps)
        return True

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
        live, poster = self._live or self._note(self._begun()), self._work.poster
        blocks, what = _message(live, self._title, steps), "show a run"
        if live.ts is None:
            answer = poster.post(live.channel, self._title, blocks, what=what, rank=LINE, thread_ts=live.thread_ts)
            self._note(live.model_copy(update={"ts": str(answer["ts"])}))
        else:
            spare = UPDATE_BURST // 2
            poster.update(live.channel, live.ts, self._title, blocks, what=what, patience_s=0.0, spare=spare)


def _mark(live: LiveShown) -> str:
    """Return the id of the block with the steps: the record of where they stand names it before they do."""
    return f"triage_live:{live.at.timestamp():.6f}"


def _message(live: LiveShown, title: str, steps: Sequence[str]) -> list[Block]:
    """Return a message with the latest steps below its title."""
    latest = [f"• {escape(plain(one, STEP_CHARS))}" for one in steps[1:][-SHOWN_STEPS:]]
    shown = context("\n".join([f"*{escape(title)}*", *latest]))
    shown.block_id = _mark(live)
    return [shown]
