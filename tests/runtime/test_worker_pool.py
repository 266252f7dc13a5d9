"""The worker pool: every job is done or goes back, and no failure stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from bot.agent.model_run import RunStopped
from bot.domain.jobs import DEADLY_DEATHS, MAX_ATTEMPTS, WORK_CLASSES, Job, Work
from bot.domain.returns import Usage
from bot.errors import CodebaseUnreadable, DiskRefused, ProviderError, Unavailable
from bot.ports import JobQueue, any_job
from bot.runtime import worker_pool
from bot.runtime.team_queues import TeamQueues
from bot.runtime.worker_pool import MAX_PAUSE_S, JobHandlers, WorkerPool
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
