"""What is remembered of a session: heartbeat_state.json, and what people switched by command. Pure values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from pydantic import AwareDatetime, Field, model_validator

from bot.domain.frozen_value import WITHOUT_UNDERSCORE, FrozenValue
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import Delivered, RunCheckpoint
from bot.domain.intervals import WrittenInterval
from bot.domain.text.humanize import utc_text
from bot.domain.tiers import TaskHistory
from bot.errors import InputError

KEPT_FINDINGS: Final = 200
"""How many closed findings are kept."""
KEPT_OPEN_FINDINGS: Final = 2_000
SESSION_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")

PAUSE_AFTER: Final = 5
FIRST_PAUSE: Final = timedelta(minutes=30)
LONGEST_PAUSE: Final = timedelta(hours=24)
_TOLD_AT: Final = "_told_at"
_OUTAGES: Final = frozenset({"Unavailable", "Unconfirmed"})
"""Kinds of failures that end by themselves, when a service can be reached again."""


class ChangedBy(FrozenValue):
    """Who set something, and when; `name` is what people read."""

    id: str
    name: str
    at: AwareDatetime


class EnabledOverride(FrozenValue):
    """That somebody switched a heartbeat on or off by command."""

    value: bool
    by: ChangedBy


class EveryOverride(FrozenValue):
    """The interval that somebody set by command."""

    value: WrittenInterval
    by: ChangedBy


class SessionOverride(FrozenValue):
    """What stands over one session's settings; None: triage.yml decides."""

    enabled: EnabledOverride | None = None
    every: EveryOverride | None = None


class MessageKind(StrEnum):
    """Why a session is written to."""

    REPORT = "report"
    SUGGESTION = "suggestion"
    ASSIGNMENT = "assignment"


class InboxMessage(FrozenValue):
    """One line of a session's inbox.ndjson."""

    at: AwareDatetime
    from_: str
    to: str
    kind: MessageKind
    text: str
    data: dict[str, Any] = {}

    model_config = WITHOUT_UNDERSCORE


class Failures(FrozenValue):
    """Failures of one kind in a row; until `paused_until` only a person's wake runs.

    Five of one kind pause a session; each try that fails again doubles the pause, up to a day, but of an outage.
    """

    kind: str = ""
    """The code that `failure_kind` in bot/errors.py gives."""
    key: str = ""
    """The text of the latest failure."""
    count: int = 0
    paused_until: AwareDatetime | None = None
    told: bool = False
    """Whether the owner was told of the pause."""

    def and_another(self, kind: str, text: str, now: datetime) -> Failures:
        """Return them with one more; `kind` is a code (`failure_kind`), `text` what people are told of it.

        Another kind starts to count anew. An outage ends by itself, so it never pauses long.
        """
        before = self if self.kind == kind else Failures()
        more = before.count + 1 - PAUSE_AFTER
        doublings = 0 if kind.partition(":")[0] in _OUTAGES else min(max(more, 0), 16)
        until = now + min(FIRST_PAUSE * (1 << doublings), LONGEST_PAUSE)
        return before.evolve(kind=kind, key=text, count=before.count + 1, paused_until=until if more >= 0 else None)

    def pause_at(self, now: datetime) -> datetime | None:
        """Return until when the session pauses, if it still does; a time further off than any we set is no pause.

        >>> from datetime import UTC
        >>> now = datetime(2026, 3, 1, tzinfo=UTC)
        >>> [bool(Failures(paused_until=now + timedelta(hours=h)).pause_at(now)) for h in (0, 24, 25)]
        [False, True, False]
        """
        until = self.paused_until
        return until if until is not None and timedelta() < until - now <= LONGEST_PAUSE else None

    @property
    def is_untold(self) -> bool:
        """Whether the owner has to be told of the pause, which happens once; who could not be told is told later."""
        return self.count >= PAUSE_AFTER and not self.told

    @property
    def notice(self) -> str:
        """What the owner is told of the pause."""
        until = f" until {utc_text(self.paused_until)}" if self.paused_until else ""
        return f"The heartbeat failed {self.count} times in a row and pauses{until}: {self.key}"


