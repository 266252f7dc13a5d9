"""Posts several messages in one thread, in order and each once, whatever died in between.

Each carries a mark, the id of its first block; what stands in the thread already is not posted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slack_sdk.models.blocks import Block

from bot.errors import ProviderError, Unconfirmed
from handlers.transport.poster import Poster


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One message of a series; `mark` is the id of its first block, `text` is for notifications."""

    mark: str
    text: str
    blocks: Sequence[Block]


def post_series(
    poster: Poster, parts: Sequence[Part], *, channel: str, thread_ts: str, what: str, rank: int
) -> list[str]:
    """Post the parts that do not stand in the thread yet, and return the ts of all.

    Raises:
        ProviderError: Slack refused the first one, so nothing of the series stands there.
        Unconfirmed: some of it stands, and the rest is to be tried again, or may yet come.
    """
    standing = poster.standing(channel, thread_ts, {part.mark for part in parts}, what=what)
    was_begun = bool(standing)
    for number, part in enumerate(parts):
        if part.mark in standing:
            continue
        if was_begun and poster.may_still_come(part.mark):
            raise Unconfirmed(f"Slack could not confirm to {what}: message {number + 1} may still be on its way")
        try:
            answer = poster.post(
                channel, part.text, part.blocks, what=what, rank=rank, mark=part.mark, whole=True, thread_ts=thread_ts
            )
        except Unconfirmed:
            raise
        except ProviderError as error:
            if not standing:
                raise
            said = f"{len(standing)} of {len(parts)} messages stand in the thread; the rest will be tried again"
            raise Unconfirmed(f"{error}; {said}", retry_after_s=error.retry_after_s) from error
        standing[part.mark] = str(answer["ts"])
    return [standing[part.mark] for part in parts]
