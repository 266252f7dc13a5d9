"""The contract of the port JobQueue, run over every implementation; below it, what only the disk can do."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.storage.files.spool_queue import SpoolQueue, decode_job
from bot.domain.jobs import DEADLY_DEATHS, MAX_ATTEMPTS, SUSPECT_DEATHS, Job, JobKind, QuestionAsked
from bot.errors import StoreError
from bot.ports import JobQueue
from bot.runtime.worker_pool import TeamQueues
from tests.builders import THREAD_ID, an_event, some_work
from tests.fakes import FakeClock, MemoryJobQueue
from tests.postgres import fall_silent, new_namespace, shared_database

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

USER, HEARTBEAT = JobKind.USER, JobKind.HEARTBEAT


class Backing:
    """One queue that can be opened again, as a process that restarts does."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.clock = FakeClock()
        self._kind, self._folder = kind, folder
        self._memory = MemoryJobQueue(self.clock)
        self._namespace = new_namespace()
        self._replica: ProcrastinateQueue | None = None

    def open(self) -> SpoolQueue | ProcrastinateQueue | MemoryJobQueue:
        """Open the queue as a new process does; the one before has died."""
        if self._kind == "spool":
            return SpoolQueue(self._folder / "queue", self.clock)
        if self._kind == "procrastinate":
            return self._next_replica()
        self._memory = self._memory.reopened()
        return self._memory

    def open_for_workers(self) -> TeamQueues:
        """Open the queue as `open` does, as workers have it: with the limits of the process."""
        queues = TeamQueues(threading.Condition(), wait_s=0)
        queues.add("default", self.open())
        return queues

    def close(self) -> None:
        """End what signs of life there are."""
        if self._replica is not None:
            self._replica.close()

    def _next_replica(self) -> ProcrastinateQueue:
        database = shared_database()
        from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

        if self._replica is not None:
            fall_silent(self._replica)
        self._replica = ProcrastinateQueue(database, self._namespace, self.clock)
        return self._replica


@pytest.fixture(params=["spool", "procrastinate", "memory"])
def backing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backing]:
    """One queue of each kind."""
    backing = Backing(request.param, tmp_path)
    yield backing
    backing.close()


def claims(queue: JobQueue) -> list[str]:
    """Work the queue off one job at a time and return the keys in the order they were claimed."""
    order = []
    while (job := queue.claim()) is not None:
        order.append(job.key)
        queue.done(job)
    return order


def claimed(queue: JobQueue | TeamQueues) -> Job:
    job = queue.claim()
    assert job is not None
    return job


def test_what_met_an_outage_lets_the_others_go_first(backing: Backing) -> None:
    """It may be that job's alone; the jobs of its own thread stay behind it, in their order, until it is done."""
    queue = backing.open()
    for key in ("a", "a", "b", "c"):
        queue.put(some_work(key))
    assert queue.give_back(claimed(queue), why="Slack is down", count=False) is True
    assert claims(queue) == ["b", "c", "a", "a"]
    queue.put(some_work("a"))
    queue.put(some_work("b"))
    assert claims(queue) == ["a", "b"]


def test_what_is_not_wanted_waits_and_holds_up_nobody(backing: Backing) -> None:
    """Not even a job of its own key that came later; wanted again, everything is there, also after a restart."""
    queue = backing.open()
    dear, cheap = some_work("a", number=1), some_work("a", number=2)
    for work in (dear, cheap, some_work("s", HEARTBEAT)):
        queue.put(work)
    job = queue.claim(lambda job: job.work == cheap)
    assert job is not None
    assert job.work == cheap
    queue.done(job)
    assert queue.claim(lambda job: job.work == cheap) is None
    assert claims(backing.open()) == ["a", "s"]


def test_a_job_is_claimed_with_what_was_put(backing: Backing) -> None:
    """Key, kind and work arrive unchanged; the claim counts as the first attempt."""
    queue, work = backing.open(), QuestionAsked(event=an_event("¿por qué? 🧵"))
    put = queue.put(work)
    job = claimed(queue)
    assert job == put.model_copy(update={"attempts": 1})
    assert (job.work, job.kind, job.key) == (work, USER, THREAD_ID)
    assert queue.claim() is None


def test_user_work_comes_before_heartbeats_and_the_oldest_first(backing: Backing) -> None:
    """Priority, then age."""
    queue = backing.open()
    for kind, key in ((HEARTBEAT, "h1"), (USER, "u1"), (HEARTBEAT, "h2"), (USER, "u2")):
        queue.put(some_work(key, kind))
        backing.clock.advance(1)
    assert claims(queue) == ["u1", "u2", "h1", "h2"]


