"""Armed by a person alone, and only while everything holds: single rules, and random histories against an oracle."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bot.domain.questions.arming import ABSENCE, STEP, Arming, Look, arm, conditions, disarm, look
from bot.domain.questions.auto_reply import ENOUGH, LIMIT, WeekRecord
from bot.domain.questions.conditions import AutonomyMode, ConditionCode
from bot.errors import InputError
from tests.tables import each_row

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
GOOD = [WeekRecord(12, 0, 0)] * 4
A_MINUTE = timedelta(minutes=1)


def seen(**changes: Any) -> Look:
    known: dict[str, Any] = {
        "now": NOW,
        "mode": AutonomyMode.ON,
        "process": "p1",
        "is_first": False,
        "places": {"replies": (1, 500)},
        "weeks": GOOD,
    }
    return Look(**{**known, **changes})


ARMED = arm(seen(), by="U1")


def test_a_person_arms_it_and_it_stays_armed_while_all_holds() -> None:
    """Minute after minute, a restart included."""
    assert (ARMED.armed_by, ARMED.armed_at) == ("U1", NOW)
    later = look(ARMED, seen(now=NOW + A_MINUTE, places={"replies": (1, 900)}))
    assert later.is_armed
    restarted = seen(now=NOW + timedelta(hours=2), process="p2", is_first=True, places={"replies": (1, 900)})
    assert look(later, restarted).is_armed


@each_row(
    "changes, code",
    [
        ({"weeks": [WeekRecord(9, 0, 0)] * 4}, ConditionCode.ENOUGH_DRAFTS),
        ({"weeks": [WeekRecord(20, 0, 0)] * 3 + [WeekRecord(0, 0, 0)]}, ConditionCode.EVERY_WEEK),
        ({"weeks": [WeekRecord(20, 0, 0)] * 3}, ConditionCode.EVERY_WEEK),
        ({"weeks": [WeekRecord(12, 1, 0), *GOOD[1:]]}, ConditionCode.FALSE_POSITIVES),
        ({"weeks": [WeekRecord(100, 1, 1), *GOOD[1:]]}, ConditionCode.PRODUCTION),
        ({"uncounted": "not counted yet: 3 closed threads"}, ConditionCode.COUNTED),
        ({"chat_ahead": timedelta(minutes=3)}, ConditionCode.CLOCK),
        ({"newest": NOW + timedelta(hours=1)}, ConditionCode.CLOCK),
        ({"others": 1}, ConditionCode.ALONE),
    ],
)
def test_each_condition_keeps_it_from_being_armed_and_disarms_it(changes: dict[str, Any], code: ConditionCode) -> None:
    """And is what is said of it."""
    with pytest.raises(InputError):
        arm(seen(**changes), by="U1")
    after = look(ARMED, seen(**changes))
    assert not after.is_armed
    assert [one.code for one in after.disarmed_for] == [code]
    assert after.disarmed_at == NOW


@each_row(
    "changes, code",
    [
        ({"now": NOW - A_MINUTE}, ConditionCode.CLOCK),
        ({"now": NOW + STEP + A_MINUTE}, ConditionCode.CLOCK),
        ({"now": NOW + ABSENCE + A_MINUTE, "process": "p2", "is_first": True}, ConditionCode.CLOCK),
        ({"places": {}}, ConditionCode.JOURNALS),
        ({"places": {"replies": (1, 400)}}, ConditionCode.JOURNALS),
        ({"places": {"replies": (2, 900)}}, ConditionCode.JOURNALS),
        ({"process": "p2"}, ConditionCode.ALONE),
        ({"mode": AutonomyMode.SHADOW}, ConditionCode.ARMED),
    ],
)
def test_what_happened_between_two_looks_disarms_it(changes: dict[str, Any], code: ConditionCode) -> None:
    """A clock that jumped, a journal that was deleted, cut or rotated, a second process, another mode."""
    after = look(ARMED, seen(**changes))
    assert [one.code for one in after.disarmed_for] == [code]
    again = seen(**{**changes, "now": changes.get("now", NOW) + A_MINUTE})
    assert not look(after, again).is_armed, "nothing arms by itself"


def test_a_second_process_disarms_the_first_and_finds_it_disarmed() -> None:
    """It takes over as one that starts after the first has ended, and the first, still alive, notices."""
    second = look(ARMED, seen(process="p2", is_first=True))
    first = look(second, seen(now=NOW + A_MINUTE))
    assert not first.is_armed
    assert not look(first, seen(now=NOW + 2 * A_MINUTE, process="p2")).is_armed


def test_a_person_disarms_it_without_a_condition() -> None:
    """And who did that is on file."""
    off = disarm(ARMED, NOW, by="U2")
    assert (off.is_armed, off.disarmed_by, off.disarmed_for) == (False, "U2", ())


WEEK = st.builds(
    lambda drafts, false, risky: WeekRecord(drafts, min(false, drafts), min(risky, false, drafts)),
    st.integers(0, 120),
    st.sampled_from([0, 0, 0, 0, 1, 2, 5]),
    st.sampled_from([0, 0, 0, 1]),
)


@settings(max_examples=300)
@given(weeks=st.lists(WEEK, max_size=5), uncounted=st.sampled_from(["", "", "3 threads"]))
def test_no_record_is_armed_that_misses_a_figure(weeks: list[WeekRecord], uncounted: str) -> None:
    """Against the rule written down once more, the plain way."""
    total = sum(week.drafts for week in weeks)
    is_good = (
        len(weeks) >= 4
        and total >= ENOUGH
        and all(week.drafts and week.false <= LIMIT * week.drafts for week in weeks)
        and not any(week.risky_false for week in weeks)
        and not uncounted
    )
    try:
        armed = arm(seen(weeks=weeks, uncounted=uncounted), by="U1").is_armed
    except InputError:
        armed = False
    assert armed is is_good


class Histories(RuleBasedStateMachine):
    """A team's weeks, a clock, journals, processes and people, in any order; looks come in between."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self.last, self.standing = NOW, NOW, Arming()
        self.weeks, self.uncounted, self.others = list(GOOD), "", 0
        self.place, self.process, self.starts = (1, 500), "p0", 0
        self.mode, self.is_first, self.disturbed = AutonomyMode.ON, True, False

    def see(self) -> Look:
        return seen(
            now=self.now,
            mode=self.mode,
            process=self.process,
            is_first=self.is_first,
            places={"replies": self.place},
            weeks=self.weeks,
            uncounted=self.uncounted,
            others=self.others,
        )

    @rule(weeks=st.lists(WEEK, min_size=4, max_size=4))
    def live_through_weeks(self, weeks: list[WeekRecord]) -> None:
        self.weeks = weeks

    @rule()
    def be_good_again(self) -> None:
        self.weeks, self.uncounted, self.others = list(GOOD), "", 0

    @rule(number=st.integers(0, 3), is_risky=st.booleans())
    def think_one_wrong(self, number: int, is_risky: bool) -> None:
        drafts, false, risky = self.weeks[number]
        self.weeks[number] = WeekRecord(drafts + 1, false + 1, risky + is_risky)

    @rule(seconds=st.integers(1, int(STEP.total_seconds())))
    def pass_time(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(hours=st.sampled_from([-700, -2, 1, 30, 700]))
    def jump(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @precondition(lambda self: not self.disturbed)
    @rule(size=st.integers(1, 500))
    def write(self, size: int) -> None:
        self.place = (max(1, self.place[0]), self.place[1] + size)

    @precondition(lambda self: self.place[1] > 3)
    @rule(place=st.sampled_from([(0, 0), (1, 3)]))
    def delete(self, place: tuple[int, int]) -> None:
        self.place, self.disturbed = place, True

    @precondition(lambda self: self.place != (0, 0) and not self.disturbed)
    @rule()
    def rotate(self) -> None:
        self.place, self.disturbed = (self.place[0] + 1, 10), True

    @rule(others=st.integers(0, 1), uncounted=st.sampled_from(["", "3 threads"]), mode=st.sampled_from(AutonomyMode))
    def change_around(self, others: int, uncounted: str, mode: AutonomyMode) -> None:
        self.others, self.uncounted, self.mode = others, uncounted, mode

    @precondition(lambda self: not self.disturbed)
    @rule()
    def restart(self) -> None:
        self.starts += 1
        self.process, self.is_first = f"p{self.starts}", True

    @rule()
    def have_a_second_process(self) -> None:
        """It looks once; this one lives on."""
        if self.is_first:
            return
        other = seen(now=self.now, process="another", is_first=True, places={"replies": self.place}, weeks=self.weeks)
        self.standing, self.disturbed = look(self.standing, other), True

    @rule()
    def arm_it(self) -> None:
        try:
            self.standing = arm(self.see(), by="U1")
        except InputError:
            return
        self.is_first, self.disturbed, self.last = False, False, self.now

    @rule()
    def look_at_it(self) -> None:
        passed = self.now - self.last
        has_jumped = not timedelta() <= passed <= (ABSENCE if self.is_first else STEP)
        was_disturbed, self.disturbed = self.disturbed or has_jumped, False
        before, self.standing = self.standing, look(self.standing, self.see())
        self.is_first, self.last = False, self.now
        assert not self.standing.is_armed or before.is_armed, "nothing arms by itself"
        assert not (self.standing.is_armed and was_disturbed), "a disturbance was overlooked"
        if self.standing.is_armed:
            assert self.mode is AutonomyMode.ON
            assert self.others == 0
            assert self.uncounted == ""
            assert sum(week.drafts for week in self.weeks) >= ENOUGH
            assert all(week.drafts and week.false <= LIMIT * week.drafts for week in self.weeks)
            assert not any(week.risky_false for week in self.weeks)

    @invariant()
    def what_is_armed_says_by_whom(self) -> None:
        assert self.standing.is_armed is (self.standing.armed_at is not None)
        assert all(one.said for one in conditions(self.standing, self.see()))


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=150, stateful_step_count=30)
