"""A click, a command or a submitted view that arrives on two connections is carried out once.

Slack gives each envelope to one connection; other servers, and a reconnect, may give it to both. Messages are not
counted here: the watcher knows them, and one that could not be stored has to come again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

REMEMBERED = 2_000


class Once:
    """Remembers what people did by its trigger id, else by its envelope."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._lock = threading.Lock()

    def is_new(self, kind: str, envelope_id: str, payload: object) -> bool:
        """Whether this is the first delivery; `kind` is the envelope's type. Events are always new."""
        if kind == "events_api":
            return True
        trigger = payload.get("trigger_id") if isinstance(payload, Mapping) else None
        key = (kind, trigger if isinstance(trigger, str) and trigger else envelope_id)
        with self._lock:
            if key in self._seen:
                return False
            self._seen[key] = None
            while len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
            return True
