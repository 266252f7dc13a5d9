"""The teams' queues as one: in turn, one heartbeat at a time, and nobody starves."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.heartbeats.beats import Wake
from bot.domain.jobs import Job, RunBeat
from bot.errors import StoreError
from bot.ports import any_job
from bot.runtime.team_queues import TeamQueues
from tests.builders import some_work
from tests.fakes import FakeClock, MemoryJobQueue


class Company:
    """Queues of some teams, and the one over them."""

    def __init__(self, *teams: str) -> None:
        self.queues = TeamQueues(threading.Condition(), wait_s=0)
        self.of = {team: MemoryJobQueue(FakeClock()) for team in teams}
        for team, jobs in self.of.items():
            self.queues.add(team, jobs)

    def ask(self, team: str, *keys: str) -> None:
        for key in keys:
            self.of[team].put(some_work(f"{team}-{key}"))

    def claim(self) -> Job:
        job = self.queues.claim()
        assert job is not None
        return job

    def work(self) -> str:
        """Do the next job and return its key."""
        job = self.claim()
        self.queues.done(job)
        return job.key


def test_a_storm_of_one_team_holds_up_another_by_at_most_one_job() -> None:
    """Two hundred questions wait in one; the other's comes next but one."""
    company = Company("pay", "plat")
    company.ask("pay", *map(str, range(200)))
    assert company.work() == "pay-0"
    company.ask("plat", "urgent")
    assert company.work() == "plat-urgent"
    assert company.work() == "pay-1"


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=40))
def test_while_several_have_work_none_is_served_twice_in_a_row(asked: list[str]) -> None:
    """And inside a team the order is the order of asking."""
    company = Company("a", "b", "c")
    left = {team: asked.count(team) for team in "abc"}
    for number, team in enumerate(asked):
        company.ask(team, f"{number:03d}")
    done: list[str] = []
    for _ in asked:
        key = company.work()
        others = any(count for team, count in left.items() if team != key[0])
        assert not (done and done[-1][0] == key[0] and others)
        left[key[0]] -= 1
        done.append(key)
    for team in "abc":
        own = [key for key in done if key[0] == team]
        assert own == sorted(own)
    assert company.queues.claim() is None


def test_one_heartbeat_runs_at_a_time_over_all_teams() -> None:
    """Questions run beside it."""
    company = Company("pay", "plat")
    for team in ("pay", "plat"):
        company.of[team].put(RunBeat(session_id=f"{team}-shop", wake=Wake.ON_DEMAND))
    beat = company.claim()
    company.ask("plat", "q")
    assert company.claim().key == "plat-q"
    assert company.queues.claim() is None
    company.queues.done(beat)
    assert company.claim().key == "plat-shop"


def test_a_job_that_runs_alone_waits_for_the_others_and_they_for_it() -> None:
    """It is not starved by those that come after it, of any team."""
    company = Company("pay", "plat")
    company.ask("pay", "first")
    running = company.claim()
    company.ask("plat", "suspect")
    [name] = company.of["plat"].waiting
    company.of["plat"].waiting[name] = company.of["plat"].waiting[name].model_copy(update={"deaths": 2})
    company.ask("pay", "later")
    assert company.queues.claim() is None
    company.queues.done(running)
    assert company.claim().key == "plat-suspect"
    assert company.queues.claim() is None


def test_whose_a_job_is_is_known_until_it_is_done() -> None:
    """It goes back to the queue it came from."""
    company = Company("pay", "plat")
    company.ask("plat", "q")
    job = company.claim()
    assert company.queues.team_of(job) == "plat"
    assert company.queues.give_back(job, why="the bot stopped", count=False)
    assert list(company.of["plat"].waiting) == [job.name]


def test_a_team_whose_queue_cannot_be_read_does_not_starve_the_others() -> None:
    """Its error is raised, and the next look is another team's."""

    class Broken(MemoryJobQueue):
        def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
            raise StoreError("cannot read queue/")

    company = Company()
    company.queues.add("broken", Broken(FakeClock()))
    company.of["plat"] = MemoryJobQueue(FakeClock())
    company.queues.add("plat", company.of["plat"])
    company.ask("plat", "q")
    with pytest.raises(StoreError):
        company.queues.claim()
    assert company.claim().key == "plat-q"


def test_only_what_its_team_wants_is_taken() -> None:
    """A paused team holds up nobody else."""
    company = Company("plat")
    paused = MemoryJobQueue(FakeClock())
    company.queues.add("paused", paused, lambda _: False)
    paused.put(some_work("paused-q"))
    company.ask("plat", "q")
    assert company.work() == "plat-q"
    assert company.queues.claim() is None


def test_a_team_that_is_removed_is_served_no_more() -> None:
    """What runs of it is finished where it came from."""
    company = Company("pay", "plat")
    company.ask("pay", "a", "b")
    job = company.claim()
    company.queues.remove("pay")
    assert company.queues.claim() is None
    company.queues.done(job)
    assert not company.of["pay"].running


def test_a_teams_running_jobs_can_be_waited_for() -> None:
    """Not for ever."""
    company = Company("pay")
    company.ask("pay", "a")
    job = company.claim()
    assert not company.queues.wait_for("pay", timeout_s=0)
    company.queues.done(job)
    assert company.queues.wait_for("pay", timeout_s=60)


def test_a_job_given_back_at_the_stop_is_not_done_afterwards() -> None:
    """Its worker may end a moment later; the next start takes the job up."""
    company = Company("pay")
    company.ask("pay", "a")
    job = company.claim()
    company.queues.give_back(job, why="the bot stopped", count=False)
    company.queues.done(job)
    assert company.queues.give_back(job, why="the chat is away", count=False)
    assert company.work() == "pay-a"
