"""A finding on file, what a human is told of it, and whether it was told already. Pure values.

A finding is open from the beat that first reports it until a beat finds it gone or a human says it is fixed; its card
is updated in place as long as it is open.

A message is a repeat when its finding was sent to the same place within the window. Only a confirmed send is stamped,
so neither a failed send nor a suppressed repeat makes the silence longer. The stamps are the finding's own: when it is
closed or becomes more urgent, they are gone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Self

from pydantic import AwareDatetime

from bot.domain.frozen_value import FrozenValue
from bot.domain.heartbeats.beats import Wake
from bot.domain.severity import Severity, highest
from bot.domain.tiers import Tier

_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[t ][0-9:.,]{5,20}(?: ?utc|z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r"|\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?: ?(?:am|pm|utc|z)\b)?"
    r"|\b[0-9]+ ?(?:s|sec|seconds?|m|min|minutes?|h|hours?|d|days?) ago\b"
)
_MARKUP: Final = re.compile(r"[*_`~>#|]+|(?<![\s.!,;:…-])[\s.!,;:…-]+(?=\s|$)")  # the first look keeps it linear
_ID: Final = re.compile(r"[^\w.#-]+")
_MAX_ID_CHARS: Final = 80


FLAGS = "flags"
MESSAGE = "message"
RECEIPTS = "receipts"
ASSIGNMENTS = "assignments"
"""What was assigned and nobody looked into. No later beat can call that well: only a person can."""

HEADLINE_CHARS = 120
_USER: Final = re.compile(r"[UW][A-Z0-9]{2,20}")


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
    """Return the key of a finding: by the stable id from its receipt or the command that fails, else by its text.

    >>> finding_key("api", "1a2b3c4d", "Build is red.", "CI red"), finding_key("api", "1a2b3c4d", "Red build", "ci-red")
    ('api/1a2b3c4d/ci-red', 'api/1a2b3c4d/ci-red')
    """
    named = (finding or "").strip()
    stable = _ID.sub("-", named.casefold()).strip("-")
    return f"{session_id}/{task}/{stable if 0 < len(stable) <= _MAX_ID_CHARS else fingerprint(named or text)}"


SNOOZES: Final = {"1 h": timedelta(hours=1), "4 h": timedelta(hours=4), "24 h": timedelta(hours=24)}
"""What a finding can be snoozed for, by the words on the button."""

LONGEST_SNOOZE: Final = max(SNOOZES.values())

Place = tuple[str, str]
"""Where a message stands: a channel or chat, and the surface's own name for the message."""

KEPT_PLACES: Final = 50


class Posted(NamedTuple):
    """Where an alert stands: for whoever was told first, and the same for everybody else (`copies`)."""

    place: str
    reference: str
    copies: tuple[Place, ...] = ()

    @property
    def all(self) -> tuple[Place, ...]:
        """Every place it stands in."""
        return ((self.place, self.reference), *self.copies)


class Removal(FrozenValue):
    """That a check is made no more while something it found was open: nobody knows whether that is well."""

    at: AwareDatetime
    by: str = ""
    """A Slack user id, or who it was in words; empty where nobody knows."""
    is_file_gone: bool = False
    """Whether the whole HEARTBEAT.md was deleted."""
    is_refused: bool = False
    """Whether the check stands there still, and its command was taken off `commands`."""


