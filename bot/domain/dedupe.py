"""Whether a finding was told already. Pure.

A message is a repeat when the same finding, or the same text, was sent to the same place within the window. Only a
confirmed send is stamped, so neither a failed send nor a suppressed repeat makes the silence longer. Of the text, case,
spacing, markup and the time of day make no difference; numbers do, for PR 12 is not PR 13.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict

_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[t ][0-9:.]{5,20}(?: ?utc|z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r"|\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?(?:am|pm|utc|z)\b)?"
    r"|\b[0-9]+ ?(?:s|sec|seconds?|m|min|minutes?|h|hours?|d|days?) ago\b"
)
_MARKUP: Final = re.compile(r"[*_`~>#|]+|[\s.!,;:…-]+(?=\s|$)")
_ID: Final = re.compile(r"[^\w.#-]+")
_MAX_ID_CHARS: Final = 80


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


class Dedupe(BaseModel):
    """When each finding and each text was last sent to each place; part of heartbeat_state.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stamps: Mapping[str, AwareDatetime] = {}

    def is_repeat(self, key: str, text: str, destination: str, now: datetime, window: timedelta) -> bool:
        """Whether this was sent to `destination` less than `window` ago; a stamp in the future proves nothing."""
        return any(_is_fresh(self.stamps.get(mark), now, window) for mark in _marks(key, text, destination))

    def stamped(self, key: str, text: str, destination: str, at: datetime) -> Self:
        """Return the stamps after a send that the receiving side confirmed."""
        return self.model_copy(update={"stamps": {**self.stamps, **dict.fromkeys(_marks(key, text, destination), at)}})

    def without(self, key: str, text: str) -> Self:
        """Return the stamps of everything else: what is gone and comes back is news."""
        gone = tuple(mark.split(" ", 1)[1] for mark in _marks(key, text, "-"))
        return self.model_copy(update={"stamps": {m: at for m, at in self.stamps.items() if not m.endswith(gone)}})

    def pruned(self, now: datetime, window: timedelta) -> Self:
        """Return the stamps without those that can make nothing a repeat any more."""
        fresh = {mark: at for mark, at in self.stamps.items() if _is_fresh(at, now, window)}
        return self.model_copy(update={"stamps": fresh})


def _marks(key: str, text: str, destination: str) -> tuple[str, str]:
    return f"{destination} finding {key}", f"{destination} text {fingerprint(text)}"


def _is_fresh(at: datetime | None, now: datetime, window: timedelta) -> bool:
    return at is not None and timedelta(0) <= now.astimezone(UTC) - at.astimezone(UTC) < window
