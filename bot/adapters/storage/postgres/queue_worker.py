"""This process as the queue's tables know it: signs of life, the jobs of those that give none, and wake-ups.

A thread with a connection of its own beats, so a pool that is used up is not taken for a death.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

import psycopg
from procrastinate.sql import queries
from psycopg import sql

from bot.adapters.storage.postgres import procrastinate_tables as tables
from bot.adapters.storage.postgres.database import Database
from bot.domain.jobs import Job
from bot.errors import StoreError
from bot.ports.migrations import NewerSchema

log = logging.getLogger(__name__)

BEAT_EVERY_S: Final = 5.0
SILENT_S: Final = 20.0
"""After how long without a sign of life a worker is dead, in seconds by the database's clock."""

FORGOTTEN_S: Final = 86_400.0
"""After how long a dead worker that held no job is removed from the table, in seconds."""

RECONNECT_S: Final = 1.0


class QueueWorker:
    """A worker of one namespace's queue; `wake` is called when there may be something new to claim.

    `on_given_up` gets each job that is not run any more because processes died of it.
    """

    def __init__(
        self,
        database: Database,
        namespace: str,
        *,
        wake: Callable[[], object],
        on_given_up: Callable[[Job], object],
        beat_every_s: float,
        silent_s: float,
    ) -> None:
        """Take up what dead workers left; raises StoreError."""
        self._database, self._namespace = database, namespace
        self._wake, self._on_given_up = wake, on_given_up
        self._beat_every_s, self._silent_s = beat_every_s, silent_s
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._away: StoreError | None = None
        self.sweep()

    def require_alive(self) -> None:
        """Give signs of life from now on; who cannot would lose to others what it claims.

        Raises:
            StoreError: none can be given now; it is tried again every second.
        """
        if self._thread is None:
            self.register()
            self._thread = threading.Thread(target=self._live, name="queue", daemon=True)
            self._thread.start()
        if self._away is not None:
            raise self._away

    def register(self) -> None:
        """Become a new worker: at the first claim, and after others took this process for dead."""
        with self._database.writing() as connection:
            connection.execute(queries["prune_stalled_workers"], {"seconds_since_heartbeat": FORGOTTEN_S})
            [(self.id,)] = connection.execute(queries["register_worker"])

    def sweep(self) -> None:
        """Return the jobs of dead workers to their places; each counts as a death, once, whoever sweeps."""
        given_up = []
        with self._database.transaction() as connection:
            sweeping = f"triage sweep {self._namespace}"
            alone = connection.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [sweeping])
            if alone.fetchone() != (True,):
                return
            found = tables.stalled(connection, self._namespace, self._silent_s)
            held = Counter(row.worker for row in found)
            for number, args, worker in found:
                try:
                    job = tables.decode(number, args)
                except NewerSchema:  # for a replica of that release
                    continue
                except ValueError:
                    tables.keep_failed(connection, number)
                    continue
                claimed = job.model_copy(update={"attempts": job.attempts + 1})
                died = claimed.died(alone=worker is not None and held[worker] == 1)
                tables.end(connection, self._namespace, number, died)
                if died.has_failed:
                    given_up.append(died)
            for dead in filter(None, held):
                connection.execute(queries["unregister_worker"], {"worker_id": dead})
        for job in given_up:
            self._on_given_up(job)

    def close(self) -> None:
        """Stop; what is still claimed is returned by the next process that looks."""
        if self._thread is None:
            return
        self._stopping.set()
        with self._database.writing() as connection:
            tables.tell(connection, self._namespace)
        self._thread.join()
        with self._database.writing() as connection:
            connection.execute(queries["unregister_worker"], {"worker_id": self.id})

    def _live(self) -> None:
        sweep_at = time.monotonic()
        while not self._stopping.is_set():
            try:
                with self._database.connect() as connection:
                    self._away = None
                    self._attend(connection, sweep_at)
            except StoreError as error:
                self._away = error
            self._stopping.wait(RECONNECT_S)
            # After an outage everybody has been silent: the others need time for a sign of life, too.
            sweep_at = time.monotonic() + self._silent_s

    def _attend(self, connection: tables.Connection, sweep_at: float) -> None:
        """Beat, sweep and listen on one connection until the stop, or until it breaks."""
        try:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(tables.channel_of(self._namespace))))
            self._wake()  # of what came while nobody listened
            beat_at = time.monotonic()
            while not self._stopping.is_set():
                now = time.monotonic()
                if now >= beat_at:
                    beat_at = now + self._beat_every_s
                    connection.execute(queries["update_heartbeat"], {"worker_id": self.id})
                    if now >= sweep_at:
                        self.sweep()
                for _ in connection.notifies(timeout=max(0.0, beat_at - time.monotonic()), stop_after=1):
                    self._wake()
        except (psycopg.Error, StoreError) as error:
            log.info("the queue connects anew", extra={"action": "queue_deaf", "error": str(error)})