def test_jobs_of_one_millisecond_keep_their_order(backing: Backing) -> None:
    """A clock that stands still does not shuffle the queue, also across ten and a hundred jobs."""
    queue = backing.open()
    keys = [f"k{number}" for number in range(120)]
    for key in keys:
        queue.put(some_work(key))
    assert claims(backing.open()) == keys


def test_a_clock_that_runs_backwards_keeps_first_in_first_out(backing: Backing) -> None:
    """Time going back an hour does not let a later job overtake, not even after a restart."""
    queue = backing.open()
    queue.put(some_work("first"))
    backing.clock.advance(-3600)
    queue.put(some_work("second"))
    backing.clock.advance(-3600)
    again = backing.open()
    again.put(some_work("third"))
    assert claims(again) == ["first", "second", "third"]


@given(
    jobs=st.lists(
        st.tuples(st.sampled_from([USER, HEARTBEAT]), st.integers(-5, 5)),
        max_size=30,
    )
)
def test_the_order_is_priority_then_arrival_whatever_the_clock_does(jobs: list[tuple[JobKind, int]]) -> None:
    """Property: with every step of the clock, forward or back, users come first and each kind in order of arrival."""
    clock = FakeClock()
    queue = MemoryJobQueue(clock)
    for number, (kind, step) in enumerate(jobs):
        clock.advance(step)
        queue.put(some_work(f"{number:03}", kind))
    expected = [f"{n:03}" for kind in (USER, HEARTBEAT) for n, (k, _) in enumerate(jobs) if k is kind]
    assert claims(queue) == expected


@given(jobs=st.lists(st.tuples(st.sampled_from([USER, HEARTBEAT]), st.integers(-5, 5)), max_size=12))
def test_the_spool_orders_like_the_memory_queue(
    tmp_path_factory: pytest.TempPathFactory, jobs: list[tuple[JobKind, int]]
) -> None:
    """Property: file names carry the whole order, so a spool read back from disk agrees."""
    backing = Backing("spool", tmp_path_factory.mktemp("spool"))
    queue = backing.open()
    for number, (kind, step) in enumerate(jobs):
        backing.clock.advance(step)
        queue.put(some_work(f"{number:03}", kind))
    expected = [f"{n:03}" for kind in (USER, HEARTBEAT) for n, (k, _) in enumerate(jobs) if k is kind]
    assert claims(backing.open()) == expected


def test_a_job_given_back_has_its_turn_again(backing: Backing) -> None:
    """What was claimed meanwhile goes on; nothing is claimed twice."""
    queue = backing.open()
    for key in "abc":
        queue.put(some_work(key))
    taken = [claimed(queue) for _ in "abc"]
    assert ([job.key for job in taken], queue.claim()) == (["a", "b", "c"], None)
    queue.done(taken[0])
    assert queue.claim() is None
    queue.give_back(taken[2], why="again")
    assert claimed(queue).key == "c"


def test_one_heartbeat_runs_at_a_time(backing: Backing) -> None:
    """A second beat waits although there is room, and user work passes it."""
    queue = backing.open()
    workers = TeamQueues(threading.Condition(), wait_s=0)
    workers.add("default", queue)
    queue.put(some_work("h1", HEARTBEAT))
    queue.put(some_work("h2", HEARTBEAT))
    beat = claimed(workers)
    assert workers.claim() is None
    queue.put(some_work("u"))
    assert claimed(workers).key == "u"
    workers.done(beat)
    assert claimed(workers).key == "h2"


def test_two_jobs_of_one_key_never_run_together(backing: Backing) -> None:
    """The second waits for the first, a job of another key passes, and the order within the key stands."""
    queue = backing.open()
    queue.put(some_work("k", number=1))
    queue.put(some_work("k", number=2))
    queue.put(some_work("other"))
    first = claimed(queue)
    assert claimed(queue).key == "other"
    assert queue.claim() is None
    queue.done(first)
    assert claimed(queue).work == some_work("k", number=2)


def test_a_job_given_back_stays_before_the_later_ones_of_its_key(backing: Backing) -> None:
    """A retry does not lose its place."""
    queue = backing.open()
    queue.put(some_work("k", number=1))
    queue.put(some_work("k", number=2))
    assert queue.give_back(claimed(queue), why="Slack was away") is True
    again = claimed(queue)
    assert again.work == some_work("k", number=1)
    assert again.failures == ("Slack was away",)


