"""The ports Engine and Store over a database that any number of replicas share.

Each replica has a folder of its own for what stays files; runs write their folders there first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import probe_folder
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import HEAD
from bot.adapters.storage.postgres import procrastinate_tables as tables
from bot.adapters.storage.postgres.database import ANSWER_S, Database
from bot.adapters.storage.postgres.postgres_documents import DocumentNotes, PostgresDocuments, as_json
from bot.adapters.storage.postgres.postgres_journal import PostgresJournal, names_of
from bot.adapters.storage.postgres.postgres_leases import PostgresLeases
from bot.adapters.storage.postgres.postgres_replicas import PostgresPace, PostgresReplicas, read_replicas
from bot.adapters.storage.postgres.postgres_run_folders import PostgresRunFolders
from bot.adapters.storage.postgres.procrastinate_queue import SILENT_S, ProcrastinateQueue
from bot.adapters.storage.queued_jobs import new_job
from bot.config.team_settings import DEFAULT_TEAM
from bot.errors import ConfigError
from bot.ports import Clock, JobCounts
from bot.ports.collections import CLASSIFIED, DECISIONS, EVENTS, THREADS
from bot.ports.storage import SortedMessage, Taken

_TAKE: Final = "SELECT triage_take(%s, %s, %s::json, %s, %s, %s::json, %s, %s, %s, %s, %s, %s, %s::jsonb)"


_TABLES: Final = (
    "triage_documents",
    "triage_archive",
    "triage_damaged",
    "triage_journals",
    "triage_records",
    "triage_identities",
    "triage_run_folders",
    "triage_run_files",
    "procrastinate_jobs",
)
"""What moves. The other tables tell of living processes, or of the tables themselves."""

_SIGNS_OF_LIFE: Final = """
    SELECT extract(epoch FROM now() - last_heartbeat)::int FROM procrastinate_workers
    WHERE last_heartbeat > now() - make_interval(secs => %s) ORDER BY last_heartbeat DESC LIMIT 1