class OpenFinding(FrozenValue):
    """Something a beat reported, and what became of it.

    `key` is `<session>/<task>/<id>`; `task` is the id of the check (`playbook_entries.checks_of`); `place` and
    `reference` say where its alert stands (a channel and a Slack ts).
    `is_listed`: there it is one line of a list. `reasoning` and `notes` are the small print under its alert.
    """

    key: str
    task: str
    text: str
    severity: Severity = Severity.ACT
    first_at: AwareDatetime
    last_at: AwareDatetime
    place: str | None = None
    reference: str | None = None
    is_listed: bool = False
    copies: tuple[Place, ...] = ()
    """Where else its alert stands: with the others of a group, and with `then`."""
    earlier: tuple[Place, ...] = ()
    """Where it stood before it was sent anew, the newest last; at most `KEPT_PLACES`."""
    stamps: Mapping[str, AwareDatetime] = {}
    """When it was last sent, by destination; empty once it is more urgent than what was sent."""
    rung_at: AwareDatetime | None = None
    """When it last rang again because nobody acknowledged it."""
    rings: int = 0
    """How often it rang again."""
    escalated_at: AwareDatetime | None = None
    """When `then` was told."""
    waits_since: AwareDatetime | None = None
    """From when `then` counts, where it is not `first_at`: it became a page, came back, or was put off until then."""
    reasoning: str | None = None
    notes: tuple[str, ...] = ()
    sent_at: AwareDatetime | None = None
    acknowledged_by: str | None = None
    investigated_by: str | None = None
    """Who had it looked into, in a thread of the ops channel."""
    snoozed_until: AwareDatetime | None = None
    fixed_by: str | None = None
    fixed_at: AwareDatetime | None = None
    resolved_at: AwareDatetime | None = None
    is_unshown: bool = False
    """Whether it was closed and its card does not say so yet; the next beat shows it."""
    removed: Removal | None = None
    """Set while its check stands in the playbook no more; put back, the check goes on with what was remembered."""

    @property
    def posted(self) -> Posted | None:
        """Where its alert stands; None where it was never sent."""
        return Posted(self.place, self.reference, self.copies) if self.place and self.reference else None

    def waiting_anew(self, since: datetime) -> Self:
        """Return it as it waits from a moment on for somebody to have it: as if it had not rung before."""
        return self.evolve(waits_since=since, rings=0, rung_at=None)

    def is_at(self, place: str, reference: str) -> bool:
        """Whether its alert, or one that was sent before it, stands there."""
        return (place, reference) in (*(self.posted.all if self.posted else ()), *self.earlier)

    def to_ring_anew(self) -> Self:
        """Return it as it is sent anew: its snooze is over, and a list is nobody's earlier card."""
        before = {"place": None, "reference": None} if self.is_listed else {}
        return self.evolve(snoozed_until=None, **before)

    def standing_at(self, posted: Posted, *, is_listed: bool = False) -> Self:
        """Return it with a new alert; what was posted before in other places stands there still."""
        channels = {place for place, _ in posted.all}
        others = tuple(copy for copy in self.copies if copy[0] not in channels)
        gone = [each for each in (self.posted.all if self.posted else ()) if each not in (*posted.all, *others)]
        return self.evolve(
            place=posted.place,
            reference=posted.reference,
            is_listed=is_listed,
            copies=(*posted.copies, *others),
            earlier=(*self.earlier, *gone)[-KEPT_PLACES:],
        )

    def also_at(self, posted: Posted) -> Self:
        """Return it with copies of its alert for others."""
        return self.evolve(copies=tuple(dict.fromkeys((*self.copies, *posted.all))))

    def is_snoozed(self, at: datetime) -> bool:
        """Whether it is silenced at a moment; until a time further off than any we set is a wrong clock's."""
        return self.snoozed_until is not None and timedelta() < self.snoozed_until - at <= LONGEST_SNOOZE

    def waits(self, at: datetime) -> bool:
        """Whether nobody has it yet: it is open, neither acknowledged nor snoozed."""
        return self.is_open and not self.acknowledged_by and not self.is_snoozed(at)

    def was_sent(self, destination: str, now: datetime, window: timedelta) -> bool:
        """Whether it was sent there less than `window` ago; a stamp in the future proves nothing."""
        at = self.stamps.get(destination)
        return at is not None and timedelta() <= now - at < window

    def was_closed_after(self, at: datetime) -> bool:
        """Whether a person or a beat closed it since a moment."""
        return any(closed is not None and closed > at for closed in (self.fixed_at, self.resolved_at))

    @property
    def name(self) -> str:
        """Its id as receipts give it."""
        return self.key.rpartition("/")[2]

    @property
    def is_open(self) -> bool:
        """Whether nobody has said it is fixed, no beat found it gone and its check is still made."""
        return self.is_remembered and self.removed is None

    @property
    def is_remembered(self) -> bool:
        """Whether it counts as soon as its check finds it: open, or closed only because the check was removed."""
        return self.resolved_at is None and self.fixed_by is None


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

    @property
    def findings(self) -> tuple[OpenFinding, ...]:
        """What it is about."""
        return (self.finding,) if self.finding else self.listed

    @property
    def severity(self) -> Severity | None:
        """How urgent it is: of a list, its most urgent open finding; None where nothing is open."""
        still = [each.severity for each in self.findings if each.is_open]
        return highest(still) if still else None

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
    what = "its command was taken off `commands`" if removed.is_refused else what
    name = f"<@{removed.by}>" if _USER.fullmatch(removed.by) else removed.by
    return f"{what}{f' by {name}' if name else ''}; last result: failing"


def finding_digest(key: str) -> str:
    """Return the short name of a finding that fits a button's value.

    >>> finding_digest("shop/ci/main-red") == finding_digest("shop/ci/main-red"), len(finding_digest("x"))
    (True, 16)
    """
    return hashlib.sha256(key.encode()).hexdigest()[:16]
