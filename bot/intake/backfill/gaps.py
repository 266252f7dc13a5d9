"""Which chats have a hole in what was heard of them, and where each hole begins.

Writes one small document. A hole is on disk before anything later is heard, and leaves it only when all of it was read
while no new one began; so neither a live message nor a crash makes it forgotten.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
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
    """The holes of all chats; any thread may open one."""

    def __init__(self, stored: SingleDocument) -> None:
        self._stored = stored
        document = stored.read()
        self._since = _times(document.get("gaps"))
        self._watching = _times(document.get("watching_since"))
        self._lock = threading.Lock()
        self._number = 0

    def open(self, chats: Iterable[tuple[str, datetime | None]], *, watched: Iterable[str], at: datetime) -> None:
        """Note that something may be missing in these chats; for each, when it was last heard of (None: never).

        `at` is now by the chat's clock.

        A hole that is open already stays as deep as it is. A watched chat has no history before the first start that
        watched it.

        Raises:
            StoreError: it could not be written; nothing is noted, and nothing later may be heard.
        """
        with self._lock:
            start = at.replace(microsecond=0)  # never in the future: a clock that was ahead may have written that
            watching = {chat_id: min(self._watching.get(chat_id, start), start) for chat_id in watched}
            since = dict(self._since)
            for chat_id, last in chats:
                begin = _begin(last, watching.get(chat_id))
                if begin is not None:
                    since.setdefault(chat_id, begin)
            self._number += 1
            self._save(since, watching)

    def pending(self) -> list[Gap]:
        """Return the open holes."""
        with self._lock:
            return [Gap(chat_id=chat, since=since, number=self._number) for chat, since in self._since.items()]

    def close(self, gap: Gap) -> bool:
        """Forget a hole that was read to its end, unless one was opened meanwhile; raises StoreError."""
        with self._lock:
            if gap.number != self._number:
                return False
            self._save({chat: since for chat, since in self._since.items() if chat != gap.chat_id}, self._watching)
            return True

    def _save(self, since: dict[str, datetime], watching: dict[str, datetime]) -> None:
        if (since, watching) != (self._since, self._watching):
            self._stored.update({"watching_since": _texts(watching), "gaps": _texts(since)})
        self._since, self._watching = since, watching


def _begin(last: datetime | None, start: datetime | None) -> datetime | None:
    """Return where a hole begins: a little before what was heard last, and not before the watching began."""
    return max(filter(None, (last - OVERLAP if last else None, start)), default=None)


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
