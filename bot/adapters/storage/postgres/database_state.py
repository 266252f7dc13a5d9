"""A database as one side of a move: the rows of every namespace, read and written inside one transaction.

Nobody else works on the database meanwhile, and all or nothing of it is written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from typing import Any, Final, TypeAlias

from bot.adapters.storage.postgres import procrastinate_tables as queue
from bot.adapters.storage.postgres.database import Database, translated
from bot.adapters.storage.postgres.postgres_documents import as_json
from bot.adapters.storage.postgres.postgres_replicas import read_replicas
from bot.adapters.storage.postgres.procrastinate_queue import SILENT_S
from bot.adapters.storage.state_rows import (
    CLOSED,
    JOBS,
    RUNS,
    SET_ASIDE,
    STAYS,
    ArchivedRow,
    DamagedRow,
    JobState,
    Row,
    RunChunk,
    StoredDocument,
    StoredJob,
    StoredRecord,
)
from bot.config.team_settings import DEFAULT_TEAM
from bot.errors import ConfigError, StoreError
from bot.ports.collections import MOVED

Identities: TypeAlias = Callable[[str, Mapping[str, Any]], Iterable[Sequence[str]]]
"""Returns under which names a record of a journal is known, see PostgresJournal.append_once."""

BATCH: Final = 1_000
"""Rows that are in memory at once."""

CHUNKS: Final = 10
"""The same of the larger ones, which files of runs are stored in."""

TABLES: Final = (
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

_STATES: Final = {"todo": JobState.WAITING, "doing": JobState.RUNNING, "failed": JobState.FAILED}

_COPIES: Final[Mapping[type, str]] = {
    StoredDocument: "triage_documents (namespace, collection, id, version, content, written_at)",
    ArchivedRow: "triage_archive (namespace, archived_for, collection, id, version, content, written_at)",
    DamagedRow: "triage_damaged (namespace, collection, id, version, content, written_at)",
}
_DOCUMENTS: Final = """
    SELECT collection, id, version, content::text, written_at FROM triage_documents
    WHERE namespace = %(namespace)s AND collection <> ALL(%(stays)s) ORDER BY collection, id
"""
_ARCHIVE: Final = """
    SELECT archived_for, collection, id, version, content::text, written_at FROM triage_archive
    WHERE namespace = %(namespace)s ORDER BY archived_for, number
"""
_DAMAGED: Final = """
    SELECT collection, id, version, content::text, written_at FROM triage_damaged
    WHERE namespace = %(namespace)s AND collection <> ALL(%(stays)s) ORDER BY written_at, number
"""
_RECORDS: Final = """
    SELECT journal, record::text FROM triage_records WHERE namespace = %(namespace)s ORDER BY journal, number
"""
_JOBS: Final = """
    SELECT id, status::text, args FROM procrastinate_jobs
    WHERE queue_name = %(namespace)s AND status IN ('todo', 'doing', 'failed') ORDER BY priority DESC, id
"""
_RUNS: Final = """
    SELECT folder, touched_at, name, number, content FROM triage_run_folders NATURAL JOIN triage_run_files
    WHERE namespace = %(namespace)s ORDER BY folder, name, number
"""
_KNOWN: Final = "INSERT INTO triage_identities SELECT %s, %s, unnest(%s::text[]) ON CONFLICT DO NOTHING"
_EMPTY: Final = """
    SELECT NOT (
        EXISTS (SELECT 1 FROM triage_documents) OR EXISTS (SELECT 1 FROM triage_archive)
        OR EXISTS (SELECT 1 FROM triage_damaged) OR EXISTS (SELECT 1 FROM triage_journals)
        OR EXISTS (SELECT 1 FROM triage_run_folders) OR EXISTS (SELECT 1 FROM procrastinate_jobs)
    )
"""
_MARK: Final = """
    INSERT INTO triage_documents AS known (namespace, collection, id, version, content) VALUES (%s, %s, %s, 1, %s::json)
    ON CONFLICT (namespace, collection, id) DO UPDATE SET version = known.version + 1, content = excluded.content
"""
_NAMESPACES: Final = """
    SELECT namespace FROM triage_documents UNION SELECT namespace FROM triage_archive
    UNION SELECT namespace FROM triage_damaged UNION SELECT namespace FROM triage_journals
    UNION SELECT namespace FROM triage_run_folders UNION SELECT queue_name FROM procrastinate_jobs
