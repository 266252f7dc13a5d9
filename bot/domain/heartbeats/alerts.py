"""A finding on file, what becomes of it at a beat, and what a human is told of it. Pure.

A finding is open from the beat that first reports it until a beat finds it gone, its check is taken out, or a human
says it is fixed. Only a confirmed send is stamped, so neither a failed send nor a suppressed repeat makes the silence
longer; the stamps are the finding's own: when it is closed or becomes more urgent, they are gone.
"""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Final, Self

from pydantic import AwareDatetime, Field

from bot.domain.alerts import Severity, highest
from bot.domain.frozen_value import FrozenValue
from bot.domain.heartbeats.beats import Finding
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

REASONING_CHARS = 1_500
NOTES, NOTE_CHARS = 10, 900
"""What is kept of the small print, so that a card can be drawn again as it was."""

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
"""Where a message stands: a channel or chat (of a webhook `webhook`), and the surface's own name for the message."""

KEPT_PLACES: Final = 50

CLOSING: Final = timedelta(minutes=2)
"""So long whoever claimed the line that says how findings ended has time to say it, Slack's pace included."""


class Removal(FrozenValue):
    """That a check is made no more while something it found was open: nobody knows whether that is well."""

    at: AwareDatetime
    by: str = ""
    """A Slack user id, or who it was in words; empty where nobody knows."""
    what: str = "its check was removed"
    """What was done, as it is told."""


class OpenFinding(Finding):
    """Something a beat reported, and what became of it.

    `place` and `reference` say where its alert stands (a channel and a Slack ts).
    `is_listed`: there it is one line of a list. `reasoning` and `notes` are the small print under its alert.
    """

    tier: Tier | None = None
    """What the beat looked at that found it first; None: an earlier version's, or no beat of a tier's."""
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
    """Whether it was closed, or somebody clicked, and its card does not say so yet."""
    closing_since: Annotated[AwareDatetime | None, Field(exclude_if=operator.not_)] = None
    """Since when somebody is about to say below its card how it ended; who dies meanwhile has it for `CLOSING`."""
    removed: Removal | None = None
    """Set where its check was taken out of the playbook; what that finds once it is put back is a new finding."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Where its alert stands now, that of whoever was told first in front; nothing where it was never sent."""
        first = ((self.place, self.reference),) if self.place and self.reference else ()
        return (*first, *self.copies)

    def waiting_anew(self, since: datetime) -> Self:
        """Return it as it waits from a moment on for somebody to have it: as if it had not rung before."""
        return self.evolve(waits_since=since, rings=0, rung_at=None)

    def to_ring_anew(self) -> Self:
        """Return it as it is sent anew: its snooze is over, and a list is nobody's earlier card."""
        before = {"place": None, "reference": None, "copies": ()} if self.is_listed else {}
        return self.evolve(snoozed_until=None, **before)

    def stamped(self, destination: str, at: datetime) -> Self:
        """Return it as it was sent just now: its snooze is over, unless it was snoozed meanwhile."""
        stamps = {**self.stamps, destination: at} if self.is_open else self.stamps
        return self.evolve(stamps=stamps, snoozed_until=self.snoozed_until if self.is_snoozed(at) else None)

    def standing_at(self, places: Sequence[Place], *, is_listed: bool = False) -> Self:
        """Return it with a new alert; what was posted before in other places stands there still.

        One that has an alert of its own when it is put on a list goes on being shown there.
        """
        if is_listed and self.places and not self.is_listed:
            return self
        (place, reference), *copies = places
        channels = {channel for channel, _ in places}
        others = [copy for copy in self.copies if copy[0] not in channels]
        gone = [each for each in self.places if each not in (*places, *others)]
        return self.evolve(
            place=place,
            reference=reference,
            is_listed=is_listed,
            copies=(*copies, *others),
            earlier=(*self.earlier, *gone)[-KEPT_PLACES:],
        )

    def also_at(self, places: Sequence[Place]) -> Self:
        """Return it with copies of its alert for others."""
        return self.evolve(copies=tuple(dict.fromkeys((*self.copies, *places))))

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
    def is_ending_unsaid(self) -> bool:
        """Whether a beat closed it, and nothing below its card says so yet."""
        return self.is_unshown and (self.resolved_at is not None or self.removed is not None)

    def is_claimed(self, at: datetime) -> bool:
        """Whether somebody is saying how it ended; a claim in the future is that of a clock that was put back."""
        return self.closing_since is not None and timedelta() <= at - self.closing_since < CLOSING

    @property
    def name(self) -> str:
        """Its id as receipts give it."""
        return self.key.rpartition("/")[2]

    @property
    def is_open(self) -> bool:
        """Whether nobody has said it is fixed, no beat found it gone and its check is still made."""
        return self.resolved_at is None and self.fixed_by is None and self.removed is None


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatOutcome:
    """What a beat has to tell.

    `findings` is what it sees now; of the checks and finding keys in `checked` everything else that was open is
    gone. `standing` are the checks that are still made: what is open of any other is closed without a word that all is
    well. `removals` says who took which check out; a finding whose key stands there is closed, too. `what_else`
    happened to those of which it says nothing. `tier` is what the beat looked at (None: nothing). `ok_text` is said
    where the session asks to hear that all is well.
    """

    findings: tuple[Finding, ...]
    checked: frozenset[str]
    standing: frozenset[str]
    at: datetime
    tier: Tier | None
    ok_text: str = ""
    reasoning: str | None = None
    notes: tuple[str, ...] = ()
    removals: Mapping[str, Removal] = field(default_factory=dict)
    what_else: str = "its check was removed"

    def seen(self, known: Mapping[str, OpenFinding]) -> list[OpenFinding]:
        """Return what it sees as that stands then, given what is on file by key.

        What somebody closed after it began to look is left to the next beat, which looks again.
        """
        closed = {each.key for each in known.values() if each.was_closed_after(self.at)}
        return [self._as_seen(found, known.get(found.key)) for found in self.findings if found.key not in closed]

    def ended(self, known: Mapping[str, OpenFinding]) -> list[OpenFinding]:
        """Return what it closes: gone from a check that was made, or without it; that forgets its stamps."""
        now, ended = {found.key for found in self.findings}, list[OpenFinding]()
        for each in known.values():
            if not each.is_open or each.key in now:
                continue
            closed, why = each.evolve(stamps={}, is_unshown=bool(each.places)), self._removal_of(each)
            if not self.checked.isdisjoint((each.task, each.key)):
                ended.append(closed.evolve(resolved_at=self.at, snoozed_until=None))
            elif why is not None:
                ended.append(closed.evolve(removed=why))
        return ended

    def _removal_of(self, finding: OpenFinding) -> Removal | None:
        """Return what became of a finding's check, or None where it is still made."""
        if finding.task in self.standing:
            return self.removals.get(finding.key)
        return self.removals.get(finding.task) or Removal(at=self.at, what=self.what_else)

    def _as_seen(self, found: Finding, known: OpenFinding | None) -> OpenFinding:
        """Return a finding as it stands now; one that was closed begins anew.

        One that became more urgent is nobody's yet, and rings; it waits anew. A beat with nothing to add leaves the
        small print of an earlier one.
        """
        at = self.at
        if known is None or not known.is_open:
            said = found.model_dump(include=set(Finding.model_fields))
            known = OpenFinding(**said, tier=self.tier, first_at=at, last_at=at)
        elif found.severity.rank < known.severity.rank:
            known = known.waiting_anew(at).evolve(
                severity=found.severity, acknowledged_by=None, snoozed_until=None, stamps={}
            )
        notes = tuple(note[:NOTE_CHARS] for note in self.notes[:NOTES])
        return known.evolve(
            text=found.text,
            notes=notes or known.notes,
            reasoning=(self.reasoning or "")[:REASONING_CHARS] or known.reasoning,
            last_at=max(at, known.last_at),
        )


