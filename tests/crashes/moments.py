"""Moments at which the bot is killed, in words that fit any storage engine.

A moment names an operation of a port (tests/crashes/operations.py) or a call of the bot to the outside
(tests/crashes/outside.py): `put threads T1.C1.1 {…}`, `append events {…}`, `post C1 {…}`.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """Just before the `nth` operation that `pattern` matches from its start on, or just after it returned.

    With `effect` it is inside the operation: just before that many-th change of the disk, or round trip to a server.
    """

    pattern: str
    nth: int = 1
    after: bool = False
    effect: int | None = None

    def is_of(self, what: str) -> bool:
        """Return whether an operation is one that this moment counts."""
        return re.match(self.pattern, what, re.DOTALL) is not None

    def inside(self, effect: int) -> Moment:
        """Return the moment inside the same operation."""
        return replace(self, after=False, effect=effect)

    def as_argument(self) -> str:
        """Return what tests/crashes/victim.py takes on its command line."""
        return json.dumps(asdict(self))


def before(pattern: str, nth: int = 1) -> Moment:
    """Return the moment just before an operation."""
    return Moment(pattern=pattern, nth=nth)


def after(pattern: str, nth: int = 1) -> Moment:
    """Return the moment just after an operation."""
    return Moment(pattern=pattern, nth=nth, after=True)
