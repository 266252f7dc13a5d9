"""How replicas take a message: its event, its class and its job are stored at once, by one of them, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pytest

from bot.config.settings import Settings
from bot.domain.jobs import AlertArrived, FollowUpArrived
from bot.errors import StoreError
from bot.intake.normalise import Identity
from bot.intake.watcher import MessageLog, Watcher
from bot.ports.collections import CLASSIFIED, EVENTS
from bot.ports.storage import SortedMessage, Taken
from bot.ports.threads import Threads
from tests.builders import NOW, a_sorter, a_thread, some_work
from tests.fakes import FakeClock
from tests.payloads import payload
from tests.postgres import new_namespace, shared_database, until_somebody_waits
from tests.tables import each_row

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.postgres_engine import PostgresStore

QUESTION_TS, REPLY_TS = "1795165200.000100", "1795165260.000200"
Hear = Callable[[], Watcher]


@pytest.fixture
def store(tmp_path: Path) -> PostgresStore:
    """What one team keeps."""
    database = shared_database()
    from bot.adapters.storage.postgres.postgres_engine import PostgresStore

    return PostgresStore(database, new_namespace(), tmp_path)


@pytest.fixture
def replica(store: PostgresStore) -> Iterator[Hear]:
    """Watch the channel as one more process does."""
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

    opened: list[ProcrastinateQueue] = []
    settings = {
        "codebase": str(Path.cwd()),
        "ops_channel": "C0OPS",
        "watched_chats": [{"chat_id": "C0HELP"}],
        "watcher": {"allow_bots": ["B0ALERT"]},
    }

    def watch() -> Watcher:
        opened.append(ProcrastinateQueue(shared_database(), store._namespace, FakeClock()))
        return Watcher(
            Settings.model_validate(settings),
            Identity(team_id="T1", user_id="U0BOT", bot_id="B0BOT"),
            sorter=a_sorter(),
            journals=MessageLog(store.journal(EVENTS), store.journal(CLASSIFIED), store.shared),
            threads=Threads(store.documents),
            jobs=opened[-1],
            clock=FakeClock(),
            on_follow_up=lambda _: None,
        )

    yield watch
    for queue in opened:
        queue.close()


def body(text: str, ts: str = QUESTION_TS, **changes: Any) -> dict[str, Any]:
    """Return a message of the watched channel as it is delivered."""
    delivered = payload("message")
    said = {"text": text, "blocks": [], "ts": ts, "event_ts": ts, "client_msg_id": f"id-{ts}"}
    delivered["event"].update({**said, **changes})
    return {**delivered, "event_id": f"Ev-{ts}"}


def a_message(number: int, **changes: Any) -> SortedMessage:
    """Return a message with a job."""
    work = some_work(f"T1.C1.170000000{number}.000100")
    fields = {"thread_id": work.key, "event": {"n": number}, "names": [("C1", str(number))], "classified": {}}
    return SortedMessage(**{**fields, "work": work, "at": NOW, **changes})


def stored(store: PostgresStore) -> tuple[int, int, int]:
    """Return how many events, classes and jobs there are."""
    events, classes = (len(list(store.journal(name).records())) for name in (EVENTS, CLASSIFIED))
    return events, classes, store.job_counts().waiting


def test_a_message_is_stored_with_its_class_and_its_job_and_only_once(store: PostgresStore) -> None:
    """A second delivery under one of its names leaves nothing."""
    assert store.take(a_message(1), is_in_flight=False) is Taken.FIRST
    again = a_message(2, names=[("C1", "other"), ("C1", "1")])
    assert store.take(again, is_in_flight=False) is Taken.KNOWN
    assert store.take(a_message(3, work=None), is_in_flight=False) is Taken.FIRST
    assert stored(store) == (2, 2, 1)


def test_a_message_whose_thread_is_worked_on_is_stored_as_such_only(store: PostgresStore) -> None:
    """Whoever did not know of the thread's job, or of its record, is told and has changed nothing."""
    store.take(a_message(1), is_in_flight=False)
    threads = Threads(store.documents)
    threads.put(a_thread(thread_id="T1.C1.1700000002.000100"))
    for number in (1, 2):
        reply = a_message(number, names=[("C1", f"reply {number}")])
        assert store.take(reply, is_in_flight=False) is Taken.IN_FLIGHT
        assert stored(store) == (number, number, number)
        assert store.take(reply, is_in_flight=True) is Taken.FIRST


@each_row("edited", [None, {"user": "U0ANN", "ts": "1795165230.000000"}])
def test_a_long_edit_that_is_read_back_is_journaled(replica: Hear, edited: dict[str, str] | None) -> None:
    """By a name that fits an index, with Slack's time of it and without."""
    long = body(f"[RESOLVED] CPU {token_hex(8_000)}", edited=edited, bot_id="B0ALERT", subtype="bot_message")["event"]
    change = {"message": long, "previous_message": {**long, "text": "[FIRING:1] CPU"}}
    event = {"type": "message", "subtype": "message_changed", "channel": long["channel"], **change}
    watcher = replica()
    assert watcher.receive({"team_id": "T1", "event": event})
    assert not watcher.receive({"team_id": "T1", "event": event})


def test_a_journal_that_was_tampered_with_loses_no_message(store: PostgresStore) -> None:
    """A record of the next number is no sign that the message is known."""
    with shared_database().writing() as connection:
        connection.execute("INSERT INTO triage_records VALUES (%s, %s, 1, '{}')", [store._namespace, EVENTS])
    with pytest.raises(StoreError):
        store.take(a_message(1), is_in_flight=False)


def test_an_answer_in_a_thread_whose_question_another_replica_is_taking_reaches_the_thread(
    store: PostgresStore, replica: Hear
) -> None:
    """Both are delivered at once; the second waits for the first one's commit and finds its job."""
    mine, other = replica(), replica()
    with shared_database().transaction():
        assert mine.receive(body("How are session cookies signed?"))
        reply = threading.Thread(target=other.receive, args=(body("on staging", REPLY_TS, thread_ts=QUESTION_TS),))
        reply.start()
        until_somebody_waits()
    reply.join()
    [question, answer] = [job.work for job in mine._jobs.unclaimed()]
    assert type(answer) is FollowUpArrived
    assert question.key == answer.key
    assert stored(store) == (2, 2, 2)


def test_what_two_replicas_hear_is_taken_by_one(store: PostgresStore, replica: Hear) -> None:
    """Chatter is journaled and makes no job."""
    replicas = [replica(), replica()]
    for text, ts in (("How are session cookies signed?", QUESTION_TS), ("deployed build 7", REPLY_TS)):
        assert sorted(one.receive(body(text, ts)) for one in replicas) == [False, True]
    assert stored(store) == (2, 2, 1)


def test_messages_of_an_alert_are_taken_once_each_whether_a_job_for_it_waits_or_not(
    store: PostgresStore, replica: Hear
) -> None:
    """Two replicas hear it fire, twice, and end: three jobs, none of which may run beside another."""
    replicas = [replica(), replica()]
    for number, text in enumerate(["[FIRING:1] CPU", "[FIRING:1] CPU", "[RESOLVED] CPU"]):
        said = body(text, f"17951653{number:02d}.000100", bot_id="B0ALERT", subtype="bot_message")
        assert sorted(one.receive(said) for one in replicas) == [False, True]
    works = [job.work for job in replicas[0]._jobs.unclaimed()]
    assert [work.event.alert.state for work in works if isinstance(work, AlertArrived)] == ["firing"] * 2 + ["resolved"]
    assert len({work.key for work in works}) == 1
    assert stored(store) == (3, 3, 3)
