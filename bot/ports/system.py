"""Ports to the operating system, and to what the processes of one database share: who they are, and their rates.

A clock, processes that outlive the bot, and common rates of posting: Slack counts the requests of all processes as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from bot.domain.text.humanize import duration


class Clock(Protocol):
    """The time; tests inject their own."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""


class Terminal(Protocol):
    """Long runs outside our process, each in a session with a name; they outlive us."""

    def start(self, session: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str]) -> str | None:
        """Start `argv` in a session unless one of this name is alive; its output streams to `log`.

        It sees the variables in `env` and none of ours. Returns the name by which one attaches, None where one cannot;
        raises ProviderError when it cannot be started.
        """

    def sessions(self) -> frozenset[str]:
        """Return the names of the sessions that are alive, whichever process started them."""

    def may_hold_others(self) -> bool:
        """Whether sessions may be alive that `sessions` does not name: those of a release before its locks."""

    def end(self, session: str) -> None:
        """End a session and all that runs in it; harmless when there is none."""


SILENT: Final = timedelta(seconds=30)
"""After how long without a sign of life a replica is taken for dead or stuck; it gives one every few seconds."""

MAX_SKEW: Final = timedelta(seconds=2)
"""How far a clock may be off before people are told."""


class Role(StrEnum):
    """What a process does: all there is, only the connection to Slack, or only the work."""

    ALL = "all"
    EDGE = "edge"
    WORK = "work"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replica:
    """One process; the times are by the database's clock.

    `clock_ahead` is how far its machine's clock was ahead of the database's at its last sign of life.
    """

    host: str
    pid: int
    version: str
    role: str
    runs_for: timedelta
    silent_for: timedelta
    clock_ahead: timedelta

    @property
    def is_alive(self) -> bool:
        """Whether it gave a sign of life lately."""
        return self.silent_for < SILENT

    @property
    def name(self) -> str:
        """What people find it by."""
        return f"process {self.pid} on {self.host}"

    @property
    def line(self) -> str:
        """How it stands, for a list."""
        silent = duration(self.silent_for)
        seen = f"last sign of life {silent} ago" if self.is_alive else f"no sign of life for {silent}"
        line = f"{self.name}: triage {self.version}, role {self.role}, started {duration(self.runs_for)} ago, {seen}"
        if abs(self.clock_ahead) <= MAX_SKEW:
            return line
        side = "ahead of" if self.clock_ahead > timedelta() else "behind"
        return f"{line}, clock {duration(abs(self.clock_ahead))} {side} the database's"


class Replicas(Protocol):
    """The replicas of a database, this process among them once it has given a sign of life. All raise StoreError."""

    def beat(self, version: str, role: Role, clock_ahead: timedelta) -> None:
        """Give a sign of life; rows of those that gave none for a day go."""

    def ahead(self, clock: Clock) -> timedelta | None:
        """Return how far a clock is ahead of the database's; None where the answer came too late to tell."""

    def leave(self) -> None:
        """Remove this process: it stops."""

    def list(self) -> Sequence[Replica]:
        """Return all, by host and process."""


class Rate(NamedTuple):
    """`burst` at once, then one every `1 / per_second` s; for each key of `name` by itself."""

    name: str
    per_second: float
    burst: int


class SharedPace(Protocol):
    """Slots that every process takes from the same row. Both methods raise StoreError."""

    def reserve(self, rate: Rate, key: str, *, patience_s: float, spare: int = 0) -> float:
        """Take the next slot and return in how many seconds it comes, 0 for now.

        More than `patience_s`: nothing was taken. `spare`, less than the burst, is left of it to the rest.
        """

    def hold(self, rate: Rate, key: str, seconds: float) -> None:
        """Let nobody take a slot before so many seconds have passed; a longer hold stays."""