def test_the_third_failure_is_the_last(backing: Backing) -> None:
    """After three attempts the job is not claimed again, give_back says so, and the next job gets its turn."""
    queue = backing.open()
    queue.put(some_work("k", number=1))
    queue.put(some_work("k", number=2))
    answers = [queue.give_back(claimed(queue), why=f"failure {n}") for n in range(MAX_ATTEMPTS)]
    assert answers == [True, True, False]
    assert claimed(queue).work == some_work("k", number=2)
    assert queue.claim() is None
    assert backing.open().holds("k")


def test_stopping_does_not_count_as_an_attempt(backing: Backing) -> None:
    """A job handed back because the bot stops may be handed back for ever."""
    queue = backing.open()
    queue.put(some_work("k"))
    for _ in range(10):
        assert queue.give_back(claimed(queue), why="the bot stopped", count=False) is True
    job = claimed(queue)
    assert (job.attempts, job.failures) == (1, ())


def test_a_claimed_job_survives_a_crash_and_is_claimed_again(backing: Backing) -> None:
    """What ran when the process died comes back in its place; a death is no failed attempt."""
    queue = backing.open()
    queue.put(some_work("a", number=1))
    queue.put(some_work("b", number=2))
    claimed(queue)
    again = backing.open()
    job = claimed(again)
    assert (job.key, job.attempts, job.deaths, job.work) == ("a", 1, 1, some_work("a", number=1))


def test_a_job_that_the_process_died_of_three_times_alone_is_known_as_deadly(backing: Backing) -> None:
    """It is claimed once more, to be given up in order; only when that is deadly too it is claimed no more."""
    backing.open().put(some_work("k"))
    for death in range(DEADLY_DEATHS):
        job = claimed(backing.open())
        assert (job.is_deadly, job.deaths_alone) == (False, death)
    assert claimed(backing.open()).is_deadly
    queue = backing.open()
    assert queue.claim() is None
    assert [job.key for job in queue.take_given_up()] == ["k"]
    assert queue.take_given_up() == []
    assert backing.open().take_given_up() == []


def test_deaths_in_company_are_nobodys_until_each_ran_alone(backing: Backing) -> None:
    """Two jobs died together twice: from then on each runs alone, and the harmless one is not blamed."""
    for key in ("deadly", "harmless"):
        backing.open().put(some_work(key))
    workers = backing.open_for_workers()
    for _ in range(SUSPECT_DEATHS):
        assert [claimed(workers).key, claimed(workers).key] == ["deadly", "harmless"]
        workers = backing.open_for_workers()
    for _ in range(DEADLY_DEATHS):
        assert claimed(workers).key == "deadly"
        assert workers.claim() is None
        workers = backing.open_for_workers()
    job = claimed(workers)
    assert (job.key, job.is_deadly) == ("deadly", True)
    workers.done(job)
    other = claimed(workers)
    assert (other.key, other.is_deadly) == ("harmless", False)


def test_what_is_restored_comes_behind_with_its_attempts(backing: Backing) -> None:
    """In the order of restoring, whatever clock it is from; what had failed is kept as such."""
    queue = backing.open()
    queue.put(some_work("first"))
    failures = tuple(f"failure {n}" for n in range(MAX_ATTEMPTS))
    moved = Job(kind=USER, job_id="7", epoch_ms=9, key="b", work=some_work("b"), attempts=1, failures=failures[:1])
    older = moved.model_copy(update={"key": "a", "work": some_work("a"), "epoch_ms": 5})
    failed = moved.model_copy(update={"key": "c", "work": some_work("c"), "attempts": 3, "failures": failures})
    for job in (moved, older, failed):
        queue.restore(job)
    again = backing.open()
    assert [job.key for job in again.unclaimed()] == ["first", "b", "a"]
    assert [(job.attempts, job.failures) for job in again.unclaimed()[1:]] == [(1, failures[:1])] * 2
    assert [(job.key, job.attempts, job.failures) for job in again.failed()] == [("c", MAX_ATTEMPTS, failures)]


def test_two_beats_of_one_session_are_both_restored(backing: Backing) -> None:
    """They may have one id and come from clocks that differ."""
    queue = backing.open()
    for epoch_ms in (9, 9, 5):
        work = some_work("shop", HEARTBEAT)
        queue.restore(Job(kind=HEARTBEAT, job_id="shop", epoch_ms=epoch_ms, key="shop", work=work))
    assert claims(backing.open()) == ["shop"] * 3


