"""What only a queue of several processes can do, and what becomes of jobs whose process died or was paused."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bot.domain.jobs import Job, QuestionAsked
from bot.errors import ConfigError, DatabaseAway
from bot.ports.migrations import SCHEMA_VERSION
from tests.builders import an_event, some_work
from tests.crashes.moments import after
from tests.fakes import FakeClock
from tests.postgres import cut_connections, fall_silent, new_namespace, shared_database, until_it_answers
from tests.replicas.database_proxy import DatabaseProxy

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

Open = Callable[..., "ProcrastinateQueue"]


@pytest.fixture
def namespace() -> str:
    """A queue that nobody else has."""
    return new_namespace()


@pytest.fixture
def replica(namespace: str) -> Iterator[Open]:
    """Open the queue as one more process does."""
    database, opened = shared_database(), []
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

    def open_queue(**options: Any) -> ProcrastinateQueue:
        opened.append(ProcrastinateQueue(database, namespace, FakeClock(), **options))
        return opened[-1]

    yield open_queue
    for queue in opened:
        queue.close()


def claimed(queue: ProcrastinateQueue) -> Job:
    job = queue.claim()
    assert job is not None
    return job


def next_job(queue: ProcrastinateQueue) -> Job:
    """Claim a job that may not be there yet."""
    while (job := queue.claim()) is None:
        time.sleep(0.02)
    return job


def last_beat(queue: ProcrastinateQueue) -> datetime | None:
    with shared_database().reading() as connection:
        row = connection.execute(
            "SELECT last_heartbeat FROM procrastinate_workers WHERE id = %s", [queue._worker_id]
        ).fetchone()
    return row[0] if row else None


def claim_and_return(queue: ProcrastinateQueue) -> None:
    """Claim a job and give it back for as long as that goes well."""
    while (job := queue.claim()) is not None:
        queue.give_back(job, why="the bot stopped", count=False)


def sweep_now(queue: ProcrastinateQueue) -> None:
    """Return the jobs of dead workers now."""
    with shared_database().writing() as connection:
        queue._sweep(connection)


def taken_over(queue: ProcrastinateQueue) -> Job:
    """Claim what a silent replica had; another one may be sweeping just now."""
    while (job := queue.claim()) is None:
        sweep_now(queue)
    return job


def test_two_replicas_share_the_jobs_and_never_a_key(replica: Open) -> None:
    """The caps are each replica's own; the key's are not."""
    one, other = replica(), replica()
    for number in range(3):
        one.put(some_work("k", number=number))
    one.put(some_work("other"))
    first = claimed(one)
    assert claimed(other).key == "other"
    assert one.claim() is other.claim() is None
    assert other.holds("k")
    one.done(first)
    assert claimed(other).work == some_work("k", number=1)
    assert one.claim() is None


def test_the_jobs_of_another_namespace_are_not_seen(replica: Open) -> None:
    """Not even by a key of the same name."""
    queue = replica()
    queue.put(some_work("k"))
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

    other = ProcrastinateQueue(shared_database(), new_namespace(), FakeClock())
    assert not other.holds("k")
    assert other.claim() is None
    other.put(some_work("k"))
    assert (claimed(queue).key, claimed(other).key) == ("k", "k")
    other.close()


def test_who_waits_is_told_of_work_of_another_replica(replica: Open) -> None:
    """Of a new job, and of the end of a job of the same key."""
    changed = threading.Condition()
    waiting, other = replica(changed=changed), replica()
    assert waiting.claim() is None

    def tells(by: Callable[[], object]) -> None:
        def act() -> None:
            with changed:  # free once the other thread waits
                pass
            by()

        with changed:
            threading.Thread(target=act).start()
            assert changed.wait(timeout=120)

    tells(lambda: other.put(some_work("a")))
    assert next_job(waiting).key == "a"
    other.put(some_work("b", number=1))
    other.put(some_work("b", number=2))
    job = claimed(other)
    tells(lambda: other.done(job))
    assert next_job(waiting).work == some_work("b", number=2)


def test_a_replica_whose_connections_were_cut_goes_on(replica: Open) -> None:
    """It hears of new work again, and nobody takes it for dead."""
    waiting, other = replica(), replica()
    other.put(some_work("before"))
    before = claimed(waiting)
    cut_connections(shared_database()._url)
    other.put(some_work("after"))
    job = next_job(waiting)
    assert (before.key, job.key, job.deaths) == ("before", "after", 0)
    waiting.done(before)
    assert not other.holds("before")


def test_after_an_outage_the_others_get_time_for_a_sign_of_life(replica: Open) -> None:
    """Everybody was silent meanwhile: whoever is back first takes nobody's jobs."""
    first, late = replica(beat_every_s=0.01), replica()
    assert first.claim() is None
    late.put(some_work("theirs"))
    claimed(late)
    cut_connections(shared_database()._url)
    until_it_answers()
    fall_silent(late)
    beats: set[datetime | None] = set()
    while len(beats) < 10:  # after each it may look for the dead
        beats.add(last_beat(first))
    late.put(some_work("new"))
    job = next_job(first)
    assert job.key == "new"


