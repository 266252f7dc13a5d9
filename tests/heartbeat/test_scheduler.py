"""Which session beats when: phase, missed slots, wakes that coalesce, clocks that jump, crashes at any step."""

from __future__ import annotations

import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.heartbeats.beats import BeatResult, Indicator, Wake
from bot.domain.heartbeats.session_state import (
    ChangedBy,
    EnabledOverride,
    EveryOverride,
    InboxMessage,
    MessageKind,
    SessionOverride,
)
from bot.domain.intervals import slot_of
from bot.domain.jobs import RunBeat
from bot.errors import InputError
from bot.heartbeat.scheduler import LOOKS_PER_TICK, RETRY_AFTER
from bot.heartbeat.session_registry import SessionMemory, WakeBox
from bot.heartbeat.session_rows import next_beat
from bot.ports.collections import SESSIONS, WAKES
from tests.builders import some_work
from tests.fakes import Crash, Faults, MemoryJobQueue, MemoryJournal, MemoryStore
from tests.heartbeat.clockwork import START, Clockwork, beat_of
from tests.tables import each_row

ALL_DAY = {"start": "00:00", "end": "24:00", "timezone": "UTC"}
HALF_HOUR = timedelta(minutes=30)
ANA = ChangedBy(id="U0ANA", name="ana", at=START)


@pytest.fixture
def works(tmp_path: Path) -> Clockwork:
    """One session that beats every half hour, all day, and has been seen."""
    works = Clockwork(tmp_path, "shop", every="30m", active_hours=ALL_DAY)
    works.tick()
    return works


def test_the_first_start_fires_nothing(tmp_path: Path) -> None:
    """A new session waits for its own slot, and the sessions' slots are spread over the interval."""
    works = Clockwork(tmp_path, *(f"s{n}" for n in range(60)), every="30m", active_hours=ALL_DAY)
    works.tick()
    assert works.jobs.waiting == {}
    jobs = list(works.run_for(HALF_HOUR))
    assert Counter(job.key for job in jobs) == Counter(list(works.settings))
    per_minute = Counter(job.epoch_ms for job in jobs)
    assert max(per_minute.values()) <= 8


def test_wakes_that_cannot_be_read_hold_up_no_beat(works: Clockwork) -> None:
    """Their folder belongs to somebody else, say; the intervals go on, and with it mended the wakes do, too."""
    works.storage.documents.unreadable = {WAKES}
    works.box.drop("shop", Wake.AUTOMATION)
    jobs = list(works.run_for(HALF_HOUR))
    assert [job.key for job in jobs] == ["shop"]


def test_beats_keep_their_phase_across_restarts(works: Clockwork) -> None:
    """Whenever the process starts anew, the next beat comes when it would have come."""
    slots = []
    for minutes in (7, 55, 20, 61, 13, 90):
        slots += [beat_of(job).slot for job in works.run_for(timedelta(minutes=minutes))]
        works.restarted()
    assert len(slots) == 246 // 30
    moments = [slot for slot in slots if slot is not None]
    assert {later - earlier for earlier, later in itertools.pairwise(moments)} == {HALF_HOUR}


