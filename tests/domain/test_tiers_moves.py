"""Which tasks are in the wrong tier, by what was measured of them; never by a hunch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.tiers import IN_A_ROW, LIMITS_S, TaskHistory, Tier, add_measured, suggested_moves
from tests.tables import each_row

TASK = "a1b2c3d4"


def history(tier: Tier, *, seconds: tuple[float, ...] = ()) -> dict[str, TaskHistory]:
    return {TASK: TaskHistory(text="Look", tier=tier, seconds=seconds)}


@each_row(
    "tier, seconds, to",
    [
        (Tier.QUICK, (11.0, 12.0, 13.0), Tier.HOURLY),
        (Tier.QUICK, (1.0, 11.0, 12.0, 13.0), Tier.HOURLY),
        (Tier.QUICK, (11.0, 10.0, 13.0), None),
        (Tier.QUICK, (11.0, 13.0), None),
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


def test_a_task_that_moved_is_measured_anew() -> None:
    """What it took in another tier says nothing of this one, so nothing is moved to and fro."""
    before = history(Tier.QUICK, seconds=(70.0, 70.0, 70.0))
    after = add_measured(before, history(Tier.HOURLY, seconds=(70.0,)))
    assert after == history(Tier.HOURLY, seconds=(70.0,))
    assert suggested_moves(after) == ()


def test_a_task_that_was_not_due_or_ran_no_command_keeps_what_was_measured() -> None:
    """Also what an earlier version kept of more beats."""
    before = history(Tier.DAILY, seconds=(1.0, 2.0, 3.0, 4.0))
    assert add_measured(before, {}) == before
    assert add_measured(before, history(Tier.DAILY))[TASK].seconds == (2.0, 3.0, 4.0)


_SEEN = st.builds(
    TaskHistory,
    text=st.just("Look"),
    tier=st.sampled_from(Tier),
    seconds=st.lists(st.floats(0, 500, allow_nan=False), max_size=1).map(tuple),
)
_BEATS = st.lists(st.dictionaries(st.sampled_from("abcd"), _SEEN), max_size=12)


@given(_BEATS)
def test_a_move_is_one_step_and_stands_on_its_last_three_measurements(beats: list[dict[str, TaskHistory]]) -> None:
    """Property: for any beats, bounded memory, and no proposal without three reasons in a row."""
    past: dict[str, TaskHistory] = {}
    for beat in beats:
        past = add_measured(past, beat)
    assert all(len(each.seconds) <= IN_A_ROW for each in past.values())
    found = suggested_moves(past)
    assert len({move.task_id for move in found}) == len(found)
    for move in found:
        assert list(Tier).index(move.to_tier) - list(Tier).index(move.from_tier) == 1
        assert min(past[move.task_id].seconds) > LIMITS_S[move.from_tier]
