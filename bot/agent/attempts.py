"""Requests that may fail: which are made again, how often, and how long that may take.

After silence or a cut reply a request is made once more; after a transient failure a few times more, as far apart as
the provider asks. Never past the run's total limit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from bot.agent.failures import FAILURES, Truncated, is_transient, translate, wait_s
from bot.agent.journal import RunJournal
from bot.agent.watchdog import Expired, Watchdog

MAX_ATTEMPTS: Final = 4
"""How often a request is made at most while its failures are transient."""

MAX_WAIT_S: Final = 120.0
"""The longest wait for another attempt where a run has no total limit."""

T = TypeVar("T")


class Attempts:
    """Counts the attempts at one run's current request."""

    def __init__(self, watch: Watchdog, journal: RunJournal, model: str) -> None:
        self._watch, self._journal, self._model = watch, journal, model
        self.start_over()

    def start_over(self) -> None:
        """Begin with the next request: it has all its attempts before it."""
        self._broken, self._failed = 0, 0

    def insist(self, work: Callable[[], T]) -> T:
        """Do what makes requests, again where that may help; raises what the last attempt raised."""
        while True:
            try:
                return work()
            except (Expired, Truncated) as error:
                self._once_more(error)
            except FAILURES as error:
                self._back_off(error)

    def guarded(self, request: Callable[[], T]) -> T:
        """Make one request under the watchdog; what broke because a limit was reached is that limit."""
        try:
            with self._watch.listening():
                return request()
        except (*FAILURES, Truncated):
            self._watch.check()
            raise

    def _once_more(self, error: Expired | Truncated) -> None:
        """Allow one more attempt after silence or a cut reply; none after the end of the run."""
        self._broken += 1
        if self._broken > 1 or (isinstance(error, Expired) and error.kind != "stall"):
            raise error
        self._journal.say(f"asking again: {'the model fell silent' if isinstance(error, Expired) else error}")

    def _back_off(self, error: Exception) -> None:
        """Wait before another attempt, if one may help and the run lasts that long."""
        self._failed += 1
        pause_s, left_s = wait_s(error, self._failed), self._watch.left_s()
        is_too_long = pause_s >= (MAX_WAIT_S if left_s is None else left_s)
        if is_too_long or self._failed >= MAX_ATTEMPTS or not is_transient(error):
            raise error
        self._journal.say(f"{translate(error, self._model)}: asking again in {pause_s:g} s")
        self._watch.sleep(pause_s)
