"""Work waiting in the queue: what it is called on disk and which comes first.

The file name carries the priority (user work before heartbeats, oldest first inside each), so that a listing of the
folder is the queue and needs no file opened.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict


class JobKind(StrEnum):
    """Who asked for the work; the value begins the file name."""

    USER = "user"
    HEARTBEAT = "heartbeat"


class Job(BaseModel):
    """One piece of work.

    `key` names the thread or session for which no two jobs may run at once; `attempts` counts claims so far.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: JobKind
    job_id: str
    epoch_ms: int
    key: str
    payload: dict[str, Any]
    attempts: int = 0
    failures: tuple[str, ...] = ()

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
