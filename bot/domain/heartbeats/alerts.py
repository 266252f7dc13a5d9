"""What a beat tells a human, whatever the surface it is told on. Pure values."""

from __future__ import annotations

import hashlib
import re
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime

from bot.domain.frozen_value import FrozenValue
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import OpenFinding, Removal
from bot.domain.severity import Severity, highest
from bot.domain.tiers import Tier

HEADLINE_CHARS = 120
_USER: Final = re.compile(r"[UW][A-Z0-9]{2,20}")


class Alert(FrozenValue):
    """One thing to tell: a finding as it stands now, a list of findings (`listed`), or a plain line.

    `text` is Markdown; `notes` are remarks about the beat itself; `reasoning` stands under the text when asked for.
    """

    session_id: str
    session_name: str
    text: str
    finding: OpenFinding | None = None
    listed: tuple[OpenFinding, ...] = ()
    reasoning: str | None = None
    notes: tuple[str, ...] = ()
    at: AwareDatetime
    wake: Wake
    tier: Tier | None = None
    zone: str = "UTC"
    """IANA name of the zone whose day "today" is: the reader's, or the session's."""

    @property
    def severity(self) -> Severity | None:
        """How urgent it is: of a list, its most urgent open finding; None where nothing is open."""
        about = (self.finding,) if self.finding else self.listed
        still = [each.severity for each in about if each.is_open]
        return highest(still) if still else None

    @property
    def times_today(self) -> int:
        """How often its finding was opened today."""
        return self.finding.times_on_day_of(self.at, ZoneInfo(self.zone)) if self.finding else 0

    @property
    def headline(self) -> str:
        """The first line of the text, cut to 120 characters."""
        return headline_of(self.text)


def headline_of(text: str) -> str:
    """Return the first line of a text, cut to 120 characters.

    >>> headline_of("\\n Main is red. \\nSince noon.")
    'Main is red.'
    """
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first if len(first) <= HEADLINE_CHARS else first[: HEADLINE_CHARS - 1].rstrip() + "…"


def removal_words(removed: Removal) -> str:
    """Return why a finding was closed whose check is not made any more; its last result was no good one.

    >>> from datetime import UTC, datetime
    >>> removal_words(Removal(at=datetime(2026, 3, 1, tzinfo=UTC), by="U0ANA"))
    'its check was removed by <@U0ANA>; last result: failing'
    """
    what = "HEARTBEAT.md was deleted" if removed.is_file_gone else "its check was removed"
    name = f"<@{removed.by}>" if _USER.fullmatch(removed.by) else removed.by
    return f"{what}{f' by {name}' if name else ''}; last result: failing"


class Posted(NamedTuple):
    """Where an alert stands: the place (a channel, a chat) and the surface's own name for the message.

    `copies` are the same for everybody else who was told.
    """

    place: str
    reference: str
    copies: tuple[tuple[str, str], ...] = ()

    @property
    def channels(self) -> frozenset[str]:
        """Every place it stands in."""
        return frozenset({self.place, *(place for place, _ in self.copies)})


def finding_digest(key: str) -> str:
    """Return the short name of a finding that fits a button's value.

    >>> finding_digest("shop/ci/main-red") == finding_digest("shop/ci/main-red"), len(finding_digest("x"))
    (True, 16)
    """
    return hashlib.sha256(key.encode()).hexdigest()[:16]
