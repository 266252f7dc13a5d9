"""Port SharedPace: a row for each rate and key; one statement finds the next slot and takes it.

Time is the database's. The statement commits by itself, also inside a transaction or a fence of this thread: others
must not wait for those.
"""

from __future__ import annotations

import time
from typing import Final

from bot.adapters.storage.postgres.database import Database
from bot.ports.replicas import Rate

ANSWER_S: Final = 2.0
"""How long to wait for a connection: a post is worth more than its pace."""
FORGET_EVERY_S: Final = 3_600.0
"""Also how old a row must be."""


class PostgresPace:
    """The rates of one namespace: a bot in its workspace."""

    def __init__(self, database: Database, namespace: str) -> None:
        self._database, self._namespace = database, namespace
        self._forget_at = 0.0

    def reserve(self, rate: Rate, key: str, *, patience_s: float, spare: int = 0) -> float:
        """Take the next slot and return in how many seconds it comes; more than `patience_s`: nothing was taken."""
        interval_s = 1 / rate.per_second
        given = {
            "namespace": self._namespace,
            "rate": rate.name,
            "key": key,
            "interval_s": interval_s,
            "lead_s": (rate.burst - 1 - spare) * interval_s,
            "patience_s": patience_s,
        }
        with self._database.apart(answer_s=ANSWER_S) as connection:
            row = connection.execute(_RESERVE, given).fetchone()
            if time.monotonic() >= self._forget_at:
                self._forget_at = time.monotonic() + FORGET_EVERY_S
                connection.execute(_FORGET, [FORGET_EVERY_S])
        assert row is not None
        return float(row[0])

    def hold(self, rate: Rate, key: str, seconds: float) -> None:
        """Let nobody take a slot before so many seconds have passed."""
        with self._database.apart(answer_s=ANSWER_S) as connection:
            connection.execute(_HOLD, [self._namespace, rate.name, key, seconds])


_RESERVE: Final = """
    INSERT INTO triage_paces AS known (namespace, rate, key, full_at, slot_at)
    VALUES (
        %(namespace)s, %(rate)s, %(key)s,
        statement_timestamp() + make_interval(secs => %(interval_s)s), statement_timestamp()
    )
    ON CONFLICT (namespace, rate, key) DO UPDATE SET (slot_at, full_at) = (
        SELECT slot_at, CASE
            WHEN slot_at <= statement_timestamp() + make_interval(secs => %(patience_s)s)
            THEN greatest(known.full_at, statement_timestamp()) + make_interval(secs => %(interval_s)s)
            ELSE known.full_at
        END
        FROM greatest(
            statement_timestamp(), known.full_at - make_interval(secs => %(lead_s)s), known.held_until
        ) AS slot_at
    )
    RETURNING extract(epoch FROM slot_at - statement_timestamp())
"""
_HOLD: Final = """
    INSERT INTO triage_paces AS known (namespace, rate, key, full_at, slot_at, held_until)
    VALUES (
        %s, %s, %s, statement_timestamp(), statement_timestamp(),
        statement_timestamp() + make_interval(secs => %s)
    )
    ON CONFLICT (namespace, rate, key) DO UPDATE
    SET held_until = greatest(known.held_until, excluded.held_until)
"""
_FORGET: Final = """
    DELETE FROM triage_paces WHERE (namespace, rate, key) IN (
        SELECT namespace, rate, key FROM triage_paces
        WHERE greatest(full_at, held_until, slot_at) < statement_timestamp() - make_interval(secs => %s)
        FOR UPDATE SKIP LOCKED
    )
"""
