"""Whether automatic replies are armed: by a person, and only while everything is known to hold. Pure.

    disarmed ──(a person arms, every condition holds)──> armed ──(a condition fails, a person disarms)──> disarmed

Nothing arms by itself. What the record rests on is watched from look to look: the clock, the journals, and that no
second process works here; what happened between two looks is told by comparing them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pydantic import AwareDatetime, Field

from bot.domain.frozen_value import FrozenValue
from bot.domain.questions.auto_reply import WeekRecord, judge_record
from bot.domain.questions.conditions import AutonomyMode, Condition, ConditionCode
from bot.domain.text.humanize import duration
from bot.errors import InputError

Place = tuple[int, int]
"""Where a journal was read to: the number of its file, and an offset."""

STEP: Final = timedelta(minutes=10)
"""Between two looks of one process; the bot looks every minute."""

ABSENCE: Final = timedelta(days=1)
"""Between the last look of a process and the first of the next."""

SKEW: Final = timedelta(minutes=2)
"""Between this machine's clock and the chat's."""


class Arming(FrozenValue):
    """What is on file: who armed it and when, what the last look saw, why it was disarmed last."""

    armed_by: str | None = None
    armed_at: AwareDatetime | None = None
    process: str = ""
    looked_at: AwareDatetime | None = None
    places: Mapping[str, Place] = Field(default_factory=dict)
    disarmed_at: AwareDatetime | None = None
    disarmed_by: str | None = None
    """None where it disarmed itself."""
    disarmed_for: tuple[Condition, ...] = ()

    @property
    def is_armed(self) -> bool:
        """Whether a person armed it, and nothing has disarmed it since."""
        return self.armed_by is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What one look sees.

    Args:
        process: Who looks; another one for each start.
        is_first: Whether this process has not looked before: it takes over from one that has ended.
        places: How far each journal was counted.
        newest: The latest time on record.
        chat_ahead: How far this clock is ahead of the chat's.
        others: How many processes besides this one work on the same database.
    """

    now: datetime
    mode: AutonomyMode
    process: str
    is_first: bool
    places: Mapping[str, Place]
    weeks: Sequence[WeekRecord]
    uncounted: str = ""
    newest: datetime | None = None
    chat_ahead: timedelta = timedelta()
    others: int = 0


def conditions(before: Arming, seen: Look) -> tuple[Condition, ...]:
    """Return everything that must hold for automatic replies to be armed, the draft's own conditions aside."""
    return (
        *judge_record(seen.weeks, uncounted=seen.uncounted),
        _clock(before, seen),
        _journals(before, seen),
        _alone(before, seen),
    )


def look(before: Arming, seen: Look) -> Arming:
    """Return what is on file after a look: as it was, or disarmed for what does not hold any more."""
    failed = tuple(one for one in conditions(before, seen) if not one.holds)
    if before.is_armed and seen.mode is not AutonomyMode.ON:
        said = f"`autonomy: {seen.mode}` in triage.yml"
        failed = (Condition(code=ConditionCode.ARMED, holds=False, said=said), *failed)
    after = before
    if before.is_armed and failed:
        after = before.evolve(armed_by=None, armed_at=None, disarmed_at=seen.now, disarmed_by=None, disarmed_for=failed)
    return _seen(after, seen)


def arm(seen: Look, *, by: str) -> Arming:
    """Return what is on file once a person armed it; the watch begins anew with this look.

    Raises:
        InputError: a condition does not hold; all that do not are named.
    """
    if seen.mode is not AutonomyMode.ON:
        raise InputError(f"Not armed: triage.yml says `autonomy: {seen.mode}`; write `on` there and restart triage")
    fresh = _seen(Arming(), seen)
    if failed := [one.said for one in conditions(fresh, seen) if not one.holds]:
        raise InputError(f"Not armed: {'; '.join(failed)}.", next_step="Look: /triage autonomy")
    return fresh.evolve(armed_by=by, armed_at=seen.now)


def disarm(before: Arming, at: datetime, *, by: str) -> Arming:
    """Return what is on file once a person disarmed it."""
    return before.evolve(armed_by=None, armed_at=None, disarmed_at=at, disarmed_by=by, disarmed_for=())


def armed_condition(standing: Arming) -> Condition:
    """Return whether it is armed, in words."""
    if standing.is_armed:
        return Condition(code=ConditionCode.ARMED, holds=True, said=f"armed by <@{standing.armed_by}>")
    return Condition(code=ConditionCode.ARMED, holds=False, said=f"automatic replies are not armed{why_not(standing)}")


def why_not(standing: Arming) -> str:
    """Return why it was disarmed last, after a colon; nothing where it never was armed."""
    if standing.disarmed_by is not None:
        return f": <@{standing.disarmed_by}> disarmed them"
    return f": {'; '.join(one.said for one in standing.disarmed_for)}" if standing.disarmed_for else ""


def _seen(standing: Arming, seen: Look) -> Arming:
    return standing.evolve(process=seen.process, looked_at=seen.now, places=dict(seen.places))


def _clock(before: Arming, seen: Look) -> Condition:
    passed = timedelta() if before.looked_at is None else seen.now - before.looked_at
    most = ABSENCE if seen.is_first else STEP
    problems = [
        f"the clock went back by {duration(-passed)}" if passed < timedelta() else "",
        f"nobody has looked for {duration(passed)}: the clock jumped, or the bot stood still" if passed > most else "",
        f"this clock is {duration(abs(seen.chat_ahead))} off Slack's" if abs(seen.chat_ahead) > SKEW else "",
        "something on record is later than now" if seen.newest is not None and seen.newest > seen.now + SKEW else "",
    ]
    said = "; ".join(filter(None, problems))
    return Condition(code=ConditionCode.CLOCK, holds=not said, said=said or "the clock is right")


def _journals(before: Arming, seen: Look) -> Condition:
    """Every journal goes on in the file in which the last look left it; an empty one may begin."""
    moved = sorted(name for name, place in before.places.items() if not _goes_on(place, seen.places.get(name, (0, 0))))
    said = f"{', '.join(f'{name}.ndjson' for name in moved)} was deleted, replaced or rotated" if moved else ""
    return Condition(code=ConditionCode.JOURNALS, holds=not moved, said=said or "the journals are whole")


def _goes_on(before: Place, now: Place) -> bool:
    return before == (0, 0) or (now[0] == before[0] and now[1] >= before[1])


def _alone(before: Arming, seen: Look) -> Condition:
    is_taken = before.process not in ("", seen.process) and not seen.is_first
    said = f"{seen.others} other process{'es' * (seen.others != 1)} of this app" if seen.others else ""
    said = "another process works on this data directory" if is_taken else said
    return Condition(code=ConditionCode.ALONE, holds=not said, said=said or "no second process")
