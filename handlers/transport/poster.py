"""Posts messages to Slack: at the channel's rate, never twice without looking, without unfurls.

A post that carries a mark (the id of its first block) is looked for before it is made a second time. A post of a
process that died may still be on its way, so its absence counts only after a while. Blocks that Slack refuses (too
long, not valid) are shortened and say so, unless the caller needs them whole.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar
from urllib.error import HTTPError

from slack_sdk import WebClient
from slack_sdk.errors import SlackRequestError
from slack_sdk.models.blocks import Block

from blocks.text.message_size import REFUSED_CONTENT, shortened_blocks
from bot.errors import ProviderError, Unavailable, Unconfirmed
from bot.ports import Clock
from bot.ports.chat import IN_FLIGHT, may_still_arrive
from handlers.transport.rate_limits import LINE, RateLimiter, rate_limited
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

PATIENCE_S: Final = 5.0
PAGE: Final = 200
CLOCKS_APART_S: Final = 60.0
"""How far our clock may be ahead of Slack's."""

REMEMBERED: Final = 1_000
"""Marks of this process's own posts; where they stand is on file by the time they are forgotten."""


class PostInFlight(Unavailable):
    """A post stands nowhere, and may yet come for so many seconds."""

    def __init__(self, message: str, *, left_s: float) -> None:
        super().__init__(message)
        self.left_s = left_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One message of a series; `mark` is the id of its first block, `text` is for notifications."""

    mark: str
    text: str
    blocks: Sequence[Block]


class Poster:
    """Posts with a client that repeats nothing but what Slack says it refused, and looks with `reader`."""

    def __init__(self, client: WebClient, pacer: RateLimiter, *, reader: WebClient, clock: Clock) -> None:
        self._client, self._pacer, self._reader, self._clock = client, pacer, reader, clock
        self._began_at = clock.now()
        self._sent: dict[tuple[str, str], datetime] = {}
        self._lock = threading.Lock()

    def post(
        self,
        channel: str,
        text: str,
        blocks: Sequence[Block] | None = None,
        *,
        what: str,
        rank: int,
        mark: str | tuple[str, ...] | None = None,
        whole: bool = False,
        **more: Any,
    ) -> dict[str, Any]:
        """Post a message and return Slack's answer; `what` completes "Slack could not …".

        `mark`: the ids of the blocks by which it is found again.

        `whole`: blocks that Slack does not take are not shortened, but an error.

        Raises:
            ProviderError: Slack refused it; nothing was posted. Unavailable says when to come back.
            Unconfirmed: nobody can tell.
        """

        def send(shown: Sequence[Block] | None) -> dict[str, Any]:
            with (
                self._noted(channel, (mark,) if isinstance(mark, str) else mark or ()),
                rate_limited(self._pacer, channel, what, rank=rank, patience_s=PATIENCE_S),
                translate_slack_errors(what, posting=True),
            ):
                answer = self._client.chat_postMessage(
                    channel=channel, text=text, blocks=shown, unfurl_links=False, unfurl_media=False, **more
                )
            return dict(answer.data) if isinstance(answer.data, dict) else {}

        return send(blocks) if whole or not blocks else shorter_if_refused(send, blocks)

    def post_series(self, parts: Sequence[Part], *, channel: str, thread_ts: str, what: str, rank: int) -> list[str]:
        """Post several messages in one thread, in order, whatever died in between; return the ts of all.

        Those that stand there already are not posted again.

        Raises:
            ProviderError: Slack refused the first one, so nothing of the series stands there.
            Unconfirmed: some of it stands, and the rest is to be tried again, or may yet come.
        """
        standing = self.standing(channel, thread_ts, {part.mark for part in parts}, what=what)
        was_begun = bool(standing)
        for number, part in enumerate(parts, 1):
            if part.mark in standing:
                continue
            if was_begun and self.may_still_come(part.mark):
                raise Unconfirmed(f"Slack could not confirm to {what}: message {number} may still be on its way")
            try:
                answer = self.post(
                    channel,
                    part.text,
                    part.blocks,
                    what=what,
                    rank=rank,
                    mark=part.mark,
                    whole=True,
                    thread_ts=thread_ts,
                )
            except Unconfirmed:
                raise
            except ProviderError as error:
                if not standing:
                    raise
                said = f"{len(standing)} of {len(parts)} messages are in the thread; the rest will be sent again"
                raise Unconfirmed(f"{error}; {said}", retry_after_s=error.retry_after_s) from error
            standing[part.mark] = str(answer["ts"])
        return [standing[part.mark] for part in parts]

    def upload(
        self,
        channel: str,
        content: bytes,
        *,
        filename: str,
        title: str,
        alt_text: str,
        what: str,
        **more: Any,
    ) -> None:
        """Post a file; needs the scope files:write. Raises as `post` does.

        Three requests (where to, the bytes, done), and nothing is seen in the channel before the third.
        Source: slack_sdk 3.47, WebClient.files_upload_v2 (read); its middle request has no retry and sends no token.
        """
        with (
            rate_limited(self._pacer, channel, what, rank=LINE, patience_s=PATIENCE_S),
            translate_slack_errors(what, posting=True),
        ):
            try:
                self._client.files_upload_v2(
                    channel=channel, filename=filename, content=content, title=title, alt_txt=alt_text, **more
                )
            except (SlackRequestError, HTTPError) as error:
                raise ProviderError(f"Slack could not {what}: it did not take the file; nothing was posted") from error

    def thread(self, channel: str, thread_ts: str, *, what: str) -> list[dict[str, Any]]:
        """Return the messages of a thread as Slack keeps them, with metadata; raises ProviderError."""
        with translate_slack_errors(what):
            pages = self._reader.conversations_replies(
                channel=channel, ts=thread_ts, limit=PAGE, include_all_metadata=True
            )
            return [message for page in pages for message in page.get("messages") or []]

    def standing(self, channel: str, thread_ts: str, marks: Collection[str], *, what: str) -> dict[str, str]:
        """Return the ts of each message of a thread that carries one of these marks; raises ProviderError."""
        return {
            str(block["block_id"]): str(message["ts"])
            for message in self.thread(channel, thread_ts, what=what)
            for block in message.get("blocks") or []
            if block.get("block_id") in marks
        }

    def may_still_come(self, mark: str) -> bool:
        """Whether a post with this mark, found nowhere, may have been sent so lately that it may yet come."""
        with self._lock:
            sent = [at for (_, noted), at in self._sent.items() if noted == mark]
        return may_still_arrive(max(sent, default=self._began_at), self._clock.now())

    def find(
        self, channel: str, mark: str, *, what: str, recorded_at: datetime, since: float, by_others: bool = False
    ) -> str | None:
        """Return the ts of the newest post with this mark, if one was made after a Slack time.

        `recorded_at` is when what it shows was first on file: what began in this process, and was not posted by it,
        stands nowhere, and Slack is not asked. A time in the future is that of a clock that was put back since.
        `by_others`: it may also have been posted by a process with another data directory, so Slack is asked always.

        Raises:
            PostInFlight: it stands nowhere, and may yet come.
            ProviderError: Slack cannot say.
        """
        is_older = not self._began_at <= recorded_at <= self._clock.now()
        sent_at = self._sent.get((channel, mark)) or (self._began_at if is_older else None)
        if sent_at is None and not by_others:
            return None
        found = self._found(channel, mark, what, since)
        now = self._clock.now()
        if found is None and sent_at is not None and may_still_arrive(sent_at, now):
            left_s = (IN_FLIGHT - (now - sent_at)).total_seconds()
            raise PostInFlight(f"The last message may still be on its way; could not {what}.", left_s=left_s)
        return found

    def first(self, channel: str, mark: str, *, since: float) -> str | None:
        """Return the ts of the oldest post with this mark after a Slack time; raises what Slack's client raises."""
        return min(self._marked(channel, mark, since), key=float, default=None)

    def _found(self, channel: str, mark: str, what: str, since: float) -> str | None:
        with translate_slack_errors(what):
            return next(self._marked(channel, mark, since), None)

    def _marked(self, channel: str, mark: str, since: float) -> Iterator[str]:
        """Yield the ts of each post with this mark, the newest first."""
        for page in self._reader.conversations_history(channel=channel, oldest=f"{since:.6f}", limit=PAGE):
            for message in page.get("messages") or []:
                blocks = message.get("blocks") or []
                if float(message["ts"]) > since and any(block.get("block_id") == mark for block in blocks):
                    yield str(message["ts"])

    @contextmanager
    def _noted(self, channel: str, marks: tuple[str, ...]) -> Iterator[None]:
        """Remember what is being posted where, unless Slack says that it was not."""
        with self._lock:
            self._sent.update(dict.fromkeys(((channel, mark) for mark in marks), self._clock.now()))
            while len(self._sent) > REMEMBERED:
                del self._sent[next(iter(self._sent))]
        try:
            yield
        except Unconfirmed:
            raise
        except ProviderError:
            with self._lock:
                for mark in marks:
                    self._sent.pop((channel, mark), None)
            raise


def shorter_if_refused(send: Callable[[Sequence[Block]], Answer], blocks: Sequence[Block]) -> Answer:
    """Send blocks; where Slack refuses what they hold, send less of them, and at last a line that only says so."""
    shown, left = list(blocks), None
    while True:
        try:
            return send(shown)
        except ProviderError as error:
            if error.code not in REFUSED_CONTENT:
                raise
            left = shortened_blocks(blocks, error.code) if left is None else left
            if not left:
                raise
            log.warning("Slack refused a message: %s", error.code, extra={"action": "blocks_refused"})
        shown = left.pop(0)


def slack_time(at: datetime) -> float:
    """Return a Slack time from which on lies what was posted after a moment of our clock."""
    return at.timestamp() - CLOCKS_APART_S