def test_every_record_can_be_stored_in_another_form(backing: Backing) -> None:
    """Those that failed, too, with fields that this release does not know; what stays as it is does not count."""
    queue = backing.open()
    for key in ("a", "b", "c"):
        queue.put(some_work(key))
    for _ in range(MAX_ATTEMPTS):
        queue.give_back(claimed(queue), why="failed")

    def convert(record: Mapping[str, Any]) -> Mapping[str, Any]:
        return record if record["key"] == "b" else {**record, "later": [record["key"]]}

    assert queue.rewrite(convert) == 2
    again = backing.open()
    kept = {job.key: (job.model_extra or {}).get("later") for job in (*again.unclaimed(), *again.failed())}
    assert kept == {"a": ["a"], "b": None, "c": ["c"]}


def test_done_is_for_good(backing: Backing) -> None:
    """A finished job does not come back after a restart, and finishing it twice is harmless."""
    queue = backing.open()
    queue.put(some_work("k"))
    job = claimed(queue)
    queue.done(job)
    queue.done(job)
    assert backing.open().claim() is None


def test_holds_tells_whether_work_waits_or_runs(backing: Backing) -> None:
    """True from put to done, also while the job runs and after a restart."""
    queue = backing.open()
    assert not queue.holds("k")
    queue.put(some_work("k"))
    assert queue.holds("k")
    job = claimed(queue)
    assert queue.holds("k")
    assert not queue.holds("other")
    queue.done(job)
    assert not queue.holds("k")


def test_what_nobody_works_on_is_listed_in_order(backing: Backing) -> None:
    """Without being claimed; what runs is not among it, what came back is."""
    queue = backing.open()
    for key in ("a", "b", "c"):
        queue.put(some_work(key))
    job = claimed(queue)
    assert [one.key for one in queue.unclaimed()] == ["b", "c"]
    queue.give_back(job, why="the bot stopped", count=False)
    assert [one.key for one in queue.unclaimed()] == ["a", "b", "c"]


def test_ids_do_not_repeat_after_a_restart(backing: Backing) -> None:
    """Two jobs of one millisecond, one before and one after a restart, are two jobs."""
    backing.open().put(some_work("a"))
    queue = backing.open()
    queue.put(some_work("b"))
    assert claims(queue) == ["a", "b"]


def test_a_given_id_names_the_job(backing: Backing) -> None:
    """Heartbeats are named after their session."""
    job = backing.open().put(some_work("shop", HEARTBEAT))
    assert job.name == f"heartbeat_{int(backing.clock.now().timestamp() * 1000)}_shop.json"


