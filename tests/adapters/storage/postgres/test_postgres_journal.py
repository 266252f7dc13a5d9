"""What only a journal in a database can do: records of several processes, in one order, each once."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.postgres import cut_connections, new_namespace, shared_database, until_somebody_waits

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.postgres_documents import PostgresJournal


@pytest.fixture
def journal() -> PostgresJournal:
    """An empty journal."""
    database = shared_database()
    from bot.adapters.storage.postgres.postgres_documents import PostgresJournal

    return PostgresJournal(database, new_namespace(), "events")


def test_a_reader_misses_no_record_that_commits_late(journal: PostgresJournal) -> None:
    """A second append waits for the first one's commit, so that no later number is seen before an earlier one."""
    database = shared_database()
    with database.transaction():
        journal.append({"n": 1})
        second = threading.Thread(target=journal.append, args=({"n": 2},))
        second.start()
        until_somebody_waits()
        seen: list[object] = []
        reader = threading.Thread(target=lambda: seen.extend(journal.records()))
        reader.start()
        reader.join()
        assert seen == []
    second.join()
    assert [record["n"] for record in journal.records()] == [1, 2]


def test_what_is_known_by_one_of_its_names_is_not_journaled_again(journal: PostgresJournal) -> None:
    """Names may hold whatever a chat sends."""
    assert journal.append_once({"n": 1}, [("C1", "1.1"), ("C1", "client", "\x00\ud800")])
    assert not journal.append_once({"n": 2}, [("C1", "1.2"), ("C1", "client", "\x00\ud800")])
    assert journal.append_once({"n": 3}, [("C1", "1.2"), ("C1", "1.2")])
    assert [record["n"] for record in journal.records()] == [1, 3]


def test_of_eight_that_deliver_one_message_one_journals_it(journal: PostgresJournal) -> None:
    """Each of fifty messages is there once."""
    barrier, new = threading.Barrier(8), []

    def deliver() -> None:
        barrier.wait()
        new.extend([n for n in range(50) if journal.append_once({"n": n}, [("C1", str(n)), ("C1", "client", str(n))])])

    replicas = [threading.Thread(target=deliver) for _ in range(8)]
    for replica in replicas:
        replica.start()
    for replica in replicas:
        replica.join()
    assert sorted(new) == list(range(50))
    assert sorted(record["n"] for record in journal.records()) == list(range(50))


def test_a_known_name_in_a_transaction_ends_nothing_but_itself(journal: PostgresJournal) -> None:
    """What else the transaction writes is committed."""
    journal.append_once({"n": 1}, [("a",)])
    with shared_database().transaction():
        assert not journal.append_once({"n": 2}, [("a",)])
        journal.append({"n": 3})
    assert [record["n"] for record in journal.records()] == [1, 3]


def test_what_fails_in_a_transaction_takes_everything_back(journal: PostgresJournal) -> None:
    """Nothing of it was ever there."""
    with suppress(ZeroDivisionError), shared_database().transaction():
        journal.append({"n": 1})
        _ = 1 / 0
    journal.append({"n": 2})
    assert list(journal.records()) == [{"n": 2}]


def test_many_pages_are_read_both_ways(journal: PostgresJournal) -> None:
    """No record is read twice or left out where a page ends."""
    with shared_database().transaction():
        for number in range(1_203):
            journal.append({"n": number})
    assert [record["n"] for record in journal.records()] == list(range(1_203))
    assert [record["n"] for record in journal.newest_first()] == list(range(1_202, -1, -1))


def test_what_somebody_wrote_by_hand_and_is_no_record_is_counted(journal: PostgresJournal) -> None:
    """The records around it are read."""
    for number in range(3):
        journal.append({"n": number})
    with shared_database().writing() as connection:
        connection.execute(
            "UPDATE triage_records SET record = '[1]' WHERE namespace = %s AND number = 2", [journal._of["namespace"]]
        )
    assert [record["n"] for record in journal.records()] == [0, 2]
    assert journal.bad_lines == 1


def test_a_connection_that_was_cut_is_replaced(journal: PostgresJournal) -> None:
    """At most the statements that met it fail, as what passes; the next ones get through."""
    journal.append({"n": 1})
    cut_connections(shared_database()._url)
    journal.append({"n": 2})
    assert [record["n"] for record in journal.records()] == [1, 2]