def test_who_can_give_no_sign_of_life_claims_nothing(replica: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another would take its jobs over in a while; once it can, it goes on by itself."""

    def refuse() -> None:
        raise DatabaseAway("too many connections")

    queue = replica()
    queue.put(some_work("k"))
    monkeypatch.setattr(queue._database, "connect", refuse)
    with pytest.raises(DatabaseAway, match="too many connections"):
        claim_and_return(queue)
    monkeypatch.undo()
    while not queue._running:
        with suppress(DatabaseAway):
            queue.claim()


def test_what_a_silent_replica_had_is_returned_once(replica: Open) -> None:
    """Whoever looks first returns it, and its death is counted once."""
    dead, one, other = replica(), replica(), replica()
    dead.put(some_work("k"))
    claimed(dead)
    assert one.claim() is None
    fall_silent(dead)
    sweeps = [threading.Thread(target=sweep_now, args=[queue]) for queue in (one, other) for _ in range(4)]
    for sweep in sweeps:
        sweep.start()
    for sweep in sweeps:
        sweep.join()
    job = taken_over(other)
    assert (job.deaths, job.deaths_alone, job.attempts) == (1, 1, 1)
    assert one.claim() is None


def test_a_replica_that_was_taken_for_dead_ends_no_job_of_others(replica: Open) -> None:
    """It comes back, and neither its `done` nor its `give_back` touches what another runs by now."""
    paused, other = replica(), replica()
    for key in ("a", "b"):
        paused.put(some_work(key))
    lost = [claimed(paused), claimed(paused)]
    fall_silent(paused)
    taken = [taken_over(other), taken_over(other)]
    paused.done(lost[0])
    assert paused.give_back(lost[1], why="Slack was away")
    assert paused.claim() is None
    assert paused.holds("a")
    for job in taken:
        other.done(job)
    assert not paused.holds("a")
    assert not paused.holds("b")


def test_a_replica_that_was_taken_for_dead_claims_on_as_a_new_worker(replica: Open) -> None:
    """But not what still runs here, until that has ended; its end does not end the job."""
    paused, other = replica(), replica()
    paused.put(some_work("k"))
    first = claimed(paused)
    fall_silent(paused)
    other.give_back(taken_over(other), why="the bot stopped", count=False)
    assert paused.claim() is None
    paused.done(first)
    again = claimed(paused)
    assert (again.key, again.deaths) == ("k", 1)
    assert other.claim() is None
    paused.done(again)
    assert not other.holds("k")


def test_a_job_and_the_state_it_belongs_to_are_there_together_or_not_at_all(replica: Open, namespace: str) -> None:
    """Also where the program fails between the two."""
    from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments

    queue, database = replica(), shared_database()
    documents = PostgresDocuments(database, namespace)
    with suppress(ZeroDivisionError), database.transaction():
        documents.put("threads", "k", {"n": 1}, version=0)
        queue.put(some_work("k"))
        _ = 1 / 0
    assert not queue.holds("k")
    assert documents.get("threads", "k") is None
    with database.transaction():
        documents.put("threads", "k", {"n": 1}, version=0)
        queue.put(some_work("k"))
    assert queue.holds("k")


def test_a_job_of_a_later_release_is_left_to_it(replica: Open, namespace: str) -> None:
    """While replicas are replaced one by one; the others' jobs go on."""
    queue = replica()
    queue.put(some_work("new"))
    queue.put(some_work("old"))
    later = {"kind": "user", "schema_version": SCHEMA_VERSION + 1}
    change(namespace, {"job": json.dumps(later)})
    assert claimed(queue).key == "old"
    assert queue.claim() is None
    assert queue.holds("new")
    assert queue.corrupt == []


def test_a_row_that_holds_no_job_is_kept_and_named(replica: Open, namespace: str, tmp_path: Path) -> None:
    """It holds up nobody, and is counted with the jobs that were given up."""
    from bot.adapters.storage.postgres.postgres_engine import PostgresStore

    queue = replica()
    queue.put(some_work("bad"))
    queue.put(some_work("good"))
    store = PostgresStore(shared_database(), namespace, tmp_path)
    assert store.job_counts() == (2, 0)
    change(namespace, {"spoiled": 1})
    assert claimed(queue).key == "good"
    assert len(queue.corrupt) == 1
    assert store.job_counts() == (0, 1)
    assert not queue.holds("bad")


def test_a_row_of_a_dead_worker_that_holds_no_job_is_given_up_and_named(
    replica: Open, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, with one line in the log; the next job of its key goes on."""
    dead, queue = replica(beat_every_s=60), replica(silent_s=0)
    for _ in range(2):
        dead.put(some_work("shop"))
    number = int(claimed(dead).job_id)
    with shared_database().writing() as connection:
        connection.execute("UPDATE procrastinate_jobs SET args = '{}' WHERE id = %s", [number])
    while not queue.corrupt:  # another one may be sweeping just now
        sweep_now(queue)
    sweep_now(queue)
    assert queue.corrupt == [f"procrastinate_jobs: {number}"]
    assert [record.message for record in caplog.records] == ["a row holds no job and was given up"]
    assert claimed(queue).key == "shop"


def test_whatever_a_chat_sends_can_be_queued(replica: Open) -> None:
    """Also what the type jsonb refuses."""
    queue, work = replica(), QuestionAsked(event=an_event("why \x00?"))
    queue.put(work)
    assert claimed(queue).work == work


def test_a_name_that_is_too_long_is_refused_at_the_start() -> None:
    """Channels of the database have short names."""
    database = shared_database()
    from bot.adapters.storage.postgres.procrastinate_queue import MAX_NAMESPACE_BYTES, ProcrastinateQueue

    with pytest.raises(ConfigError, match="too long"):
        ProcrastinateQueue(database, "x" * (MAX_NAMESPACE_BYTES + 1), FakeClock())
    ProcrastinateQueue(database, "x" * MAX_NAMESPACE_BYTES, FakeClock()).close()


def test_a_process_that_is_paused_in_a_transaction_keeps_its_locks_for_seconds_only() -> None:
    """One that was paused while it returned the jobs of others kept everybody else from it."""
    with shared_database().reading() as connection:
        assert connection.execute("SHOW idle_in_transaction_session_timeout").fetchone() == ("10s",)


def change(namespace: str, args: dict[str, object]) -> None:
    """Replace what the first row of a queue holds."""
    with shared_database().writing() as connection:
        connection.execute(
            "UPDATE procrastinate_jobs SET args = %s::jsonb WHERE id = "
            "(SELECT min(id) FROM procrastinate_jobs WHERE queue_name = %s)",
            [json.dumps(args), namespace],
        )


def test_a_claim_whose_answer_was_lost_is_made_again(namespace: str) -> None:
    """The server wrote it and the connection broke: its worker lives, so nobody else would ever return it."""
    proxy = DatabaseProxy(shared_database()._url)
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

    database = Database(proxy.url, max_connections=2)
    queue = ProcrastinateQueue(database, namespace, FakeClock())
    try:
        put = queue.put(some_work("T1.C1.1"))
        proxy.arm(after(r"\s*WITH alive AS"), lambda: None)
        with pytest.raises(DatabaseAway):
            queue.claim()
        claimed = queue.claim()
        assert claimed is not None
        assert (claimed.job_id, claimed.attempts) == (put.job_id, 1)
        queue.done(claimed)
        assert queue.claim() is None
    finally:
        queue.close()
        database.close()
        proxy.close()