class SpentToday(FrozenValue):
    """What the session's model calls have cost on one day (UTC, `2026-11-21`)."""

    day: str = ""
    usd: float = 0.0

    def on(self, now: datetime) -> float:
        """Return what was spent on the UTC day of `now`.

        >>> from datetime import UTC
        >>> [SpentToday(day="2026-11-21", usd=0.5).on(datetime(2026, 11, day, 9, tzinfo=UTC)) for day in (21, 22)]
        [0.5, 0.0]
        """
        return self.usd if self.day == now.date().isoformat() else 0.0


class SessionState(FrozenValue):
    """Everything remembered of one session; a missing file is the default of every field."""

    last_slot: AwareDatetime | None = None
    """The newest slot that was queued or refused; None: the session is new."""
    every_s: int | None = None
    """The interval under which `last_slot` was counted, in seconds."""
    answered_at: AwareDatetime | None = None
    """When a due slot was last refused for a reason, or the session first seen; what came before was not missed."""
    last_run: AwareDatetime | None = None
    last_sent: AwareDatetime | None = None
    last_place: Delivered | None = None
    """Where the owner last acted or was last reached: a private place."""
    last_owner: str = ""
    """Whose place that is: an owner who comes after them is not told there."""
    stamps: dict[str, AwareDatetime] = {}
    """A copy of the playbook's stamps, by tier, for a playbook without a Timestamps section."""
    probes: dict[str, str] = {}
    """The hash of each command's output in the last good beat."""
    had_playbook: bool = False
    """Whether a beat has read the HEARTBEAT.md: one that is missing from then on was deleted."""
    playbook_gone_told: bool = False
    """Whether the owner was told that it was deleted."""
    measured: dict[str, TaskHistory] = {}
    """What the last good beats measured of each task, by its id."""
    findings: dict[str, OpenFinding] = {}
    keyed_by_command: bool = False
    """Whether the keys of earlier versions were carried over."""
    paid: RunCheckpoint | None = None
    """A full run that is over, of a beat that is not on record yet."""
    failures: Failures = Field(default_factory=Failures)
    bare_tokens: int = 0
    """How many full runs in a row ended in the bare token instead of `finish_beat`; three are an alert."""
    spent: SpentToday = Field(default_factory=SpentToday)
    inbox_read: int = 0
    """How many of the inbox's messages a beat has dealt with."""
    report_awaited_since: AwareDatetime | None = None
    """The last daily report to the master session, or its first look for one."""
    told: dict[str, AwareDatetime] = {}
    """When the owner was told of what breaks the session, by the kind of fault; forgotten once it is whole."""

    @model_validator(mode="before")
    @classmethod
    def _with_faults(cls, stored: Any) -> Any:
        """Read what earlier releases kept in a field for each kind of fault, such as `tracked_told_at`."""
        if not isinstance(stored, dict):
            return stored
        old = {name for name in stored if name.endswith(_TOLD_AT)}
        told = {name.removesuffix(_TOLD_AT): stored[name] for name in old if stored[name] is not None}
        return {"told": told, **{name: value for name, value in stored.items() if name not in old}}

    @property
    def last_answer(self) -> datetime | None:
        """When a beat last ran or was refused for a reason."""
        return max(filter(None, (self.last_run, self.answered_at)), default=None)

    def with_findings(self, *findings: OpenFinding) -> Self:
        """Return the state with these findings as they stand; only the newest are kept, of open ones very many."""
        known = {**self.findings, **{finding.key: finding for finding in findings}}
        by_age = sorted(known.values(), key=lambda each: each.last_at)
        newest = [
            *[each for each in by_age if not each.is_open][-KEPT_FINDINGS:],
            *[each for each in by_age if each.is_open][-KEPT_OPEN_FINDINGS:],
        ]
        return self.evolve(findings={each.key: each for each in newest})

    def with_shown(self, keys: Iterable[str]) -> Self:
        """Return the state where the alerts of these findings say how they stand."""
        known = (self.findings[key] for key in keys if key in self.findings)
        return self.with_findings(*(each.evolve(is_unshown=False, closing_since=None) for each in known))

    def comparing(self, commands: Collection[str]) -> Self:
        """Return the state with the outputs of these commands only; those of others are compared with no more."""
        return self.evolve(probes={name: digest for name, digest in self.probes.items() if name in commands})


def check_session_id(session_id: str) -> str:
    """Return a session id that is safe as a file name.

    Raises:
        InputError: anything else.
    """
    if not SESSION_ID.fullmatch(session_id):
        raise InputError(
            f"{session_id[:60]!r} is not a session id; one looks like shop-api (small letters, digits, - or _)"
        )
    return session_id