def endings_to_say(card: Sequence[OpenFinding], at: datetime) -> list[OpenFinding]:
    """Return the findings of a card whose end can be claimed now, to be said in one line.

    What somebody claimed together and left unsaid is claimed together again: so the line is found if it stands there.
    """
    free = [each for each in card if each.is_ending_unsaid and not each.is_claimed(at)]
    left = min((each.closing_since for each in free if each.closing_since is not None), default=None)
    return [each for each in free if each.closing_since == left]


class Alert(FrozenValue):
    """One thing to tell: a finding as it stands now, a list of findings (`listed`), or a plain line.

    `text` is Markdown; `notes` are remarks about the beat itself; `reasoning` stands under the text when asked for.
    """

    session_id: str
    session_name: str
    text: str
    finding: OpenFinding | None = None
    listed: tuple[OpenFinding, ...] = ()
    is_well: bool = False
    """Whether it says that all is well: of no finding, and of nothing that is wrong with the beats."""
    reasoning: str | None = None
    notes: tuple[str, ...] = ()
    at: AwareDatetime

    @property
    def findings(self) -> tuple[OpenFinding, ...]:
        """What it is about."""
        return (self.finding,) if self.finding else self.listed

    @property
    def severity(self) -> Severity | None:
        """How urgent it is: of a list, its most urgent open finding; None where nothing is open."""
        still = [each.severity for each in self.findings if each.is_open]
        return highest(still) if still else None


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
    name = f"<@{removed.by}>" if _USER.fullmatch(removed.by) else removed.by
    return f"{removed.what}{f' by {name}' if name else ''}; last result: failing"


def finding_digest(key: str) -> str:
    """Return the short name of a finding that fits a button's value.

    >>> finding_digest("shop/ci/main-red") == finding_digest("shop/ci/main-red"), len(finding_digest("x"))
    (True, 16)
    """
    return hashlib.sha256(key.encode()).hexdigest()[:16]
