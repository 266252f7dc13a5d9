"""Posts, changes and deletes messages in Slack: at Slack's rates, never twice without looking, without unfurls.

A post that carries a mark (the id of its first block) is looked for before it is made a second time. A post of a
process that died may still be on its way, so its absence counts only after a while. A refusal for the rate (429) holds
back all processes for as long as Slack asks, and is waited for within the caller's patience. Blocks that Slack refuses
(too long, not valid) are shortened and say so, unless the caller needs them whole.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar
from urllib.error import HTTPError

from slack_sdk import WebClient
from slack_sdk.errors import SlackRequestError
from slack_sdk.models.blocks import Block

from blocks.elements import with_spoken_names
from blocks.text.message_size import REFUSED_CONTENT, shortened_blocks
from bot.errors import ProviderError, Unavailable, Unconfirmed
from bot.ports import Clock
from bot.ports.chat import IN_FLIGHT, may_still_arrive
from bot.ports.system import Rate
from handlers.transport.rate_limits import LINE, REACTIONS, UPDATES, RateLimiter
from handlers.transport.slack_clients import PATIENCE_S, translate_slack_errors

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

PAGE: Final = 200
CLOCKS_APART_S: Final = 60.0
"""How far our clock may be ahead of Slack's."""

MAX_REFUSALS: Final = 4
"""After so many refusals for its rate a call is given up, however short the waits that Slack asks for."""

REMEMBERED: Final = 1_000
"""Marks of this process's own posts; where they stand is on file by the time they are forgotten."""

