"""Port Leases over rows that expire; a thread renews those that this process holds.

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
    UPDATE triage_leases AS known SET expires_at = clock_timestamp() + make_interval(secs => %s)
    FROM unnest(%s::text[], %s::bigint[]) AS held (name, token)
    WHERE known.namespace = %s AND known.name = held.name AND known.token = held.token AND known.holder IS NOT NULL
    RETURNING known.namespace, known.name, known.token
"""


class PostgresLeases:
    """The leases of one namespace, as this process holds them."""

    def __init__(self, database: Database, namespace: str, *, lasts_s: float = LASTS_S) -> None:
        self._database, self._namespace, self._lasts_s = database, namespace, lasts_s
        self.held: set[Fence] = set()
        self._changed = threading.Condition()
        self._renewing = False

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
        fence = Fence(*taken[0])
        with self._changed:
            self.held.add(fence)
            if not self._renewing:
                self._renewing = True
                threading.Thread(target=self._renew_all, name="leases", daemon=True).start()
        return PostgresLease(self, self._database, fence)

    def holder(self, name: str) -> str | None:
        """Return which process has taken a lease, or None: its id, and its machine where that is another one."""
        held = self._database.read(_HOLDER, [self._namespace, name])
        if not held:
            return None
        machine, process = str(held[0][0]).rsplit(":", 1)
        return process if machine == socket.gethostname() else f"{process} on {machine}"

    def let_go(self, fence: Fence) -> bool:
        """Renew a lease no more; False where it was not."""
        with self._changed:
            is_held = fence in self.held
            self.held.discard(fence)
            self._changed.notify_all()
        return is_held

    def _renew_all(self) -> None:
        """Renew what is held until nothing is."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self.held, self._lasts_s / RENEWALS)
                held = list(self.held)
                if not held:
                    self._renewing = False
                    return
            names, tokens = [fence.name for fence in held], [fence.token for fence in held]
            try:
                renewed = self._database.write(_RENEW, [self._lasts_s, names, tokens, self._namespace])
            except StoreError as error:
                log.warning("leases were not renewed: %s", error, extra={"action": "lease_not_renewed"})
                continue
            for fence in set(held).difference(renewed):
                if self.let_go(fence):
                    log.warning("another process took over %s", fence.name, extra={"action": "lease_lost"})


class PostgresLease:
    """A lease as this process took it."""

    def __init__(self, leases: PostgresLeases, database: Database, fence: Fence) -> None:
        self._leases, self._database, self._fence = leases, database, fence

    @property
    def is_held(self) -> bool:
        """Whether this process still renews it: another may have it as soon as that failed for as long as it lasts."""
        return self._fence in self._leases.held

    def fenced(self) -> AbstractContextManager[None]:
        """Refuse what this thread writes inside (LeaseLost), once another process has the lease."""
        return self._database.fenced(self._fence)

    def release(self) -> None:
        """Let another have it at once; nothing happens where another has it already."""
        self._leases.let_go(self._fence)
        self._database.write(
            "UPDATE triage_leases SET holder = NULL WHERE namespace = %s AND name = %s AND token = %s", self._fence
        )