"""
_COUNTS: Final = """
    SELECT collection, count(*) FROM triage_documents
    WHERE namespace = %(namespace)s AND collection <> ALL(%(stays)s) GROUP BY collection
    UNION ALL SELECT %(closed)s, count(*) FROM triage_archive WHERE namespace = %(namespace)s
    UNION ALL SELECT %(set_aside)s, count(*) FROM triage_damaged
    WHERE namespace = %(namespace)s AND collection <> ALL(%(stays)s)
    UNION ALL SELECT journal, count(*) FROM triage_records WHERE namespace = %(namespace)s GROUP BY journal
    UNION ALL SELECT %(runs)s, count(*) FROM triage_run_files WHERE namespace = %(namespace)s AND number = 0
"""

_SIGNS_OF_LIFE: Final = """
    SELECT extract(epoch FROM now() - last_heartbeat)::int FROM procrastinate_workers
    WHERE last_heartbeat > now() - make_interval(secs => %s) ORDER BY last_heartbeat DESC LIMIT 1
"""


class DatabaseState:
    """The state in a database, as the transaction of one connection sees it."""

    def __init__(self, connection: queue.Connection, identities: Identities) -> None:
        self._connection, self._identities = connection, identities

    def is_empty(self) -> bool:
        """Whether nothing of triage is there."""
        with translated():
            return self._connection.execute(_EMPTY).fetchone() == (True,)

    def mark_moved(self, mark: Mapping[str, Any]) -> None:
        """Say where the state is from now on."""
        with translated():
            self._connection.execute(_MARK, [DEFAULT_TEAM, MOVED, MOVED, json.dumps(mark)])

    def namespaces(self) -> Sequence[str]:
        """Return the process's own namespace, then those of the teams."""
        with translated():
            found = {str(name) for (name,) in self._connection.execute(_NAMESPACES)}
        return [DEFAULT_TEAM, *sorted(found - {DEFAULT_TEAM})]

    def count(self, namespace: str) -> Counter[str]:
        """Count rows; of all there is only the jobs are read."""
        given = {"namespace": namespace, "stays": list(STAYS), "closed": CLOSED, "set_aside": SET_ASIDE, "runs": RUNS}
        with translated():
            rows = self._connection.execute(_COUNTS, given).fetchall()
        found = Counter({str(name): int(count) for name, count in rows})
        found.update(f"{JOBS} {one.state}" for one in self._jobs(namespace))
        return +found

    def rows(self, namespace: str) -> Iterator[Row]:
        """Yield everything that moves; raises StoreError also for a job that cannot be read."""
        given = {"namespace": namespace, "stays": list(STAYS)}
        for row in self._select(_DOCUMENTS, given):
            yield StoredDocument(*row)
        for row in self._select(_ARCHIVE, given):
            yield ArchivedRow(row[0], StoredDocument(*row[1:]))
        for row in self._select(_DAMAGED, given):
            yield DamagedRow(StoredDocument(*row))
        for row in self._select(_RECORDS, given):
            yield StoredRecord(*row)
        for row in self._select(_RUNS, given, batch=CHUNKS):
            yield RunChunk(*row)
        yield from self._jobs(namespace)

    def write(self, namespace: str, rows: Iterable[Row]) -> None:
        """Write everything into tables that hold nothing of this namespace yet."""
        with translated():
            for kind, group in groupby(rows, key=type):
                if issubclass(kind, StoredRecord):
                    self._append(namespace, group)
                elif issubclass(kind, StoredJob):
                    self._put(namespace, group)
                elif issubclass(kind, RunChunk):
                    self._publish(namespace, group)
                else:
                    self._copy(_COPIES[kind], ((namespace, *_columns(row)) for row in group))

    def _select(self, query: str, given: Mapping[str, Any], *, batch: int = BATCH) -> Iterator[tuple[Any, ...]]:
        with translated(), self._connection.cursor(name="move") as cursor:
            cursor.itersize = batch
            yield from cursor.execute(query.encode(), given)

    def _copy(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def _append(self, namespace: str, rows: Iterable[Row]) -> None:
        """Write the records of journals, numbered from 1, and under which names each is known."""
        for journal, group in groupby((row for row in rows if isinstance(row, StoredRecord)), lambda row: row.journal):
            last = 0
            while batch := [row.text for row in islice(group, BATCH)]:
                numbered = enumerate(batch, last + 1)
                self._copy(
                    "triage_records (namespace, journal, number, record)",
                    ((namespace, journal, number, _printable(text)) for number, text in numbered),
                )
                known = {as_json(one) for text in batch for one in self._names(journal, text)}
                self._connection.execute(_KNOWN, [namespace, journal, list(known)])
                last += len(batch)
            self._connection.execute("INSERT INTO triage_journals VALUES (%s, %s, %s)", [namespace, journal, last])

    def _names(self, journal: str, text: str) -> Iterable[Sequence[str]]:
        record = json.loads(text)
        return self._identities(journal, record) if isinstance(record, dict) else ()

    def _put(self, namespace: str, rows: Iterable[Row]) -> None:
        """Store jobs in their order; those that ran belong to a worker that died."""
        jobs = [row for row in rows if isinstance(row, StoredJob)]
        dead = self._dead_worker() if any(row.state is JobState.RUNNING for row in jobs) else None
        for state, job in jobs:
            is_running = state is JobState.RUNNING
            queue.insert(self._connection, namespace, job.model_copy(update={"attempts": job.attempts - is_running}))
            if is_running:
                self._connection.execute(
                    "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s "
                    "WHERE id = currval('procrastinate_jobs_id_seq')",
                    [dead],
                )

    def _dead_worker(self) -> int:
        """Return the id of a new worker that died an hour ago: what it holds is returned, and counts as its death."""
        [(number,)] = self._connection.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour') RETURNING id"
        )
        return int(number)

    def _publish(self, namespace: str, rows: Iterable[Row]) -> None:
        """Write the files of runs, one folder after the other."""
        chunks = (row for row in rows if isinstance(row, RunChunk))
        for (folder, touched_at), group in groupby(chunks, lambda row: (row.folder, row.touched_at)):
            self._connection.execute(
                "INSERT INTO triage_run_folders (namespace, folder, touched_at) VALUES (%s, %s, %s)",
                [namespace, folder, touched_at],
            )
            stored = ((namespace, folder, row.name, row.number, row.content) for row in group)
            self._copy("triage_run_files (namespace, folder, name, number, content)", stored)

    def _jobs(self, namespace: str) -> Iterator[StoredJob]:
        for number, status, args in self._select(_JOBS, {"namespace": namespace}):
            try:
                job = queue.decode(number, args)
            except ValueError as error:
                if status == "failed":
                    continue  # it was given up as damaged
                raise StoreError(
                    f"the job {number} cannot be read; start triage once, which gives it up, stop it, and try again"
                ) from error
            ran = {"attempts": job.attempts + 1} if status == "doing" else {}
            yield StoredJob(_STATES[status], job.model_copy(update=ran))