_ALL_CARDS: Final = "chat.update"
"""Slack counts updates for the whole workspace."""


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
    """Posts with a client that repeats nothing, and changes and looks with one that does.

    Every method raises ProviderError where Slack refuses, Unavailable where the same will work later (`retry_after_s`
    says when), and those that post Unconfirmed where nobody can tell whether it was posted.
    """

    def __init__(self, client: WebClient, *, posting: WebClient, limiter: RateLimiter, clock: Clock) -> None:
        self._client, self._posting, self._limiter, self._clock = client, posting, limiter, clock
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
        """
        marks = (mark,) if isinstance(mark, str) else mark or ()

        def send(shown: Sequence[Block] | None) -> dict[str, Any]:
            def call() -> dict[str, Any]:
                with self._noted(channel, marks), translate_slack_errors(what, posting=True):
                    answer = self._posting.chat_postMessage(
                        channel=channel, text=text, blocks=shown, unfurl_links=False, unfurl_media=False, **more
                    )
                return dict(answer.data) if isinstance(answer.data, dict) else {}

            return self._at_pace(call, self._limiter.posts, channel, what, rank=rank, patience_s=PATIENCE_S)

        blocks = with_spoken_names(blocks) if blocks else blocks
        return send(blocks) if whole or not blocks else _shorter_if_refused(send, blocks)

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
            if was_begun and self._may_still_come(part.mark):
                raise Unconfirmed(f"Slack could not confirm to {what}: message {number} may still be on its way")
            more = {"mark": part.mark, "thread_ts": thread_ts}
            try:
                answer = self.post(channel, part.text, part.blocks, what=what, rank=rank, whole=True, **more)
            except Unconfirmed:
                raise
            except ProviderError as error:
                if not standing:
                    raise
                said = f"{len(standing)} of {len(parts)} messages are in the thread; the rest will be sent again"
                raise Unconfirmed(f"{error}; {said}", retry_after_s=error.retry_after_s) from error
            standing[part.mark] = str(answer["ts"])
        return [standing[part.mark] for part in parts]

    def update(
        self,
        channel: str,
        ts: str,
        text: str,
        blocks: Sequence[Block],
        *,
        what: str,
        whole: bool = False,
        patience_s: float = PATIENCE_S,
        spare: int = 0,
    ) -> None:
        """Change a message in place; `patience_s` and `spare` are those of `RateLimiter.wait_turn`."""

        def send(shown: Sequence[Block]) -> None:
            def call() -> None:
                with translate_slack_errors(what):
                    self._client.chat_update(channel=channel, ts=ts, text=text, blocks=shown)

            self._at_pace(call, UPDATES, _ALL_CARDS, what, patience_s=patience_s, spare=spare)

        blocks = with_spoken_names(blocks)
        send(blocks) if whole else _shorter_if_refused(send, blocks)

    def delete(self, channel: str, ts: str, *, what: str) -> None:
        """Delete a message of ours."""
        with translate_slack_errors(what):
            self._client.chat_delete(channel=channel, ts=ts)

    def react(self, channel: str, ts: str, emoji: str, *, is_set: bool) -> None:
        """Put our reaction on a message, or take it away; nobody waits for one."""
        method, call = ("add", self._client.reactions_add) if is_set else ("remove", self._client.reactions_remove)
        what = "set a reaction" if is_set else "remove a reaction"

        def send() -> None:
            with translate_slack_errors(what):
                call(channel=channel, timestamp=ts, name=emoji)

        self._at_pace(send, REACTIONS, f"reactions.{method}", what)

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

        def call() -> None:
            with translate_slack_errors(what, posting=True):
                try:
                    self._posting.files_upload_v2(
                        channel=channel, filename=filename, content=content, title=title, alt_txt=alt_text, **more
                    )
                except (SlackRequestError, HTTPError) as error:
                    said = f"Slack could not {what}: it did not take the file; nothing was posted"
                    raise ProviderError(said) from error

        self._at_pace(call, self._limiter.posts, channel, what, patience_s=PATIENCE_S)

    def open_place(self, to: str) -> str:
        """Return the channel to post in: a person's direct messages, else `to` itself."""
        if to[:1] not in ("U", "W"):
            return to
        with translate_slack_errors("open a direct message"):
            return str(self._client.conversations_open(users=to)["channel"]["id"])

    def thread(self, channel: str, thread_ts: str, *, what: str) -> list[dict[str, Any]]:
        """Return the messages of a thread as Slack keeps them."""
        with translate_slack_errors(what):
            pages = self._client.conversations_replies(channel=channel, ts=thread_ts, limit=PAGE)
            return [message for page in pages for message in page.get("messages") or []]

    def standing(self, channel: str, thread_ts: str, marks: Collection[str], *, what: str) -> dict[str, str]:
        """Return the ts of each message of a thread that carries one of these marks."""
        return {
            str(block["block_id"]): str(message["ts"])
            for message in self.thread(channel, thread_ts, what=what)
            for block in message.get("blocks") or []
            if block.get("block_id") in marks
        }

    def find(
        self,
        channel: str,
        mark: str,
        *,
        what: str,
        recorded_at: datetime,
        since: float | None = None,
        by_others: bool = False,
    ) -> str | None:
        """Return the ts of the newest post with this mark after a Slack time, by default that of `recorded_at`.

        `recorded_at` is when what it shows was first on file: what began in this process, and was not posted by it,
        stands nowhere, and Slack is not asked. A time in the future is that of a clock that was put back since.
        `by_others`: it may also have been posted by a process with another data directory, so Slack is asked always.

        Raises:
            PostInFlight: it stands nowhere, and may yet come.
        """
        is_older = not self._began_at <= recorded_at <= self._clock.now()
        sent_at = self._sent.get((channel, mark)) or (self._began_at if is_older else None)
        if sent_at is None and not by_others:
            return None
        since = _slack_time(recorded_at) if since is None else since
        found = next(self.marked(channel, mark, what=what, since=since), None)
        now = self._clock.now()
        if found is None and sent_at is not None and may_still_arrive(sent_at, now):
            left_s = (IN_FLIGHT - (now - sent_at)).total_seconds()
            raise PostInFlight(f"The last message may still be on its way; could not {what}.", left_s=left_s)
        return found

    def marked(self, channel: str, mark: str, *, what: str, since: float) -> Iterator[str]:
        """Yield the ts of each post with this mark after a Slack time, the newest first."""
        with translate_slack_errors(what):
            for page in self._client.conversations_history(channel=channel, oldest=f"{since:.6f}", limit=PAGE):
                for message in page.get("messages") or []:
                    blocks = message.get("blocks") or []
                    if float(message["ts"]) > since and any(block.get("block_id") == mark for block in blocks):
                        yield str(message["ts"])

    def _may_still_come(self, mark: str) -> bool:
        """Whether a post with this mark, found nowhere, may have been sent so lately that it may yet come."""
        with self._lock:
            sent = [at for (_, noted), at in self._sent.items() if noted == mark]
        return may_still_arrive(max(sent, default=self._began_at), self._clock.now())

    def _at_pace(
        self,
        call: Callable[[], Answer],
        rate: Rate,
        key: str,
        what: str,
        *,
        rank: int = LINE,
        patience_s: float = 0.0,
        spare: int = 0,
    ) -> Answer:
        """Return what a call returns, made when the rate allows it, and again after a refusal that is short enough."""
        give_up_at = self._limiter.monotonic() + patience_s
        refused: Unavailable | None = None
        for _ in range(MAX_REFUSALS):
            left_s = max(0.0, give_up_at - self._limiter.monotonic())
            try:
                self._limiter.wait_turn(rate, key, rank=rank, patience_s=left_s, spare=spare)
            except Unavailable as error:
                said = f"Slack could not {what}: {error}"
                raise refused or Unavailable(said, retry_after_s=error.retry_after_s) from error
            try:
                return call()
            except Unavailable as error:
                if error.retry_after_s is None:
                    raise
                self._limiter.hold(rate, key, error.retry_after_s)
                refused = error
        assert refused is not None
        raise refused

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


def _shorter_if_refused(send: Callable[[Sequence[Block]], Answer], blocks: Sequence[Block]) -> Answer:
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


def has_block(message: Mapping[str, Any], prefix: str) -> bool:
    """Whether a message has a block whose id begins so."""
    return any(str(block.get("block_id")).startswith(prefix) for block in message.get("blocks") or [])


def _slack_time(at: datetime) -> float:
    """Return a Slack time from which on lies what was posted after a moment of our clock."""
    return at.timestamp() - CLOCKS_APART_S