def test_eight_threads_claim_every_job_once(backing: Backing) -> None:
    """Concurrent workers never get the same job and leave none behind."""
    queue = backing.open()
    for number in range(40):
        queue.put(some_work(f"k{number}"))
    seen: list[str] = []

    def work() -> None:
        while (job := queue.claim()) is not None:
            seen.append(job.key)
            queue.done(job)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(seen) == sorted(f"k{number}" for number in range(40))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a spool lies."""
    return tmp_path / "queue"


def open_spool(folder: Path) -> SpoolQueue:
    return SpoolQueue(folder, FakeClock())


class TestOnDisk:
    """What the contract cannot say because only files can be damaged."""

    def test_the_folder_listing_is_the_queue(self, folder: Path) -> None:
        """A waiting job lies in queue/, a claimed one in queue/running/, a finished one nowhere."""
        queue = open_spool(folder)
        job = queue.put(some_work("k"))
        assert (folder / job.name).is_file()
        taken = claimed(queue)
        assert not (folder / job.name).exists()
        assert (folder / "running" / job.name).is_file()
        queue.done(taken)
        assert [path for path in folder.rglob("*") if path.is_file()] == []

    def test_a_job_given_up_lies_in_failed_with_its_reasons(self, folder: Path) -> None:
        """failed/ keeps the whole job, so that a human can look at it and put it back."""
        queue = open_spool(folder)
        job = queue.put(some_work("k", number=1))
        for number in range(MAX_ATTEMPTS):
            queue.give_back(claimed(queue), why=f"failure {number}")
        kept = decode_job(json.loads((folder / "failed" / job.name).read_bytes()))
        assert kept.failures == ("failure 0", "failure 1", "failure 2")
        assert kept.work == some_work("k", number=1)

    @pytest.mark.parametrize("where", ["", "running"])
    @pytest.mark.parametrize("content", [b"", b'{"kind": "us', b"[]", b"\xff", b"[" * 100_000])
    def test_a_job_that_is_not_readable_is_set_aside_and_named(self, folder: Path, where: str, content: bytes) -> None:
        """A truncated or half-written job keeps its bytes under another name and holds up nobody."""
        open_spool(folder).put(some_work("good"))
        (folder / where / "user_1700000000000_000009.json").write_bytes(content)
        queue = open_spool(folder)
        assert queue.corrupt == ["user_1700000000000_000009.json.corrupt"]
        assert (folder / where / queue.corrupt[0]).read_bytes() == content
        assert claims(queue) == ["good"]

    @pytest.mark.parametrize("where", ["", "running", "failed"])
    def test_a_folder_that_is_removed_meanwhile_is_made_anew(self, folder: Path, where: str) -> None:
        """Its jobs are still known: one that runs and one that waits come to their ends, and a new one is taken."""
        queue = open_spool(folder)
        queue.put(some_work("runs"))
        running = claimed(queue)
        queue.put(some_work("waits"))
        shutil.rmtree(folder / where)
        queue.give_back(running.model_copy(update={"attempts": MAX_ATTEMPTS}), why="failed for good")
        queue.put(some_work("new"))
        assert claims(queue) == ["waits", "new"]
        assert [path.name for path in (folder / "failed").iterdir()] == [running.name]

    def test_a_job_renamed_by_hand_is_set_aside(self, folder: Path) -> None:
        """The name carries the priority; one that contradicts the content is not trusted."""
        queue = open_spool(folder)
        job = queue.put(some_work("h", HEARTBEAT))
        (folder / job.name).rename(folder / "user_1_000001.json")
        assert len(open_spool(folder).corrupt) == 1

    @pytest.mark.parametrize("name", ["user_soon_000001.json", "user__.json", "a_b_c.json"])
    def test_a_file_with_a_strange_name_does_not_stop_the_start(self, folder: Path, name: str) -> None:
        """What only looks like a job is set aside."""
        open_spool(folder)
        (folder / name).write_text("{}")
        queue = open_spool(folder)
        assert queue.claim() is None
        assert len(queue.corrupt) == 1

    def test_a_disk_that_refuses_a_job_says_so_and_queues_nothing(self, folder: Path) -> None:
        """put raises StoreError and the job runs neither now nor after a restart."""
        queue = open_spool(folder)
        (folder / ".tmp-user_1795165200000_000001.json").mkdir()
        with pytest.raises(StoreError):
            queue.put(some_work("k"))
        assert not queue.holds("k")
        assert queue.claim() is None

    def test_refused_jobs_use_up_no_numbers(self, folder: Path) -> None:
        """A disk that is full for a day leaves no gap; the next job is the first, and errors name no folder."""
        queue = open_spool(folder)
        in_the_way = folder / ".tmp-user_1795165200000_000001.json"
        in_the_way.mkdir()
        for _ in range(3):
            with pytest.raises(StoreError):
                queue.put(some_work("k"))
        in_the_way.rmdir()
        assert queue.put(some_work("k")).job_id == "000001"
        assert queue.put(some_work("k")).job_id == "000002"

    def test_a_disk_that_refuses_a_claim_leaves_the_job_waiting(self, folder: Path) -> None:
        """claim raises StoreError; the job is claimed when the disk has recovered."""
        queue = open_spool(folder)
        job = queue.put(some_work("k"))
        in_the_way = folder / f".tmp-{job.name}"
        in_the_way.mkdir()
        with pytest.raises(StoreError):
            queue.claim()
        in_the_way.rmdir()
        assert claimed(queue).attempts == 1

    def test_a_failure_that_cannot_be_noted_still_frees_the_place(self, folder: Path) -> None:
        """On a full disk a job goes back without its reason rather than blocking its thread until a restart."""
        queue = open_spool(folder)
        job = queue.put(some_work("k"))
        taken = claimed(queue)
        (folder / "running" / f".tmp-{job.name}").mkdir()
        assert queue.give_back(taken, why="Slack was away") is True
        assert claimed(queue).attempts == 2

    def test_who_waits_for_work_is_told_of_it(self, folder: Path) -> None:
        """The condition that queues share is notified by `put`."""
        changed = threading.Condition()
        queue = SpoolQueue(folder, FakeClock(), changed=changed)

        def put() -> None:
            with changed:  # free once the other thread waits
                queue.put(some_work("k"))

        with changed:
            threading.Thread(target=put).start()
            assert changed.wait(timeout=120)
        assert claimed(queue).key == "k"
