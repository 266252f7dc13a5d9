"""Gaps: which chats may have missed messages, and since when.

Writes one small document. A gap is stored before anything later is heard, and removed only when all of it was read and
no new one began meanwhile, so neither a live message nor a crash loses it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import AwareDatetime, BaseModel, ValidationError

from bot.ports.collections import SingleDocument

OVERLAP = timedelta(seconds=60)
"""How much before the last message heard a hole begins: messages may arrive out of order, and what is silent is
noticed late. What is read twice counts once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """A hole in what was heard of one chat: everything after `since` may be missing."""

    chat_id: str
    since: datetime
    number: int
    """How often holes had been opened when this was read; one opened later keeps it open."""


class _Known(BaseModel):
    """What stands on disk: since when each chat is watched, where holes are open, how often any was opened."""

    watching_since: dict[str, AwareDatetime] = {}
    gaps: dict[str, AwareDatetime] = {}
    opened: int = 0


class Gaps:
    """The holes of all chats, as any thread of any replica opens them."""

    def __init__(self, stored: SingleDocument) -> None:
        self._stored = stored

    def open(
        self,
        heard: Mapping[str, datetime | None],
        *,
        watched: Collection[str],
        at: datetime,
        deaf_since: datetime | None = None,
    ) -> None:
        """Note that something may be missing in these chats; for each, when it was last heard of (None: never).

        `at` is now by the chat's clock, `deaf_since` when any chat was heard last.

        A hole that is open already stays as deep as it is. A watched chat has no history before the first start that
        watched it; where nothing is on record of any chat, all were watched when they were heard last.

        Raises:
            StoreError: it could not be written; nothing is noted, and nothing later may be heard.
        """
        start = at.replace(microsecond=0)  # never in the future: a clock that was ahead may have written that

        def opened(known: _Known) -> _Known:
            late = {chat_id: last - OVERLAP for chat_id, last in heard.items() if last is not None}
            since = known.watching_since or dict.fromkeys(watched, deaf_since or start) | late
            watching = {chat_id: min(since.get(chat_id, start), start) for chat_id in watched}
            begun = {chat_id: max(at, watching.get(chat_id, at)) for chat_id, at in (watching | late).items()}
            gaps = {chat_id: at for chat_id, at in begun.items() if chat_id in heard} | known.gaps
            return _Known(watching_since=watching, gaps=gaps, opened=known.opened + 1)

        self._change(opened)

    def pending(self) -> list[Gap]:
        """Return the open holes; raises StoreError."""
        known = _read(self._stored.read())
        return [Gap(chat_id=chat_id, since=since, number=known.opened) for chat_id, since in known.gaps.items()]

    def close(self, gap: Gap) -> None:
        """Forget a hole that was read to its end, unless one was opened meanwhile; raises StoreError."""

        def closed(known: _Known) -> _Known:
            if gap.number == known.opened:
                known.gaps.pop(gap.chat_id, None)
            return known

        self._change(closed)

    def _change(self, change: Callable[[_Known], _Known]) -> None:
        self._stored.change(lambda known: {**known, **change(_read(known)).model_dump(mode="json")})


def _read(known: Mapping[str, Any]) -> _Known:
    """Return what stands on disk; what cannot be read is begun anew, from what the journal knows of each chat."""
    try:
        return _Known.model_validate(known)
    except ValidationError:
        return _Known()
