"""Commands of waiting beats run beside each other; the beats come off the queue one at a time, once theirs have run."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime

from bot.domain.heartbeats.allowed_commands import Argv
from bot.domain.jobs import Job, JobKind
from bot.heartbeat.run.inputs import CommandPool
from bot.heartbeat.run.probes import ProbeResult
from tests.builders import some_work
from tests.fakes import FakeClock, MemoryJobQueue

ARGV = ("make", "check")
LIMIT_S = 120.0


def answered(output: str) -> dict[Argv, ProbeResult]:
    return {ARGV: ProbeResult(argv=ARGV, output=output, exit_code=0, seconds=0.1)}


class Works:
    """A pool over commands of which some hang until they are released."""

    def __init__(self, *hanging: str, threads: int = 8) -> None:
        self.hanging, self.release = set(hanging), threading.Event()
        self.told = threading.Semaphore(0)
        self.ran = list[str]()
        self.pool = CommandPool(self.run, self.told.release, threads=threads)
        self.clock = FakeClock(datetime(2026, 11, 21, tzinfo=UTC))
        self.jobs = MemoryJobQueue(self.clock)

    def run(self, session_id: str) -> Mapping[Argv, ProbeResult]:
        self.ran.append(session_id)
        if session_id in self.hanging:
            self.release.wait(LIMIT_S)
        if session_id == "broken":
            raise ValueError("a bug")
        return answered(session_id)

    def queue(self, *names: str) -> None:
        for name in names:
            self.jobs.put(some_work(name, JobKind.HEARTBEAT))

    def claim(self) -> Job | None:
        return self.jobs.claim(self.pool.is_ready)

    def work_off(self, count: int) -> list[str]:
        """Claim and finish so many beats, one at a time, each with the answers of its own commands."""
        done = list[str]()
        while len(done) < count:
            job = self.claim()
            if job is None:
                assert self.told.acquire(timeout=LIMIT_S), f"nothing more ran after {done}"
                continue
            assert self.claim() is None, "one beat at a time"
            assert {each.output for each in self.pool.take_answers(job.key).values()} <= {job.key}
            self.jobs.done(job)
            done.append(job.key)
        return done


def test_three_that_hang_hold_none_of_the_others_up() -> None:
    """Sixty sessions: fifty-seven are done while the three still hang, and those follow."""
    names = [f"s{number:02}" for number in range(60)]
    works = Works(*names[:3])
    works.queue(*names)
    assert sorted(works.work_off(57)) == names[3:]
    assert works.claim() is None
    works.release.set()
    assert sorted(works.work_off(3)) == names[:3]
    assert sorted(works.ran) == names


def test_a_question_is_taken_at_once_whatever_hangs() -> None:
    """Only beats wait for commands."""
    works = Works("slow")
    works.queue("slow")
    assert works.claim() is None
    works.jobs.put(some_work("C1.1"))
    claimed = works.claim()
    assert claimed is not None
    assert claimed.kind is JobKind.USER
    works.release.set()


def test_answers_for_a_beat_that_another_replica_took_are_not_those_of_the_next() -> None:
    """What was well then may fail by now."""
    works = Works()
    works.queue("shop")
    assert works.claim() is None
    assert works.told.acquire(timeout=LIMIT_S)
    elsewhere = works.jobs.claim()
    assert elsewhere is not None
    works.jobs.done(elsewhere)
    works.clock.advance(60)
    works.queue("shop")
    assert works.work_off(1) == ["shop"]
    assert works.ran == ["shop", "shop"]


def test_commands_that_could_not_be_run_ahead_keep_no_beat_from_running() -> None:
    """It meets the trouble itself, and puts it on record."""
    works = Works()
    works.queue("broken")
    assert works.work_off(1) == ["broken"]


def test_answers_count_once() -> None:
    """The next beat has its own."""
    works = Works()
    works.queue("shop")
    assert works.claim() is None
    assert works.told.acquire(timeout=LIMIT_S)
    assert works.claim() is not None
    assert works.pool.take_answers("shop") == answered("shop")
    assert works.pool.take_answers("shop") == {}
