"""Several processes at once over one database, some of them killed: nothing is lost and nothing is done twice."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from bot.domain.jobs import Job
from tests import fork_server
from tests.builders import some_work
from tests.fakes import FakeClock
from tests.fork_server import ForkedProcess
from tests.postgres import new_namespace, shared_database

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

WRITERS: Final = 3
TIMES: Final = 10
WORKERS: Final = 6
KILLS: Final = WORKERS // 2
HEAD: Final = """
import sys
from bot.adapters.storage.postgres.database import Database
from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments
from bot.adapters.storage.postgres.postgres_documents import PostgresJournal
from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue
from bot.ports.collections import SingleDocument
from bot.adapters.clocks import SystemClock
url, namespace, who = sys.argv[1:]
database = Database(url, max_connections=2)
documents = PostgresDocuments(database, namespace)
journal = PostgresJournal(database, namespace, "events")
"""
WRITE: Final = (
    HEAD
    + f"""
one = SingleDocument(documents, "briefs")
for n in range({TIMES}):
    one.change(lambda now: {{**now, "sum": now.get("sum", 0) + 1}})
    journal.append({{"who": who, "n": n}})
"""
)
WORK: Final = (
    HEAD
    + """
from threading import Condition
from bot.runtime.worker_pool import TeamQueues
changed = Condition()
queues = TeamQueues(changed, wait_s=0.2)
queues.add("team", ProcrastinateQueue(
    database, namespace, SystemClock(), changed=changed, beat_every_s=0.2, silent_s=3
))
while True:
    job = queues.claim()
    if job is not None:
        journal.append({"begun": job.job_id, "key": job.key, "deaths": job.deaths})
        journal.append_once({"done": job.job_id, "key": job.key}, [(job.job_id,)])
        queues.done(job)
"""
)
HOLD: Final = (
    HEAD
    + """
queue = ProcrastinateQueue(database, namespace, SystemClock(), beat_every_s=0.2, silent_s=600)
jobs = [queue.claim(), queue.claim()]
print(*[job.key for job in jobs], flush=True)
for _ in sys.stdin:
    for job in jobs:
        queue.done(job)
    print("done", flush=True)
"""
)
JOBS: Final = 180
KEYS: Final = JOBS // 6


@contextmanager
def started(program: str, namespace: str, who: int) -> Iterator[ForkedProcess]:
    """Run a program beside this one; it is killed in the end."""
    with fork_server.lines("tests.program", program, shared_database()._url, namespace, str(who)) as process:
        yield process


def said(process: ForkedProcess) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def jobs_left(namespace: str) -> int:
    with shared_database().reading() as connection:
        row = connection.execute(
            "SELECT count(*) FROM procrastinate_jobs WHERE queue_name = %s", [namespace]
        ).fetchone()
    return int(row[0]) if row else 0


def be_late(queue: ProcrastinateQueue) -> None:
    """Let the last sign of life of the other process be an hour old."""
    with shared_database().writing() as connection:
        connection.execute(
            "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour' WHERE id <> %s",
            [queue._worker_id],
        )


def next_job(queue: ProcrastinateQueue) -> Job:
    """Claim a job of another process, which is late again where a sign of life was on its way before its end."""
    while (job := queue.claim()) is None:
        be_late(queue)
        time.sleep(0.02)
    return job


def worked_off(namespace: str) -> list[dict[str, Any]]:
    """Have several processes work off many jobs, and kill half of them meanwhile; return what they journaled."""
    database = shared_database()
    from bot.adapters.storage.postgres.postgres_documents import PostgresJournal
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

    journal = PostgresJournal(database, namespace, "events")
    queue = ProcrastinateQueue(database, namespace, FakeClock())
    for number in range(JOBS):
        queue.put(some_work(f"k{number % KEYS}", number=number))
    with ExitStack() as stack:
        workers = [stack.enter_context(started(WORK, namespace, who)) for who in range(WORKERS)]
        for kill in range(KILLS):
            while sum("begun" in record for record in journal.records()) < (kill + 1) * JOBS // (2 * KILLS):
                time.sleep(0.02)
            workers[kill].kill()
        while jobs_left(namespace):
            time.sleep(0.05)
            assert any(worker.poll() is None for worker in workers)
    queue.close()
    return list(journal.records())


def test_several_that_write_lose_nothing() -> None:
    """Every change is in the document, and every record in the journal, each process's in its order."""
    namespace, database = new_namespace(), shared_database()
    from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments, PostgresJournal

    journal, read = PostgresJournal(database, namespace, "events"), 0
    with ExitStack() as stack:
        writers = [stack.enter_context(started(WRITE, namespace, who)) for who in range(WRITERS)]
        while any(writer.poll() is None for writer in writers):
            before, read = read, len(list(journal.records()))
            assert read >= before
            time.sleep(0.01)
        assert [writer.wait() for writer in writers] == [0] * WRITERS
    seen = list(journal.records())
    found = PostgresDocuments(database, namespace).get("briefs", "briefs")
    assert found is not None
    assert found.value is not None
    assert (found.version, found.value["sum"]) == (WRITERS * TIMES, WRITERS * TIMES)
    assert seen == list(journal.records())
    for who in range(WRITERS):
        assert [record["n"] for record in seen if record["who"] == str(who)] == list(range(TIMES))


@pytest.mark.full
def test_the_jobs_of_killed_processes_are_done_by_the_others() -> None:
    """Each at least once, in its order; what it does is there once. Only a death makes a job begin twice."""
    records = worked_off(new_namespace())
    done = [record["done"] for record in records if "done" in record]
    assert len(done) == len(set(done)) == JOBS
    begun = [(record["begun"], record["deaths"]) for record in records if "begun" in record]
    assert len(begun) == len(set(begun))
    for key in {record["key"] for record in records}:
        of_key = [record for record in records if record["key"] == key]
        ended = [record["done"] for record in of_key if "done" in record]
        assert ended == sorted(ended)
        if not any(record.get("deaths") for record in of_key):
            steps = [record.get("begun") or record["done"] for record in of_key]
            assert steps[::2] == steps[1::2]


def test_a_killed_process_gives_its_jobs_back_once_it_is_silent() -> None:
    """Both count as a death in company."""
    namespace, database = new_namespace(), shared_database()
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

    queue = ProcrastinateQueue(database, namespace, FakeClock(), beat_every_s=0.2, silent_s=600)
    for key in ("a", "b"):
        queue.put(some_work(key))
    with started(HOLD, namespace, 0) as process:
        assert said(process) == "a b"
        assert queue.claim() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        be_late(queue)
        jobs = [next_job(queue), next_job(queue)]
    assert [(job.key, job.deaths, job.deaths_alone) for job in jobs] == [("a", 1, 0), ("b", 1, 0)]
    queue.close()


def test_a_paused_process_ends_no_job_that_another_runs_by_now() -> None:
    """It wakes up, believes that its jobs are done, and is not heard."""
    namespace, database = new_namespace(), shared_database()
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

    queue = ProcrastinateQueue(database, namespace, FakeClock(), beat_every_s=0.2, silent_s=600)
    for key in ("a", "b"):
        queue.put(some_work(key))
    with started(HOLD, namespace, 0) as process:
        assert said(process) == "a b"
        assert queue.claim() is None
        process.send_signal(signal.SIGSTOP)
        be_late(queue)
        jobs = [next_job(queue), next_job(queue)]
        process.send_signal(signal.SIGCONT)
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert said(process) == "done"
        assert jobs_left(namespace) == 2
        for job in jobs:
            queue.done(job)
    assert jobs_left(namespace) == 0
    queue.close()