@each_row("every, days", [("24h", 1), ("7d", 7)])
def test_no_interval_is_so_long_that_all_its_slots_are_outside_the_hours(tmp_path: Path, every: str, days: int) -> None:
    """A slot outside them is made up for as they open, once, where the next is outside too, and lists say so before."""
    names, hours = [f"s{n}" for n in range(3)], {"start": "09:00", "end": "11:00", "timezone": "Europe/Berlin"}
    works = Clockwork(tmp_path, *names, every=every, active_hours=hours)
    ran = dict.fromkeys(names, 0)
    step = timedelta(minutes=15)
    list(works.run_for(step))
    for _ in range(14):
        nexts = {n: next_beat(works.session(n), works.zones.hours(works.session(n)), works.clock.at) for n in names}
        for job in works.run_for(timedelta(days=1), step=step):
            ran[job.key] += 1
            assert timedelta() <= works.clock.at - nexts[job.key] <= step
        works.restarted()
    assert {count - 14 // days for count in ran.values()} <= {0, 1}  # one that is new may begin at the first opening


def test_a_slot_outside_the_hours_is_not_made_up_for_where_the_next_is_inside(tmp_path: Path) -> None:
    """Nothing is asked twice of a session that beats often."""
    works = Clockwork(tmp_path, "shop", every="30m", active_hours={"start": "09:10", "end": "11:00", "timezone": "UTC"})
    slots = [beat_of(job).slot for job in works.run_for(timedelta(days=2))]
    assert len(slots) == len({*slots}) == 2 * 4 - sum(slot is None for slot in slots)
    assert all(works.zones.hours(works.session()).contains(slot) for slot in slots if slot)


def test_missed_intervals_make_one_beat(works: Clockwork) -> None:
    """After a day away there is one, for the latest slot."""
    works.restarted()
    works.tick(days=1)
    [job] = works.jobs.waiting.values()
    slot = slot_of("shop", HALF_HOUR, works.clock.at)
    assert job.work == RunBeat(session_id="shop", slot=slot, wake=Wake.INTERVAL)
    list(works.run_all())
    works.tick()
    assert works.jobs.waiting == {}


def test_a_clock_set_back_an_hour_makes_no_storm(works: Clockwork) -> None:
    """At most one beat more, then the rhythm goes on."""
    list(works.run_for(timedelta(hours=2)))
    works.clock.advance(-3600)
    assert len(list(works.run_for(timedelta(hours=1), step=timedelta(seconds=5)))) <= 3
    assert len(list(works.run_for(timedelta(hours=3), step=timedelta(seconds=30)))) == 6


def test_a_clock_set_forward_a_day_makes_one_beat(works: Clockwork) -> None:
    """However often it ticks afterwards."""
    works.clock.advance(86_400)
    assert len(list(works.run_for(timedelta(minutes=1), step=timedelta(seconds=5)))) == 1


@each_row(
    "zone, day",
    [
        ("Europe/Berlin", datetime(2026, 3, 29)),
        ("Europe/Berlin", datetime(2026, 10, 25)),
        ("Australia/Lord_Howe", datetime(2026, 4, 5)),
        ("Australia/Lord_Howe", datetime(2026, 10, 4)),
    ],
)
def test_hours_follow_the_wall_clock_on_the_days_it_changes(tmp_path: Path, zone: str, day: datetime) -> None:
    """A window over the change: one beat at each slot whose local time is inside, one refusal at each other."""
    start = (day - timedelta(hours=3)).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    works = Clockwork(
        tmp_path, "shop", at=start, every="15m", active_hours={"start": "01:00", "end": "04:00", "timezone": zone}
    )
    works.tick()
    slots = [beat_of(job).slot for job in works.run_for(timedelta(hours=12))]
    local = [slot.astimezone(ZoneInfo(zone)) for slot in slots]
    assert all(1 <= slot.hour < 4 for slot in local)
    assert {later - earlier for earlier, later in itertools.pairwise(slots)} == {timedelta(minutes=15)}
    assert len({slot.utcoffset() for slot in local}) == 2
    shift = (local[-1].utcoffset() or timedelta()) - (local[0].utcoffset() or timedelta())
    assert abs(len(slots) * timedelta(minutes=15) - (timedelta(hours=3) - shift)) < timedelta(minutes=15)
    assert len(works.recorded()) == 48 - len(slots)
    assert set(works.whys()) == {"outside hours"}


def test_every_slot_outside_the_hours_leaves_one_line(tmp_path: Path) -> None:
    """A night is in the record, slot by slot, and nothing is queued; a manual wake runs all the same."""
    works = Clockwork(tmp_path, "shop", every="30m", active_hours={"start": "08:00", "end": "11:00", "timezone": "UTC"})
    works.tick()
    assert list(works.run_for(timedelta(hours=6), step=timedelta(seconds=20))) == []
    assert works.whys() == ["outside hours"] * 12
    envelope = works.recorded()[0]
    assert (envelope.result, envelope.indicator, envelope.silent) == (BeatResult.SKIPPED, Indicator.NONE, True)
    assert envelope.why is not None
    assert envelope.why.endswith("in UTC, checks run 08:00-11:00")
    assert "is queued" in works.scheduler.wake("shop", Wake.ON_DEMAND)
    [job] = works.run_all()
    assert (beat_of(job).slot, beat_of(job).wake) == (None, "on_demand")


def test_wakes_that_come_together_make_one_beat_with_the_strongest_reason(works: Clockwork) -> None:
    """Whatever their order, and across a restart."""
    for wake in (Wake.AUTOMATION, Wake.ON_DEMAND, Wake.ASSIGNMENT, Wake.AUTOMATION):
        works.scheduler.wake("shop", wake)
    works.restarted()
    [job] = works.jobs.waiting.values()
    assert works.jobs.claim() is not None
    assert (beat_of(job).wake, beat_of(job).slot) == (Wake.AUTOMATION, None)
    assert works.box.take("shop") == {Wake.AUTOMATION, Wake.ON_DEMAND, Wake.ASSIGNMENT}
    works.jobs.done(job)
    works.tick()
    assert works.jobs.waiting == {}


def test_a_slot_that_passes_before_a_wake_by_hand_is_not_lost(works: Clockwork) -> None:
    """Between two ticks: it joins the wake, and the beat carries its time."""
    works.clock.at = slot_of("shop", HALF_HOUR, START + timedelta(hours=1)) + timedelta(seconds=2)
    works.scheduler.wake("shop", Wake.ON_DEMAND)
    [job] = works.run_all()
    assert beat_of(job).wake == "on_demand"
    assert beat_of(job).slot == works.clock.at - timedelta(seconds=2)
    works.tick(seconds=3)
    assert works.jobs.waiting == {}


def test_a_wake_during_a_beat_is_retried_soon_after_it(works: Clockwork) -> None:
    """One beat more, a short while after, whatever came during it."""
    works.scheduler.wake("shop", Wake.AUTOMATION)
    running = works.jobs.claim()
    assert running is not None
    works.box.take("shop")
    assert "queued behind the one" in works.scheduler.wake("shop", Wake.ASSIGNMENT)
    works.scheduler.wake("shop", Wake.AUTOMATION)
    works.tick(seconds=5)
    assert works.jobs.waiting == {}
    works.jobs.done(running)
    works.tick(seconds=20)
    [job] = works.run_all()
    assert beat_of(job).wake == "assignment"
    works.tick(seconds=20)
    assert works.jobs.waiting == {}


def test_a_slot_that_meets_a_long_beat_is_recorded_and_follows_it(works: Clockwork) -> None:
    """One line for each slot, one beat for all of them."""
    works.scheduler.wake("shop", Wake.ON_DEMAND)
    running = works.jobs.claim()
    assert running is not None
    works.beat(running)
    works.jobs.running[running.name] = running
    for _ in range(90):
        works.tick(minutes=1)
    assert works.whys() == ["busy"] * 3
    works.jobs.done(running)
    works.tick(minutes=1)
    [job] = works.run_all()
    assert beat_of(job).wake == "interval"
    assert beat_of(job).slot == works.state().last_slot  # type: ignore[union-attr]


def test_what_another_process_left_wakes(works: Clockwork) -> None:
    """At the next tick, once; a wake for a session that is gone does not stay."""
    works.box.drop("shop", Wake.AUTOMATION)
    works.box.drop("gone", Wake.AUTOMATION)
    works.tick(seconds=5)
    assert [beat_of(job).wake for job in works.run_all()] == ["automation"]
    assert works.box.waiting() == {}


def test_a_disabled_session_refuses_every_wake_and_says_so(works: Clockwork) -> None:
    """Each refusal is recorded."""
    works.overrides.change("shop", lambda _: SessionOverride(enabled=EnabledOverride(value=False, by=ANA)))
    assert "/triage heartbeat on shop" in works.scheduler.wake("shop", Wake.ON_DEMAND)
    assert list(works.run_for(timedelta(hours=1))) == []
    assert works.whys() == ["disabled"] * 3
    works.overrides.change("shop", lambda _: SessionOverride())
    assert len(list(works.run_for(timedelta(hours=1)))) == 2


def test_a_new_interval_begins_with_the_slot_to_come(works: Clockwork) -> None:
    """There is no storm."""
    works.overrides.change("shop", lambda _: SessionOverride(every=EveryOverride(value=timedelta(minutes=5), by=ANA)))
    works.tick(seconds=1)
    assert works.jobs.waiting == {}
    assert len(list(works.run_for(timedelta(minutes=30)))) == 6


def test_nobody_is_woken_by_a_session_that_does_not_exist(works: Clockwork) -> None:
    """Whoever typed is told the near names."""
    with pytest.raises(InputError, match="did you mean shop"):
        works.scheduler.wake("shpo", Wake.ON_DEMAND)


def test_one_session_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    """Its beat is due again a short while later."""
    works = Clockwork(tmp_path, "api", "shop", every="30m", active_hours=ALL_DAY)
    works.tick()
    works.route = None
    works.route_fails_for = "api"
    works.tick(hours=1)
    assert works.whys("shop") == ["no route"]
    assert works.whys("api") == []
    works.route_fails_for = ""
    works.tick(seconds=RETRY_AFTER.total_seconds())
    assert works.whys("api") == ["no route"]


def test_messages_between_sessions_wake_nobody(works: Clockwork) -> None:
    """So that a beat's own work never does; they are read at the next beat, whatever restarts before it."""
    works.store.send(InboxMessage(at=START, from_="api", to="shop", kind=MessageKind.REPORT, text="CI is red"))
    works.tick(seconds=20)
    works.restarted().tick(seconds=20)
    assert works.jobs.waiting == {}
    assert len(works.store.inbox("shop")) == 1


@each_row("crash_at", range(1, 12))
def test_a_crash_at_any_step_loses_no_wake(tmp_path: Path, crash_at: int) -> None:
    """After the restart there is a beat for it: one, or where the beat had begun, one more."""
    works = Clockwork(tmp_path, "shop", every="30m", active_hours=ALL_DAY)
    works.tick()
    works.box.drop("shop", Wake.AUTOMATION)
    faults = Faults(crash_at)
    works.storage = MemoryStore(works.storage.documents.texts, works.storage.lines, faults)
    works.store, works.box = SessionMemory(works.storage), WakeBox(works.storage.documents)
    works.journal = MemoryJournal(works.journal.lines, faults)
    works.jobs = MemoryJobQueue(works.clock, faults=faults)
    works._wire()
    ran = []
    try:
        works.tick(minutes=30)
        ran = list(works.run_all())
    except Crash:
        faults.crash_at = None
        works.restarted()
        works.tick(seconds=1)
        ran = list(works.run_all())
    assert [job.key for job in ran] in (["shop"], ["shop", "shop"])
    works.tick(seconds=20)
    works.tick(seconds=20)
    assert len(list(works.run_all())) <= 1
    assert works.box.waiting() == {}


@given(gaps=st.lists(st.integers(1, 4_000), min_size=1, max_size=30), minutes=st.integers(1, 120))
def test_whatever_the_ticks_each_beat_has_its_own_slot(
    tmp_path_factory: pytest.TempPathFactory, gaps: list[int], minutes: int
) -> None:
    """Property: slots rise, are whole intervals apart, and the latest one passed is always answered."""
    works = Clockwork(tmp_path_factory.mktemp("w"), "shop", every=f"{minutes}m", active_hours=ALL_DAY)
    every = timedelta(minutes=minutes)
    works.tick()
    slots: list[datetime] = []
    for gap in gaps:
        works.tick(seconds=gap)
        slots += [beat_of(job).slot for job in works.run_all()]
        assert works.state().last_slot == slot_of("shop", every, works.clock.at)
    assert slots == sorted(set(slots))
    assert all((later - earlier) % every == timedelta() for earlier, later in itertools.pairwise(slots))


def test_people_come_first(tmp_path: Path) -> None:
    """The queue's order holds for what the scheduler puts there."""
    works = Clockwork(tmp_path, "api", "shop", every="30m", active_hours=ALL_DAY)
    works.scheduler.wake("api", Wake.ON_DEMAND)
    works.scheduler.wake("shop", Wake.ON_DEMAND)
    works.jobs.put(some_work("T1.C1.1"))
    works.jobs.put(some_work("T1.C1.2"))
    assert [job.key for job in works.jobs.unclaimed()] == ["T1.C1.1", "T1.C1.2", "api", "shop"]


def test_hundreds_due_at_once_are_taken_a_tick_at_a_time(tmp_path: Path) -> None:
    """Each in its turn, whatever its place in the file; a wake by hand does not wait for them."""
    works = Clockwork(tmp_path, *(f"s{n}" for n in range(LOOKS_PER_TICK + 50)), every="30m", active_hours=ALL_DAY)
    for seen in (LOOKS_PER_TICK, LOOKS_PER_TICK + 50):
        works.tick()
        assert len(works.storage.documents.list(SESSIONS.name)) == seen
    works.box.drop("s249", Wake.AUTOMATION)
    works.tick(hours=5)
    assert len(works.jobs.waiting) in (LOOKS_PER_TICK, LOOKS_PER_TICK + 1)
    assert any(job.key == "s249" for job in works.jobs.waiting.values())
    works.tick(seconds=5)
    works.tick(seconds=5)
    assert {job.key for job in works.jobs.waiting.values()} == set(works.settings)
