"""A program of the bot that is killed at a named moment; no line of the product knows of it.

    python -m tests.crashes.victim <moment as JSON> bot run --config …

It watches the ports of whatever engine the bot opens, and what leaves the process. Death is SIGKILL to itself.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import threading
from typing import Any, Final, NoReturn

import bot.composition.process
from bot.config.environment import Environment
from bot.ports.system import Role
from tests.crashes.effects import EffectCounter
from tests.crashes.moments import Moment
from tests.crashes.operations import WatchedEngine
from tests.crashes.outside import outward

TOO_FEW: Final = 99
"""The exit code where the operation has ended, and had fewer effects inside."""

OPENS_ENGINE: Final = "open_engine"
"""The function of bot/composition/process.py that returns the engine: the one place where the bot gets one."""


class Executioner:
    """Watches the operations of one process, and what it does outside, for one moment."""

    def __init__(self, moment: Moment) -> None:
        self._moment, self._left, self._lock = moment, moment.nth, threading.Lock()
        self._thread = threading.local()

    def begins(self, *parts: str) -> None:
        """Die before the operation, or count its effects from now on."""
        if self._moment.after or not self._is_met(parts):
            return
        if self._moment.effect is None:
            die()
        self._thread.counter = EffectCounter(self._moment.effect, die)

    def ends(self, *parts: str) -> None:
        """Die after the operation; end otherwise where it had too few effects to die inside."""
        if self._moment.after and self._is_met(parts):
            die()
        if self._stopped_counting():
            os._exit(TOO_FEW)

    def fails(self) -> None:
        """Wait for the next such operation."""
        if self._stopped_counting():
            self._left += 1

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        """Die before the call to the outside that an audit event announces."""
        if getattr(self._thread, "is_looking", False):
            return
        self._thread.is_looking = True
        try:
            what = outward(event, args)
            if what is not None:
                self.begins(what)
        finally:
            self._thread.is_looking = False

    def _is_met(self, parts: tuple[str, ...]) -> bool:
        with self._lock:
            left = self._left
            self._left -= sum(map(self._moment.is_of, parts))
            return left > 0 >= self._left

    def _stopped_counting(self) -> bool:
        counter: EffectCounter | None = getattr(self._thread, "counter", None)
        self._thread.counter = None
        if counter is not None:
            counter.stop()
        return counter is not None


def die() -> NoReturn:
    """End this process as `kill -9` does: no handler runs, nothing is flushed."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("SIGKILL returned")


def watch(executioner: Executioner) -> None:
    """Have the bot open its engine under watch, and the process tell of what leaves it."""
    names = vars(bot.composition.process)
    open_engine = names[OPENS_ENGINE]

    def opens_watched(environment: Environment, role: Role) -> WatchedEngine:
        return WatchedEngine(open_engine(environment, role), executioner)

    names[OPENS_ENGINE] = opens_watched
    sys.addaudithook(executioner.audit)


def main(arguments: list[str]) -> None:
    """Arm the watch, then become the program."""
    moment, module, *rest = arguments
    watch(Executioner(Moment(**json.loads(moment))))
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
