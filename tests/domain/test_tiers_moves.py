"""Which tasks are in the wrong tier, by what was measured of them; never by a hunch."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.tiers import (
    IN_A_ROW,
    KEPT,
    KEPT_TASKS,
    LIMITS_S,
    Measurement,
    TaskHistory,
    Tier,
    TierMove,
    add_measurement,
    suggested_moves,
)
from tests.tables import each_row

DAY = date(2026, 11, 20)
TASK = "a1b2c3d4"


def history(tier: Tier, *, seconds: tuple[float, ...] = (), days: tuple[int, ...] = ()) -> dict[str, TaskHistory]:
    found_on = tuple(DAY + timedelta(days=day) for day in days)
    return {TASK: TaskHistory(text="Look", tier=tier, seconds=seconds, found_on=found_on)}


def seen(tier: Tier = Tier.QUICK, *, seconds: float | None = None, found: bool | None = None) -> Measurement:
    return Measurement(task_id=TASK, text="Look", tier=tier, seconds=seconds, found=found)


@each_row(
    "tier, seconds, to",
    [
        (Tier.QUICK, (11.0, 12.0, 13.0), Tier.HOURLY),
        (Tier.QUICK, (1.0, 11.0, 12.0, 13.0), Tier.HOURLY),
        (Tier.QUICK, (11.0, 10.0, 13.0), None),
        (Tier.QUICK, (11.0, 13.0), None),
        (Tier.QUICK, (30.0, 30.0, 30.0, 2.0), None),
        (Tier.HOURLY, (11.0, 12.0, 13.0), None),
        (Tier.HOURLY, (61.0, 75.0, 90.0), Tier.DAILY),
        (Tier.DAILY, (300.0, 300.0, 300.0), None),
    ],
)
def test_a_task_that_keeps_taking_too_long_goes_a_tier_slower(
    tier: Tier, seconds: tuple[float, ...], to: Tier | None
) -> None:
    """Three times in a row, the newest included; nothing is slower than daily."""
    assert [move.to_tier for move in suggested_moves(history(tier, seconds=seconds))] == ([to] if to else [])


@each_row(
    "tier, days, is_moved",
    [
        (Tier.DAILY, (0, 1, 2), True),
        (Tier.DAILY, (-9, 0, 1, 3), True),
        (Tier.DAILY, (0, 1), False),
        (Tier.DAILY, (0, 3, 6), False),
        (Tier.HOURLY, (0, 1, 2), False),
        (Tier.QUICK, (0, 1, 2), False),
    ],
)
def test_a_daily_check_that_finds_something_three_days_running_goes_a_tier_faster(
    tier: Tier, days: tuple[int, ...], is_moved: bool
) -> None:
    """A row that drifts past one midnight is one; days far apart are none."""
    found = suggested_moves(history(tier, days=days))
    assert [(move.from_tier, move.to_tier) for move in found] == ([(Tier.DAILY, Tier.HOURLY)] if is_moved else [])


def test_a_beat_that_finds_nothing_breaks_the_row() -> None:
    """One in which nobody looked does not; two findings of one day are one day."""
    past: dict[str, TaskHistory] = {}
    for found, day in [(True, 0), (True, 1), (None, 1), (True, 1)]:
        past = add_measurement(past, [seen(Tier.DAILY, found=found)], on=DAY + timedelta(days=day), standing={TASK})
    assert past[TASK].found_on == (DAY, DAY + timedelta(days=1))
    past = add_measurement(past, [seen(Tier.DAILY, found=False)], on=DAY + timedelta(days=2), standing={TASK})
    assert past[TASK].found_on == ()


def test_a_task_that_moved_is_measured_anew() -> None:
    """What it took in another tier says nothing of this one, so nothing is moved to and fro."""
    before = history(Tier.QUICK, seconds=(70.0, 70.0, 70.0))
    after = add_measurement(before, [seen(Tier.HOURLY, seconds=70.0)], on=DAY, standing={TASK})
    assert after[TASK] == TaskHistory(text="Look", tier=Tier.HOURLY, seconds=(70.0,))
    assert suggested_moves(after) == ()


def test_a_task_that_is_gone_is_forgotten() -> None:
    """And one that was not due is kept as it was."""
    before = history(Tier.DAILY, days=(0,))
    assert add_measurement(before, [], on=DAY, standing=()) == {}
    assert add_measurement(before, [], on=DAY, standing={TASK}) == before


def test_of_a_task_in_two_tiers_the_first_one_counts() -> None:
    """Its commands ran once."""
    both = [seen(Tier.QUICK, seconds=1.0), seen(Tier.DAILY, seconds=1.0)]
    assert add_measurement({}, both, on=DAY, standing={TASK})[TASK].tier is Tier.QUICK


_SECONDS = st.none() | st.floats(0, 500, allow_nan=False)
_BEATS = st.lists(
    st.lists(
        st.builds(
            Measurement,
            task_id=st.sampled_from("abcd"),
            text=st.just("Look"),
            tier=st.sampled_from(Tier),
            seconds=_SECONDS,
            found=st.none() | st.booleans(),
        ),
        max_size=4,
    ),
    max_size=12,
)


@given(_BEATS)
def test_a_move_is_one_step_and_stands_on_its_last_three_measurements(beats: list[list[Measurement]]) -> None:
    """Property: for any beats, bounded memory, and no proposal without three reasons in a row."""
    past: dict[str, TaskHistory] = {}
    for number, beat in enumerate(beats):
        past = add_measurement(past, beat, on=DAY + timedelta(days=number), standing="abcd")
    assert all(len(each.seconds) <= KEPT and len(each.found_on) <= KEPT for each in past.values())
    found = suggested_moves(past)
    assert len({move.task_id for move in found}) == len(found)
    for move in found:
        assert abs(list(Tier).index(move.from_tier) - list(Tier).index(move.to_tier)) == 1
        assert _reasons(move, past[move.task_id]) >= IN_A_ROW


def _reasons(move: TierMove, past: TaskHistory) -> int:
    if move.to_tier is Tier.HOURLY and move.from_tier is Tier.DAILY:
        return len(past.found_on)
    return sum(seconds > LIMITS_S[move.from_tier] for seconds in past.seconds[-IN_A_ROW:])


def test_only_so_many_tasks_are_remembered() -> None:
    """The newest."""
    many = [
        Measurement(task_id=f"{number:08x}", text="x", tier=Tier.QUICK, seconds=1.0, found=None)
        for number in range(KEPT_TASKS + 7)
    ]
    kept = add_measurement({}, many, on=DAY, standing={each.task_id for each in many})
    assert list(kept) == [each.task_id for each in many[7:]]
