"""Work waiting in the queue: what it is called on disk and which comes first.

The file name carries the priority (user work before heartbeats, oldest first inside each), so that a listing of the
folder is the queue and needs no file opened.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from bot.domain.frozen_value import FrozenValue

MAX_ATTEMPTS: Final = 3
SUSPECT_DEATHS: Final = 2
"""After so many deaths of the process a job runs alone."""
DEADLY_DEATHS: Final = 3
"""After so many deaths while it ran alone a job is not run any more; whoever asked for it is told."""


class JobKind(StrEnum):
    """Who asked for the work; the value begins the file name."""

    USER = "user"
    HEARTBEAT = "heartbeat"


class Job(FrozenValue):
    """One piece of work.

    `key` names the thread or session for which no two jobs may run at once; `attempts` counts the claims so far that
    ended in an error, and the one under way; `deaths` how often the process died while it ran, `deaths_alone` how often
    while nothing else ran.
    """

    kind: JobKind
    job_id: str
    epoch_ms: int
    key: str
    payload: dict[str, Any]
    attempts: int = 0
    failures: tuple[str, ...] = ()
    deaths: int = 0
    deaths_alone: int = 0

    @property
    def runs_alone(self) -> bool:
        """Whether nothing else may run beside it, so that another death tells which job it was."""
        return self.deaths >= SUSPECT_DEATHS

    @property
    def is_deadly(self) -> bool:
        """Whether it is not to be run any more: the process died each time it ran, with nothing beside it."""
        return self.deaths_alone >= DEADLY_DEATHS

    @property
    def has_failed(self) -> bool:
        """Whether it is not to be claimed any more: too many errors, or not even giving it up went well."""
        return self.attempts >= MAX_ATTEMPTS or self.deaths_alone > DEADLY_DEATHS

    def died(self, *, alone: bool) -> Job:
        """Return the job as the next start takes it up: a death is no failed attempt.

        >>> job = Job(kind=JobKind.USER, job_id="1", epoch_ms=1, key="k", payload={}, attempts=1)
        >>> (job.died(alone=True).attempts, job.died(alone=True).deaths_alone, job.died(alone=False).deaths_alone)
        (0, 1, 0)
        """
        counted = {"deaths": self.deaths + 1, "deaths_alone": self.deaths_alone + alone}
        return self.model_copy(update={"attempts": max(0, self.attempts - 1), **counted})

    @property
    def name(self) -> str:
        """The job's file name, for example `user_1700000000000_000001.json`."""
        return f"{self.kind}_{self.epoch_ms}_{self.job_id}.json"


def queue_order(name: str) -> tuple[int, int, str]:
    """Return the sort key of a job's file name: priority, then age, then id.

    >>> sorted(["heartbeat_1_a.json", "user_20_a.json", "user_3_b.json"], key=queue_order)
    ['user_3_b.json', 'user_20_a.json', 'heartbeat_1_a.json']
    """
    kind, epoch_ms, rest = name.split("_", 2)
    return (0 if kind == JobKind.USER else 1, int(epoch_ms), rest)
