"""When a page rings again and when somebody else is told, however the clock goes and however often somebody looks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.paging import CHANCES, MAX_RINGS, is_escalation_due, is_ring_due

START = datetime(2026, 3, 1, tzinfo=UTC)
WAIT = timedelta(minutes=15)

forward = st.lists(st.integers(1, 3_600).map(lambda s: timedelta(seconds=s)), max_size=200)
anyhow = st.lists(st.integers(-7_200, 7_200).map(lambda s: timedelta(seconds=s)), max_size=200)


def rings(steps: Sequence[timedelta], said_at: datetime | None = START) -> list[datetime]:
    """Look after each step, ring when that is due, and return when it rang."""
    now, rung = START, list[datetime]()
    for step in steps:
        now += step
        last = rung[-1] if rung else said_at
        if is_ring_due(now, said_at=last, rings=len(rung), again_after=WAIT):
            rung.append(now)
    return rung


@given(forward)
def test_rings_are_apart_and_come_at_the_first_look_after_the_wait(steps: list[timedelta]) -> None:
    """Between two of them lies the wait, and no look that late passes without a ring."""
    rung = [START, *rings(steps)]
    assert all(later - earlier >= WAIT for earlier, later in itertools.pairwise(rung))
    looks = [START + elapsed for elapsed in itertools.accumulate(steps)]
    if len(rung) <= MAX_RINGS:
        assert all(min(look - ring for ring in rung if ring <= look) < WAIT for look in looks)


@given(anyhow)
def test_nobodys_phone_rings_for_ever(steps: list[timedelta]) -> None:
    """Whatever the clock does."""
    assert len(rings(steps)) <= MAX_RINGS


@given(anyhow.filter(bool))
def test_what_was_never_said_is_said_at_the_first_look(steps: list[timedelta]) -> None:
    """And a page that is switched off never."""
    now = START + steps[0]
    assert rings(steps, said_at=None)[0] == now
    assert not is_ring_due(now, said_at=None, rings=0, again_after=None)


@given(st.integers(0, MAX_RINGS), st.integers(-7_200, 7_200))
def test_somebody_else_is_told_after_two_chances(count: int, elapsed_s: int) -> None:
    """Counted in rings, or in time where nothing could ring; never where pages are switched off."""
    now = START + timedelta(seconds=elapsed_s)
    due = is_escalation_due(now, first_at=START, rings=count, again_after=WAIT)
    assert due is (count >= CHANCES or elapsed_s >= CHANCES * WAIT.total_seconds())
    assert not is_escalation_due(now, first_at=START, rings=count, again_after=None)


def test_a_clock_that_was_set_back_silences_no_page() -> None:
    """What was said in the future was said by a wrong clock."""
    assert rings([timedelta(days=-1)]) == [START - timedelta(days=1)]
