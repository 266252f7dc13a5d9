"""Port Engine over a database that any number of replicas share; each has a folder of its own for what stays files."""

from __future__ import annotations

from pathlib import Path
from threading import Condition
from typing import Final

from bot.adapters.storage.files.atomic_write import probe_folder
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.postgres.database import Database
from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments
from bot.adapters.storage.postgres.postgres_leases import PostgresLeases
from bot.adapters.storage.postgres.postgres_pace import PostgresPace
from bot.adapters.storage.postgres.postgres_replicas import PostgresReplicas
from bot.adapters.storage.postgres.postgres_store import PostgresStore
from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue
from bot.adapters.storage.postgres.replica_documents import ReplicaDocuments
from bot.config.team_settings import DEFAULT_TEAM
from bot.ports import Clock
from bot.ports.collections import THREADS


class PostgresEngine:
    """One database; `home` is the data directory of this process."""

    is_shared: Final = True

    def __init__(self, database: Database, home: Path) -> None:
        self.database, self._home = database, home
        self.pace, self.replicas = PostgresPace(database, DEFAULT_TEAM), PostgresReplicas(database)
        self._leases: dict[str, PostgresLeases] = {}

    def store(self, home: Path, *, is_reader: bool = False) -> PostgresStore:
        """Return what a team keeps; of the machine's own documents, those of this one."""
        namespace = self.namespace(home)
        documents = ReplicaDocuments(
            PostgresDocuments(self.database, namespace),
            PostgresDocuments(self.database, DEFAULT_TEAM),
            FileDocuments(self._home, is_reader=is_reader),
        )
        return PostgresStore(self.database, namespace, home, documents)

    def jobs(self, home: Path, clock: Clock, *, max_running: int, changed: Condition) -> ProcrastinateQueue:
        """Return a team's queue."""
        return ProcrastinateQueue(self.database, self.namespace(home), clock, max_running=max_running, changed=changed)

    def leases(self, home: Path) -> PostgresLeases:
        """Return the leases of a team; always the same ones, for they know what this process holds."""
        namespace = self.namespace(home)
        return self._leases.setdefault(namespace, PostgresLeases(self.database, namespace))

    def teams(self) -> list[str]:
        """Return the teams that have threads."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT DISTINCT namespace FROM triage_documents WHERE collection = %s AND namespace <> %s ORDER BY 1",
                [THREADS.name, DEFAULT_TEAM],
            ).fetchall()
        return [name for (name,) in rows]

    def probe(self, free_bytes: int) -> None:
        """Raise StoreError where the database takes no writes, or the data directory, or less room is free there."""
        probe_folder(self._home, free_bytes)
        with self.database.writing() as connection:
            connection.execute("UPDATE triage_leases SET token = token WHERE false")

    def close(self) -> None:
        """Give the connections back."""
        self.database.close()

    def namespace(self, home: Path) -> str:
        """Return the name of a team by its data directory; the one team of old has the process's own."""
        return DEFAULT_TEAM if home.resolve() == self._home.resolve() else home.name
