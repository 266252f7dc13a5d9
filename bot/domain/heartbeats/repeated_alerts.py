"""Whether a finding was told already. Pure.

A message is a repeat when the same finding, or the same text, was sent to the same place within the window. Only a
confirmed send is stamped, so neither a failed send nor a suppressed repeat makes the silence longer. Every stamp names
its finding: when that is closed, all it ever sent is forgotten, in whatever words. Of the text, case, spacing, markup
and the time of day make no difference; numbers do, for PR 12 is not PR 13.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from pydantic import AwareDatetime

from bot.domain.frozen_value import FrozenValue

_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[t ][0-9:.]{5,20}(?: ?utc|z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r"|\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?(?:am|pm|utc|z)\b)?"
    r"|\b[0-9]+ ?(?:s|sec|seconds?|m|min|minutes?|h|hours?|d|days?) ago\b"
)
_MARKUP: Final = re.compile(r"[*_`~>#|]+|[\s.!,;:…-]+(?=\s|$)")
_ID: Final = re.compile(r"[^\w.#-]+")
_MAX_ID_CHARS: Final = 80


FLAGS = "flags"
MESSAGE = "message"
EVENT = "event-"
"""Begins the id of what happened once, as against a state that lasts: no later beat can find it gone."""
RECEIPTS = "receipts"
ASSIGNMENTS = "assignments"
"""What was assigned and nobody looked into. No later beat can call that well: only a person can."""


def normalised(text: str) -> str:
    """Return what two wordings of the same text have in common.

    >>> normalised("*Build is RED*  since 2026-03-01T12:00:00Z!") == normalised("build is red since 12:30")
    True
    """
    timeless = _TIME.sub(" ", text.casefold())
    return " ".join(_MARKUP.sub(" ", timeless).split())


def fingerprint(text: str) -> str:
    """Return a short hash of the normalised text."""
    return hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def finding_key(session_id: str, task: str, text: str, finding: str | None = None) -> str:
    """Return the key of a finding: by the stable id from its receipt, else by what its text says.

    >>> finding_key("api", "1a2b3c4d", "Build is red.", "CI red"), finding_key("api", "1a2b3c4d", "Red build", "ci-red")
    ('api/1a2b3c4d/ci-red', 'api/1a2b3c4d/ci-red')
    """
    named = (finding or "").strip()
    stable = _ID.sub("-", named.casefold()).strip("-")
    return f"{session_id}/{task}/{stable if 0 < len(stable) <= _MAX_ID_CHARS else fingerprint(named or text)}"


def rekeyed(key: str, task: str) -> str:
    """Return the key of the same finding under another task.

    >>> rekeyed("api/1a2b3c4d/ci-red", "99887766")
    'api/99887766/ci-red'
    """
    session_id, _, rest = key.partition("/")
    return f"{session_id}/{task}/{rest.rpartition('/')[2]}"


class DuplicateCheck(FrozenValue):
    """When each finding and each text was last sent to each place; part of heartbeat_state.json."""

    stamps: Mapping[str, AwareDatetime] = {}

    def is_repeat(self, key: str, text: str, destination: str, now: datetime, window: timedelta) -> bool:
        """Whether this was sent to `destination` less than `window` ago; a stamp in the future proves nothing."""
        if _is_fresh(self.stamps.get(_key_mark(key, destination)), now, window):
            return True
        same_text = _text_mark("", text, destination)
        return any(_is_fresh(at, now, window) for mark, at in self.stamps.items() if mark.startswith(same_text))

    def stamped(self, key: str, text: str, destination: str, at: datetime) -> Self:
        """Return the stamps after a send that the receiving side confirmed."""
        marks = (_key_mark(key, destination), _text_mark(key, text, destination))
        return self.model_copy(update={"stamps": {**self.stamps, **dict.fromkeys(marks, at)}})

    def without(self, *keys: str) -> Self:
        """Return the stamps of other findings: what is gone and comes back is news, in whatever words it was said."""
        gone = tuple(f" {key}" for key in keys)
        if not gone:
            return self
        return self.model_copy(update={"stamps": {m: at for m, at in self.stamps.items() if not m.endswith(gone)}})

    def renamed(self, old: str, new: str) -> Self:
        """Return the stamps with those of the finding `old` under its new key."""
        moved = {
            f"{m.removesuffix(f' {old}')} {new}" if m.endswith(f" {old}") else m: at for m, at in self.stamps.items()
        }
        return self.model_copy(update={"stamps": moved})

    def pruned(self, now: datetime, window: timedelta) -> Self:
        """Return the stamps without those that can make nothing a repeat any more."""
        fresh = {mark: at for mark, at in self.stamps.items() if _is_fresh(at, now, window)}
        return self.model_copy(update={"stamps": fresh})


def _key_mark(key: str, destination: str) -> str:
    return f"{destination} finding {key}"


def _text_mark(key: str, text: str, destination: str) -> str:
    """Return the mark of a text a finding was sent with; stamps of older versions name no finding and count no more."""
    return f"{destination} text {fingerprint(text)} {key}"


def _is_fresh(at: datetime | None, now: datetime, window: timedelta) -> bool:
    return at is not None and timedelta(0) <= now.astimezone(UTC) - at.astimezone(UTC) < window
