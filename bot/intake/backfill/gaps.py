"""Gaps: which chats may have missed messages, and since when.

Writes one small document. A gap is stored before anything later is heard, and removed only when all of it was read and
no new one began meanwhile, so neither a live message nor a crash loses it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

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


class Gaps:
    """The holes of all chats, as any thread of any replica opens them."""

    def __init__(self, stored: SingleDocument) -> None:
        self._stored = stored

    def open(self, heard: Mapping[str, datetime | None], *, watched: Collection[str], at: datetime) -> None:
        """Note that something may be missing in these chats; for each, when it was last heard of (None: never).

        `at` is now by the chat's clock.

        A hole that is open already stays as deep as it is. A watched chat has no history before the first start that
        watched it.

        Raises:
            StoreError: it could not be written; nothing is noted, and nothing later may be heard.
        """
        start = at.replace(microsecond=0)  # never in the future: a clock that was ahead may have written that

        def opened(known: Mapping[str, Any]) -> Mapping[str, Any]:
            before = _times(known.get("watching_since"))
            watching = {chat_id: min(before.get(chat_id, start), start) for chat_id in watched}
            late = {chat_id: last - OVERLAP for chat_id, last in heard.items() if last is not None}
            begun = {chat_id: max(at, watching.get(chat_id, at)) for chat_id, at in (watching | late).items()}
            gaps = {chat_id: at for chat_id, at in begun.items() if chat_id in heard} | _times(known.get("gaps"))
            number = _number(known) + 1
            return {**known, "watching_since": _texts(watching), "gaps": _texts(gaps), "opened": number}

        self._stored.change(opened)

    def pending(self) -> list[Gap]:
        """Return the open holes; raises StoreError."""
        known = self._stored.read()
        return [
            Gap(chat_id=chat, since=since, number=_number(known)) for chat, since in _times(known.get("gaps")).items()
        ]

    def close(self, gap: Gap) -> None:
        """Forget a hole that was read to its end, unless one was opened meanwhile; raises StoreError."""

        def closed(known: Mapping[str, Any]) -> Mapping[str, Any]:
            gaps = _times(known.get("gaps"))
            if gap.number == _number(known):
                gaps.pop(gap.chat_id, None)
            return {**known, "gaps": _texts(gaps)}

        self._stored.change(closed)


def _number(known: Mapping[str, Any]) -> int:
    """Return how often holes had been opened."""
    number = known.get("opened")
    return number if isinstance(number, int) else 0


def _times(found: Any) -> dict[str, datetime]:
    """Return the times of a document; what is none is left out, and costs that chat its history at most."""
    times = {}
    for chat_id, text in found.items() if isinstance(found, dict) else ():
        try:
            at = datetime.fromisoformat(text)
        except (TypeError, ValueError):
            continue
        if at.tzinfo is not None:
            times[chat_id] = at
    return times


def _texts(times: dict[str, datetime]) -> dict[str, str]:
    return {chat_id: at.isoformat() for chat_id, at in times.items()}
