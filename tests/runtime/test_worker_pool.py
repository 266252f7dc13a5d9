"""The worker pool: every job is done or goes back, and no failure stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.model_run import RunStopped
from bot.domain.heartbeats.beats import Wake
from bot.domain.jobs import DEADLY_DEATHS, MAX_ATTEMPTS, WORK_CLASSES, Job, RunBeat, Work
from bot.domain.returns import Usage
from bot.errors import CodebaseUnreadable, DiskRefused, ProviderError, StoreError, Unavailable
from bot.ports import JobQueue, any_job
from bot.runtime import worker_pool
from bot.runtime.worker_pool import MAX_PAUSE_S, JobHandlers, TeamQueues, WorkerPool
from tests.builders import some_work
from tests.fakes import FakeClock, MemoryJobQueue

WAIT_S = 120


def by(
    handler_of: Callable[[Work], Any] = lambda _: lambda _: None,
    on_given_up: Callable[[Job], object] = lambda _: None,
    on_deadly: Callable[[Job], bool] = worker_pool.never,
) -> Callable[[Job], JobHandlers]:
    """Return what works off every job."""
    table = dict.fromkeys(WORK_CLASSES.values(), lambda work: handler_of(work)(work))
    handlers = JobHandlers(table=table, on_given_up=on_given_up, on_deadly=on_deadly)
    return lambda _: handlers


def of_one_team(jobs: JobQueue, wanted: Callable[[Job], bool] = any_job) -> TeamQueues:
    """Return the queue of the only team."""
    queues = TeamQueues(threading.Condition(), wait_s=0.01)
    queues.add("default", jobs, wanted)
    return queues


class Shop:
    """A pool over a memory queue, and what happened in it."""

    def __init__(self, *outcomes: BaseException | None, threads: int = 1) -> None:
        self.jobs = MemoryJobQueue(FakeClock())
        self.given_up: list[Job] = []
        self.done: list[Work] = []
        self.finished = threading.Event()
        self._outcomes = list(outcomes)
        self._expected = 0
        self.pool = WorkerPool(
            of_one_team(self.jobs),
            by(lambda _: self._handle, self._gave_up),
            threads=threads,
            pause_after_error_s=0,
            pause_while_away_s=0,
        )

    def run(self, *keys: str) -> None:
        """Queue one job for each key, start, wait until each was done or given up, stop."""
        self._expected = len(keys)
        for key in keys:
            self.jobs.put(some_work(key))
        self.pool.start()
        assert self.finished.wait(WAIT_S)
        self.pool.stop()

    def _handle(self, work: Work) -> None:
        outcome = self._outcomes.pop(0) if self._outcomes else None
        if outcome is not None:
            raise outcome
        self.done.append(work)
        self._count()

    def _gave_up(self, job: Job) -> None:
        self.given_up.append(job)
        self._count()

    def _count(self) -> None:
        if len(self.done) + len(self.given_up) == self._expected:
            self.finished.set()


def test_every_job_is_handled_once_and_forgotten() -> None:
    """The work reaches the handler, and the queue is empty afterwards."""
    shop = Shop()
    shop.run("a", "b")
    assert sorted(work.key for work in shop.done) == ["a", "b"]
    assert not shop.jobs.waiting
    assert not shop.jobs.running


def test_a_failed_job_is_tried_again() -> None:
    """An error of ours or any other sends the job back to its place, and the second try may succeed."""
    shop = Shop(ProviderError("Slack was away"), RuntimeError("a bug"))
    shop.run("a")
    assert len(shop.done) == 1
    assert shop.given_up == []


def test_after_the_last_attempt_the_failure_is_told_with_its_reasons() -> None:
    """The one who is told gets every reason; an unexpected error is named by its kind, not by its text."""
    shop = Shop(ProviderError("Slack was away"), RuntimeError("token xoxb-1"), ProviderError("Slack was away again"))
    shop.run("a")
    assert [job.failures for job in shop.given_up] == [
        ("Slack was away", "unexpected RuntimeError", "Slack was away again")
    ]
    assert list(shop.jobs.given_up)


def test_a_poison_job_does_not_stop_the_next() -> None:
    """A worker outlives a job that always fails."""
    shop = Shop(*[ValueError("poison")] * MAX_ATTEMPTS)
    shop.run("a", "b")
    assert [work.key for work in shop.done] == ["b"]
    assert [job.key for job in shop.given_up] == ["a"]


def test_a_queue_that_stumbles_does_not_end_the_worker() -> None:
    """An error of the queue itself is logged and the worker goes on."""

    class Stumbling(MemoryJobQueue):
        stumbles = 2

        def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
            if self.stumbles:
                self.stumbles -= 1
                raise OSError("disk")
            return super().claim(wanted)

    jobs = Stumbling(FakeClock())
    jobs.put(some_work("a"))
    handled = threading.Event()
    pool = WorkerPool(of_one_team(jobs), by(lambda _: lambda _: handled.set()), threads=1, pause_after_error_s=0)
    pool.start()
    assert handled.wait(WAIT_S)
    pool.stop()


def test_what_is_not_wanted_is_not_begun_until_it_is() -> None:
    """Asked at every claim, so a pause needs no restart."""
    shop = Shop()
    begins, asked = threading.Event(), threading.Event()

    def wanted(job: Job) -> bool:
        asked.set()
        return begins.is_set()

    pool = WorkerPool(of_one_team(shop.jobs, wanted), by(lambda _: shop._handle), threads=1)
    shop._expected = 1
    shop.jobs.put(some_work("a"))
    pool.start()
    assert asked.wait(WAIT_S)
    assert not shop.done
    begins.set()
    assert shop.finished.wait(WAIT_S)
    pool.stop()


def test_stopping_waits_for_the_running_job() -> None:
    """A job that ends within the grace is done, not handed back."""
    jobs = MemoryJobQueue(FakeClock())
    jobs.put(some_work("a"))
    begun, release = threading.Event(), threading.Event()

    def handle(_: Work) -> None:
        begun.set()
        release.wait(WAIT_S)

    pool = WorkerPool(of_one_team(jobs), by(lambda _: handle), threads=1)
    pool.start()
    assert begun.wait(WAIT_S)
    stopper = threading.Thread(target=pool.stop)
    stopper.start()
    release.set()
    stopper.join(WAIT_S)
    assert not jobs.running
    assert not jobs.waiting


def test_a_job_that_outlives_the_grace_is_handed_back_uncounted() -> None:
    """Stopping does not wait for ever, and the attempt is not held against the job."""
    jobs = MemoryJobQueue(FakeClock())
    jobs.put(some_work("a"))
    begun, release = threading.Event(), threading.Event()

    def handle(_: Work) -> None:
        begun.set()
        release.wait(WAIT_S)

    pool = WorkerPool(of_one_team(jobs), by(lambda _: handle), threads=1, finish_s=0, grace_s=0)
    pool.start()
    assert begun.wait(WAIT_S)
    pool.stop()
    waiting = list(jobs.waiting.values())
    release.set()
    assert [(job.key, job.attempts, job.failures) for job in waiting] == [("a", 0, ())]


def test_jobs_of_two_teams_with_one_name_are_both_handed_back() -> None:
    """Each team numbers its own jobs, so two that came in the same millisecond may be called the same."""
    queues, teams = TeamQueues(threading.Condition()), [MemoryJobQueue(FakeClock()) for _ in range(2)]
    jobs = [jobs.put(some_work(key)) for key, jobs in zip("ab", teams, strict=True)]
    assert jobs[0].name == jobs[1].name
    for number, team in enumerate(teams):
        queues.add(str(number), team)
    begun, release = threading.Semaphore(0), threading.Event()

    def handle(_: Work) -> None:
        begun.release()
        release.wait(WAIT_S)

    pool = WorkerPool(queues, by(lambda _: handle), threads=2, finish_s=0, grace_s=0)
    pool.start()
    assert all(begun.acquire(timeout=WAIT_S) for _ in jobs)
    pool.stop()
    waiting = [[job.key for job in team.waiting.values()] for team in teams]
    release.set()
    assert waiting == [["a"], ["b"]]


def test_the_pauses_are_short_enough_to_stop_in_time() -> None:
    """Grace and pause together stay under the 10 s that most supervisors give a process."""
    assert worker_pool.GRACE_S + worker_pool.PAUSE_AFTER_ERROR_S < 10


def test_an_outage_never_costs_a_job_its_attempts() -> None:
    """While an outside service is down the job goes back uncounted, so a question asked meanwhile is not given up."""
    shop = Shop(*[Unavailable("Slack could not be reached")] * (MAX_ATTEMPTS + 3), None)
    shop.run("T1.C1.1.2")
    assert shop.given_up == []
    assert len(shop.done) == 1


def test_pauses_grow_while_an_outage_lasts_and_obey_the_service() -> None:
    """Each failure in a row doubles the pause; Retry-After is the least; success starts again from the shortest."""
    pool = WorkerPool(of_one_team(MemoryJobQueue(FakeClock())), by(), threads=1)
    outage = Unavailable("down")
    assert [pool.pause_s(outage) for _ in range(3)] == [1.0, 2.0, 4.0]
    assert pool.pause_s(Unavailable("busy", retry_after_s=30)) == 30
    assert pool.pause_s(Unavailable("busy", retry_after_s=3600)) == MAX_PAUSE_S
    assert max(pool.pause_s(outage) for _ in range(20)) == 32.0
    assert pool.pause_s(ProviderError("refused")) == 1.0


def test_a_stop_interrupts_what_does_not_end_and_hands_it_back_uncounted() -> None:
    """A run that gives up because the bot stops has not failed."""
    interrupted, begun = threading.Event(), threading.Event()

    def handle(_: Work) -> None:
        begun.set()
        assert interrupted.wait(WAIT_S)
        raise RunStopped("the bot stopped", usage=Usage())

    jobs = MemoryJobQueue(FakeClock())
    jobs.put(some_work("a"))
    pool = WorkerPool(
        of_one_team(jobs),
        by(lambda _: handle),
        threads=1,
        interrupt=interrupted.set,
        finish_s=0,
        grace_s=WAIT_S,
    )
    pool.start()
    assert begun.wait(WAIT_S)
    pool.stop()
    [job] = jobs.waiting.values()
    assert (job.attempts, job.failures) == (0, ())


def test_an_idle_stop_interrupts_nothing() -> None:
    """Nor does it wait for those who wait for work."""
    interrupted = threading.Event()
    queues = TeamQueues(threading.Condition(), wait_s=60)
    queues.add("default", MemoryJobQueue(FakeClock()))
    pool = WorkerPool(queues, by(), threads=2, interrupt=interrupted.set)
    pool.start()
    pool.stop()
    assert not any(thread.is_alive() for thread in pool._threads)
    assert not interrupted.is_set()


def test_a_disk_that_refuses_costs_no_attempt_and_is_not_asked_at_once() -> None:
    """The job is tried as often as it takes, a few seconds apart."""
    refused = DiskRefused("cannot write a.json: No space left on device; free space")
    shop = Shop(*[refused] * (MAX_ATTEMPTS + 2))
    shop.run("a")
    assert (shop.done, shop.given_up) == ([some_work("a")], [])


def test_what_a_job_waits_for_is_logged_once_until_it_changes(caplog: pytest.LogCaptureFixture) -> None:
    """The log of a night in which the codebase stayed damaged can still be read."""
    damaged, full = CodebaseUnreadable("the .git of /code is damaged"), DiskRefused("no space")
    Shop(damaged, damaged, damaged, full, full, damaged).run("a")
    waits = [record.getMessage() for record in caplog.records if record.msg.startswith("job waits")]
    assert waits == [f"job waits: {error}" for error in (damaged, full, damaged)]


def test_a_disk_that_refuses_is_left_alone_for_a_while() -> None:
    """The pause is the same each time: it is short, and room may come back at any moment."""
    jobs = MemoryJobQueue(FakeClock())
    pool = WorkerPool(of_one_team(jobs), by(), threads=1, pause_while_away_s=7)
    assert [pool.pause_s(DiskRefused("no space")) for _ in range(5)] == [7.0] * 5


def test_a_deadly_job_is_not_run_but_settled_or_given_up() -> None:
    """Whoever knows what to do with it is asked; what nobody settles lies with the failed ones, and is told of."""
    jobs = MemoryJobQueue(FakeClock())
    for key in ("thread", "beat"):
        jobs.put(some_work(key))
        for _ in range(DEADLY_DEATHS):
            while (job := jobs.claim(lambda job, key=key: job.key == key)) is None:  # type: ignore[misc]
                pass
            assert job.key == key
            jobs = jobs.reopened()
    asked, given_up, handled = [], [], []
    ended = threading.Event()

    def settle(job: Job) -> bool:
        asked.append(job.key)
        return job.key == "thread"

    def tell(job: Job) -> None:
        given_up.append((job.key, job.failures[-1]))
        ended.set()

    pool = WorkerPool(of_one_team(jobs), by(lambda _: handled.append, tell, settle), threads=1)
    pool.start()
    assert ended.wait(WAIT_S)
    pool.stop()
    assert (asked, handled) == (["thread", "beat"], [])
    assert [key for key, why in given_up if "died 3 times" in why] == ["beat"]
    assert ([job.key for job in jobs.given_up.values()], jobs.waiting) == (["beat"], {})


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