def _columns(row: Row) -> Sequence[Any]:
    match row:
        case ArchivedRow(archived_for, document):
            return archived_for, *_columns(document)
        case DamagedRow(document):
            return _columns(document)
        case StoredDocument():
            return row._replace(text=_printable(row.text))
    raise TypeError(row)


def _printable(text: str) -> str:
    """Return JSON that the type `json` takes: half of a surrogate pair as its escape."""
    return text.encode("utf-8", "backslashreplace").decode()


@contextmanager
def moving(database: Database, identities: Identities) -> Iterator[DatabaseState]:
    """Enter with the state of a database, alone; what is written inside is committed at the end, or nothing.

    Raises:
        ConfigError: a replica works on it.
    """
    _refuse_running(database)
    with translated(), database.connect() as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        connection.execute(f"LOCK TABLE {', '.join(TABLES)} IN EXCLUSIVE MODE".encode())
        yield DatabaseState(connection, identities)
        _refuse_running(database)  # one that was started meanwhile


def _refuse_running(database: Database) -> None:
    with database.reading() as connection:
        alive = [one.name for one in read_replicas(connection) if one.is_alive]
        silent = connection.execute(_SIGNS_OF_LIFE, [SILENT_S]).fetchone()
    if alive or silent is not None:
        who = ", ".join(alive) or f"somebody who gave a sign of life {silent[0] if silent else 0} s ago"
        raise ConfigError(
            f"triage runs on the database ({who}); stop it, and where it was killed, try again half a minute later"
        )