"""


class PostgresDecisions:
    """The decisions of one namespace."""

    def __init__(self, journal: PostgresJournal) -> None:
        self._journal = journal

    def note(self, mark: str, line: str) -> None:
        """Append a line unless one that holds `mark` is there, also one of another replica at this moment."""
        if any(mark in str(record.get("line")) for record in self._journal.records(containing=mark)):
            return
        one_line = " ".join(line.split()).encode("utf-8", "replace").decode()
        self._journal.append_once({"line": one_line}, [("mark", mark)])

    def restore(self, text: str) -> None:
        """Write the whole into an empty log."""
        for line in text.removeprefix(HEAD).splitlines():
            if line.strip():
                self._journal.append({"line": line.strip().removeprefix("- ")})

    def text(self) -> str:
        """Return the lines as decisions.md has them."""
        lines = "".join(f"- {record.get('line')}\n" for record in self._journal.records())
        return f"{HEAD}{lines}" if lines else ""


class PostgresStore:
    """What one namespace holds; `files` is its data directory on this machine.

    `process` is the namespace of what all teams of a process have in common. With `is_reader` no file is written.
    """

    def __init__(
        self, database: Database, namespace: str, files: Path, *, process: str | None = None, is_reader: bool = False
    ) -> None:
        self.files = files
        self.documents = PostgresDocuments(database, namespace, process=process)
        self.machine = FileDocuments(files, is_reader=is_reader)
        self.notes = DocumentNotes(self.documents)
        self.runs = PostgresRunFolders(database, namespace, files)
        self._database, self._namespace = database, namespace
        self.decisions = PostgresDecisions(self.journal(DECISIONS))

    @property
    def shared(self) -> PostgresStore:
        """How replicas write together."""
        return self

    def take(self, message: SortedMessage, *, is_in_flight: bool) -> Taken:
        """Store a message, its class and its job in one statement, unless one of its names is there."""
        job: list[Any] = [tables.lock_of(self._namespace, message.thread_id), None, None, None]
        if message.work is not None:
            job = tables.values_of(self._namespace, new_job(message.work, at=message.at))
        given = [
            *(self._namespace, EVENTS, as_json(message.event), names_of(message.names)),
            *(CLASSIFIED, as_json(message.classified)),
            *(is_in_flight, THREADS.name, message.thread_id),
        ]
        [(taken,)] = self._database.write(_TAKE, [*given, *job])
        return Taken(taken)

    def journal(self, name: str) -> PostgresJournal:
        """Return a journal by its name."""
        return PostgresJournal(self._database, self._namespace, name)

    def journals(self) -> list[str]:
        """Return the names of the journals that are there, but for the one that stands for decisions.md."""
        rows = self._database.read(
            "SELECT name FROM triage_journals WHERE namespace = %s AND name <> %s ORDER BY name",
            [self._namespace, DECISIONS],
        )
        return [name for (name,) in rows]

    def job_counts(self) -> JobCounts:
        """Return how many jobs wait, and how many were given up."""
        rows = self._database.read(
            "SELECT status::text, count(*) FROM procrastinate_jobs WHERE queue_name = %s GROUP BY status",
            [self._namespace],
        )
        counts = {str(status): int(count) for status, count in rows}
        return JobCounts(waiting=counts.get("todo", 0), failed=counts.get("failed", 0))


class PostgresEngine:
    """One database; `home` is the data directory of this process."""

    is_shared: Final = True

    def __init__(self, database: Database, home: Path) -> None:
        self.database, self._home = database, home
        self.pace, self.replicas = PostgresPace(database, DEFAULT_TEAM), PostgresReplicas(database)
        self._leases: dict[str, PostgresLeases] = {}

    def store(self, home: Path, *, is_reader: bool = False) -> PostgresStore:
        """Return what a team keeps; of the machine's own documents, those of this one."""
        return PostgresStore(self.database, self.namespace(home), home, process=DEFAULT_TEAM, is_reader=is_reader)

    def jobs(self, home: Path, clock: Clock, *, changed: Condition) -> ProcrastinateQueue:
        """Return a team's queue."""
        return ProcrastinateQueue(self.database, self.namespace(home), clock, changed=changed)

    def leases(self, home: Path) -> PostgresLeases:
        """Return the leases of a team; always the same ones, for they know what this process holds."""
        namespace = self.namespace(home)
        return self._leases.setdefault(namespace, PostgresLeases(self.database, namespace))

    def teams(self) -> list[str]:
        """Return the teams that have threads."""
        rows = self.database.read(
            "SELECT DISTINCT namespace FROM triage_documents WHERE collection = %s AND namespace <> %s ORDER BY 1",
            [THREADS.name, DEFAULT_TEAM],
        )
        return [name for (name,) in rows]

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Enter in one transaction that keeps all other writers out, where no process has given a sign of life lately.

        Raises:
            ConfigError: a process works on the database, also where one began meanwhile: nothing was written then.
        """
        self._refuse_running()
        with self.database.transaction() as connection:
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            connection.execute(f"LOCK TABLE {', '.join(_TABLES)} IN EXCLUSIVE MODE".encode())
            yield
            self._refuse_running()

    def _refuse_running(self) -> None:
        with self.database.apart(answer_s=ANSWER_S) as connection:
            alive = [one.name for one in read_replicas(connection) if one.is_alive]
            silent = connection.execute(_SIGNS_OF_LIFE, [SILENT_S]).fetchone()
        if alive or silent is not None:
            who = ", ".join(alive) or f"somebody who gave a sign of life {silent[0] if silent else 0} s ago"
            raise ConfigError(
                f"triage runs on the database ({who}); stop it, and where it was killed, try again half a minute later"
            )

    def probe(self, free_bytes: int) -> None:
        """Raise StoreError where the database takes no writes, or the data directory, or less room is free there."""
        probe_folder(self._home, free_bytes)
        self.database.probe(free_bytes)

    def close(self) -> None:
        """Give the connections back."""
        self.database.close()

    def namespace(self, home: Path) -> str:
        """Return the name of a team by its data directory; the one team of old has the process's own."""
        return DEFAULT_TEAM if home.resolve() == self._home.resolve() else home.name
