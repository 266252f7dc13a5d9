"""Port Leases over rows that expire; each that this process holds has a thread that renews it.

Time is the database's, so clocks of machines do not matter. Each taking gives the lease a new token. A process that
was paused for longer than a lease lasts finds its token outdated: what it writes inside `fenced` is refused.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from contextlib import AbstractContextManager
from typing import Final

from bot.adapters.storage.postgres.database import Database, Fence
from bot.errors import ConfigError, StoreError

log = logging.getLogger(__name__)

LASTS_S: Final = 15.0
"""How long after its last sign of life a holder's lease is another's, in seconds."""

RENEWALS: Final = 3
"""Signs of life in that time."""

_TAKE: Final = """
    INSERT INTO triage_leases AS known (namespace, name, token, holder, expires_at)
    VALUES (%s, %s, 1, %s, clock_timestamp() + make_interval(secs => %s))
    ON CONFLICT (namespace, name) DO UPDATE
    SET token = known.token + 1, holder = excluded.holder, expires_at = excluded.expires_at
    WHERE known.holder IS NULL OR known.expires_at <= clock_timestamp()
    RETURNING namespace, name, token
"""
_HOLDER: Final = """
    SELECT holder FROM triage_leases
    WHERE namespace = %s AND name = %s AND holder IS NOT NULL AND expires_at > clock_timestamp()
"""
_RENEW: Final = """
    UPDATE triage_leases SET expires_at = clock_timestamp() + make_interval(secs => %s)
    WHERE namespace = %s AND name = %s AND token = %s AND holder IS NOT NULL RETURNING 1
"""


class PostgresLeases:
    """The leases of one namespace."""

    def __init__(self, database: Database, namespace: str, *, lasts_s: float = LASTS_S) -> None:
        self._database, self._namespace, self._lasts_s = database, namespace, lasts_s

    def take(self, name: str) -> PostgresLease:
        """Return the lease at once, held until it is released or this process shows no more signs of life.

        Raises:
            ConfigError: another process holds it; names it.
        """
        given = [self._namespace, name, f"{socket.gethostname()}:{os.getpid()}", self._lasts_s]
        taken = self._database.write(_TAKE, given)
        if not taken:
            raise ConfigError(
                f"triage already runs as {name!r} of {self._namespace} (process {self.holder(name) or 'unknown'}); "
                "stop it, or wait until it has stopped"
            )
        return PostgresLease(self._database, Fence(*taken[0]), self._lasts_s)

    def holder(self, name: str) -> str | None:
        """Return which process has taken a lease, or None: its id, and its machine where that is another one."""
        held = self._database.read(_HOLDER, [self._namespace, name])
        if not held:
            return None
        machine, process = str(held[0][0]).rsplit(":", 1)
        return process if machine == socket.gethostname() else f"{process} on {machine}"


class PostgresLease:
    """A lease as this process took it; a thread renews it."""

    def __init__(self, database: Database, fence: Fence, lasts_s: float) -> None:
        self._database, self._fence, self._lasts_s = database, fence, lasts_s
        self._over = threading.Event()
        threading.Thread(target=self._renew, name=f"lease {fence.name}", daemon=True).start()

    @property
    def is_held(self) -> bool:
        """Whether this process still renews it: another may have it as soon as that failed for as long as it lasts."""
        return not self._over.is_set()

    def fenced(self) -> AbstractContextManager[None]:
        """Refuse what this thread writes inside (LeaseLost), once another process has the lease."""
        return self._database.fenced(self._fence)

    def release(self) -> None:
        """Let another have it at once; nothing happens where another has it already."""
        self._over.set()
        self._database.write(
            "UPDATE triage_leases SET holder = NULL WHERE namespace = %s AND name = %s AND token = %s", self._fence
        )

    def _renew(self) -> None:
        """Give signs of life until it is released, or another's."""
        while not self._over.wait(self._lasts_s / RENEWALS):
            try:
                is_ours = self._database.write(_RENEW, [self._lasts_s, *self._fence])
            except StoreError as error:
                log.warning("%s was not renewed: %s", self._fence.name, error, extra={"action": "lease_not_renewed"})
                continue
            if not is_ours and self.is_held:
                self._over.set()
                log.warning("another process took over %s", self._fence.name, extra={"action": "lease_lost"})
