"""Port Leases over rows that expire; a thread renews those that this process holds.

Time is the database's, so clocks of machines do not matter. Each taking gives the lease a new token. A process that
was paused for longer than a lease lasts finds its token outdated: what it writes inside `fenced` is refused.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final

from bot.adapters.storage.postgres.database import Database, Fence
from bot.errors import ConfigError, StoreError

log = logging.getLogger(__name__)

LASTS_S: Final = 15.0
"""How long after its last sign of life a holder's lease is another's, in seconds."""

RENEWALS: Final = 3
"""Signs of life in that time."""

LOOK_EVERY_S: Final = (0.005, 0.25)
"""Between two looks of somebody who waits for a lease: at first, and at most."""

_TAKE: Final = """
    INSERT INTO triage_leases AS known (namespace, name, token, holder, expires_at)
    VALUES (%s, %s, 1, %s, clock_timestamp() + make_interval(secs => %s))
    ON CONFLICT (namespace, name) DO UPDATE
    SET token = known.token + 1, holder = excluded.holder, expires_at = excluded.expires_at
    WHERE known.holder IS NULL OR known.expires_at <= clock_timestamp()
    RETURNING token
"""
_HOLDER: Final = """
    SELECT holder FROM triage_leases
    WHERE namespace = %s AND name = %s AND holder IS NOT NULL AND expires_at > clock_timestamp()
"""
_RENEW: Final = """
    UPDATE triage_leases AS known SET expires_at = clock_timestamp() + make_interval(secs => %s)
    FROM unnest(%s::text[], %s::bigint[]) AS held (name, token)
    WHERE known.namespace = %s AND known.name = held.name AND known.token = held.token AND known.holder IS NOT NULL
    RETURNING known.name, known.token
"""
_RELEASE: Final = """
    UPDATE triage_leases SET holder = NULL WHERE namespace = %s AND name = %s AND token = %s
"""


class PostgresLeases:
    """The leases of one namespace, as this process holds them."""

    def __init__(self, database: Database, namespace: str, *, lasts_s: float = LASTS_S) -> None:
        self._database, self._namespace, self._lasts_s = database, namespace, lasts_s
        self._held: dict[Fence, None] = {}
        self._changed = threading.Condition()
        self._renewing = False

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Enter when nobody else is inside; what this thread writes there is refused once another is."""
        pause_s, longest_s = LOOK_EVERY_S
        while (fence := self._taken(name)) is None:
            time.sleep(pause_s * random.uniform(0.5, 1.5))  # noqa: S311 - so that those who wait do not look together
            pause_s = min(2 * pause_s, longest_s)
        try:
            with self._database.fenced(fence):
                yield
        finally:
            with suppress(StoreError):  # it is not renewed any more, and expires
                self.release(fence)

    def take(self, name: str) -> PostgresLease:
        """Return the lease at once, held until it is released or this process shows no more signs of life.

        Raises:
            ConfigError: another process holds it; names it.
        """
        fence = self._taken(name)
        if fence is None:
            raise ConfigError(
                f"triage already runs as {name!r} of {self._namespace} (process {self.holder(name) or 'unknown'}); "
                "stop it, or wait until it has stopped"
            )
        return PostgresLease(self, self._database, fence)

    def holder(self, name: str) -> str | None:
        """Return which process has taken a lease, or None: its id, and its machine where that is another one."""
        held = self._database.read(_HOLDER, [self._namespace, name])
        if not held:
            return None
        machine, process = str(held[0][0]).rsplit(":", 1)
        return process if machine == socket.gethostname() else f"{process} on {machine}"

    def holds(self, fence: Fence) -> bool:
        """Whether this process renews a lease."""
        with self._changed:
            return fence in self._held

    def release(self, fence: Fence) -> None:
        """Let another have it at once; nothing happens where another has it already."""
        with self._changed:
            self._held.pop(fence, None)
            self._changed.notify_all()
        self._database.write(_RELEASE, fence)

    def _taken(self, name: str) -> Fence | None:
        """Take a lease that nobody holds; None where somebody does."""
        given = [self._namespace, name, f"{socket.gethostname()}:{os.getpid()}", self._lasts_s]
        taken = self._database.write(_TAKE, given)
        if not taken:
            return None
        fence = Fence(self._namespace, name, taken[0][0])
        with self._changed:
            self._held[fence] = None
            if not self._renewing:
                self._renewing = True
                threading.Thread(target=self._renew_all, name="leases", daemon=True).start()
        return fence

    def _renew_all(self) -> None:
        """Renew what is held until nothing is."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._held, self._lasts_s / RENEWALS)
                held = list(self._held)
                if not held:
                    self._renewing = False
                    return
            try:
                self._renew(held)
            except StoreError as error:
                log.warning("leases were not renewed: %s", error, extra={"action": "lease_not_renewed"})

    def _renew(self, held: Sequence[Fence]) -> None:
        given = [[fence.name for fence in held], [fence.token for fence in held]]
        renewed = set(self._database.write(_RENEW, [self._lasts_s, *given, self._namespace]))
        with self._changed:
            lost = [fence for fence in held if (fence.name, fence.token) not in renewed and fence in self._held]
            for fence in lost:
                del self._held[fence]
        for fence in lost:
            log.warning("another process took over %s", fence.name, extra={"action": "lease_lost"})


class PostgresLease:
    """A lease as this process took it."""

    def __init__(self, leases: PostgresLeases, database: Database, fence: Fence) -> None:
        self._leases, self._database, self._fence = leases, database, fence

    @property
    def is_held(self) -> bool:
        """Whether this process still renews it: another may have it as soon as that failed for as long as it lasts."""
        return self._leases.holds(self._fence)

    def fenced(self) -> AbstractContextManager[None]:
        """Refuse what this thread writes inside (LeaseLost), once another process has the lease."""
        return self._database.fenced(self._fence)

    def release(self) -> None:
        """Let another have it."""
        self._leases.release(self._fence)
