"""The port Store over one namespace of a database; runs write their folders on this machine first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from bot.adapters.storage.document_notes import DocumentNotes
from bot.adapters.storage.postgres.database import Database
from bot.adapters.storage.postgres.postgres_decisions import PostgresDecisions
from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments
from bot.adapters.storage.postgres.postgres_journal import PostgresJournal
from bot.adapters.storage.postgres.postgres_run_folders import PostgresRunFolders
from bot.ports import Documents, JobCounts
from bot.ports.collections import DECISIONS


class PostgresStore:
    """What one namespace holds; `files` is its data directory on this machine."""

    def __init__(self, database: Database, namespace: str, files: Path, documents: Documents | None = None) -> None:
        self.files = files
        self.documents: Documents = documents or PostgresDocuments(database, namespace)
        self.notes = DocumentNotes(self.documents)
        self.runs = PostgresRunFolders(database, namespace, files)
        self._database, self._namespace = database, namespace
        self.decisions = PostgresDecisions(self.journal(DECISIONS))

    @property
    def shared(self) -> PostgresStore:
        """How replicas write together."""
        return self

    def transaction(self) -> AbstractContextManager[object]:
        """Enter; all that this thread writes inside, jobs included, is committed at the end, or nothing."""
        return self._database.transaction()

    def append_once(self, journal: str, record: Mapping[str, Any], identities: Iterable[Sequence[str]]) -> bool:
        """Append a record unless one is there that is known by one of these names; False where it is."""
        return self.journal(journal).append_once(record, identities)

    def journal(self, name: str) -> PostgresJournal:
        """Return a journal by its name."""
        return PostgresJournal(self._database, self._namespace, name)

    def job_counts(self) -> JobCounts:
        """Return how many jobs wait, and how many were given up."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT status::text, count(*) FROM procrastinate_jobs WHERE queue_name = %s GROUP BY status",
                [self._namespace],
            ).fetchall()
        counts = {str(status): int(count) for status, count in rows}
        return JobCounts(waiting=counts.get("todo", 0), failed=counts.get("failed", 0))
