"""What only documents in a database can do: be damaged by hand, refused by the server, kept apart by namespace."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.errors import Conflict, DatabaseAway, StoreError
from bot.ports.collections import BRIEFS, SingleDocument
from tests.postgres import cut_connections, driver, new_database, new_namespace, shared_database

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def documents_of(database: Database, namespace: str) -> PostgresDocuments:
    from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments

    return PostgresDocuments(database, namespace)


@pytest.fixture
def documents() -> PostgresDocuments:
    """No documents yet."""
    return documents_of(shared_database(), new_namespace())


def damage(documents: PostgresDocuments, content: str) -> None:
    """Replace a document by hand."""
    with shared_database().writing() as connection:
        connection.execute(
            "UPDATE triage_documents SET content = %s::json WHERE namespace = %s", [content, documents._namespace]
        )


def test_what_is_no_object_is_set_aside_with_all_it_holds(documents: PostgresDocuments) -> None:
    """Its place is free, it is told of once as new, and a process that starts later knows of it."""
    documents.put(BRIEFS, BRIEFS, {"n": 1}, version=0)
    damage(documents, '["by hand"]')
    told: list[str] = []
    one = SingleDocument(documents, BRIEFS, on_damage=told.append)
    assert one.read() == {}
    assert len(told) == 1
    one.update({"n": 2})
    again = documents_of(shared_database(), documents._namespace)
    for known, is_new in ((documents, True), (again, False)):
        [damaged] = known.damaged(BRIEFS)
        assert (damaged.doc_id, damaged.is_new) == (BRIEFS, is_new)
        assert told[0].endswith(damaged.name)
    with shared_database().reading() as connection:
        row = connection.execute(
            "SELECT content FROM triage_damaged WHERE namespace = %s", [documents._namespace]
        ).fetchone()
    assert row == (["by hand"],)


def test_nothing_is_written_over_what_cannot_be_read(documents: PostgresDocuments) -> None:
    """Not even by whoever names its version as it was handed out."""
    documents.put(BRIEFS, BRIEFS, {"n": 1}, version=0)
    damage(documents, "3")
    found = documents.get(BRIEFS, BRIEFS)
    assert found is not None
    with pytest.raises(Conflict):
        documents.put(BRIEFS, BRIEFS, {"n": 2}, version=found.version)


def test_one_namespace_knows_nothing_of_another(documents: PostgresDocuments) -> None:
    """Neither documents, nor what was archived or set aside."""
    other = documents_of(shared_database(), new_namespace())
    documents.put("threads", "a", {}, version=0)
    documents.archive("threads", "a", at=NOON)
    [archived] = documents.archived("threads")
    documents.put("threads", "a", {}, version=0)
    documents.put("threads", "b", {}, version=0)
    documents.set_aside("threads", "b")
    assert other.get("threads", "a") is None
    assert other.list("threads") == other.archived("threads") == other.damaged("threads") == []
    assert other.read_archived("threads", archived) is None
    found = documents.read_archived("threads", archived)
    assert found is not None
    assert found.value == {}


def test_numbers_stay_what_they_are(documents: PostgresDocuments) -> None:
    """The type jsonb would write them anew, large ones as whole numbers."""
    value = {"cost": 1e-7, "large": 1e300, "whole": 2.0, "number": 2**70}
    documents.put(BRIEFS, BRIEFS, value, version=0)
    found = documents.get(BRIEFS, BRIEFS)
    assert found is not None
    assert found.value == value
    assert isinstance(found.value["whole"], float)


def test_two_endings_of_one_moment_are_two(documents: PostgresDocuments) -> None:
    """The later one comes first."""
    for number in (1, 2):
        documents.put("threads", "a", {"n": number}, version=0)
        documents.archive("threads", "a", at=NOON)
    later, earlier = documents.archived("threads", "a")
    for archived, n in ((later, 2), (earlier, 1)):
        found = documents.read_archived("threads", archived)
        assert found is not None
        assert (found.version, found.value, archived.at) == (1, {"n": n}, NOON)


@pytest.fixture
def standby() -> Iterator[Database]:
    """A database whose new connections take no writes, as that of a server which is not the first any more."""
    url = new_database()
    from bot.adapters.storage.postgres.database import Database

    database = Database(url)
    with driver().connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    cut_connections(url)
    yield database
    database.close()


def test_a_server_that_takes_nothing_now_is_told_from_a_wrong_statement(standby: Database) -> None:
    """The bot waits for the one and stops at the other; what is there can still be read."""
    documents = documents_of(standby, new_namespace())
    with pytest.raises(DatabaseAway, match="25006"):
        documents.put(BRIEFS, BRIEFS, {}, version=0)
    assert documents.get(BRIEFS, BRIEFS) is None
    with pytest.raises(StoreError) as refused:
        documents.get(BRIEFS, "\x00 of hunter2")
    assert not isinstance(refused.value, DatabaseAway)
    assert "hunter2" not in str(refused.value)
