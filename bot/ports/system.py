"""Ports to the operating system: the clock, and processes that outlive the bot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol


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
