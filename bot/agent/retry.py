"""Decides whether a request to a model is made again within its run, and after how long.

After silence or a cut reply a request is made once more; after a failure that passes a few times more, at the intervals
the provider asks for, within the run's time limit. A request in the middle of a run gets more attempts than the first
one: what the run did so far would be paid for again. What stays away longer is tried again by whoever asked for the
run (bot/casework/rounds.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from bot.agent.model_run import RunLimits
from bot.agent.provider_errors import FAILURES, Truncated, describe_failure, fault_of, retry_after_s
from bot.agent.run_records import RunLog
from bot.agent.watchdog import Expired, Watchdog

FIRST_PAUSE_S: Final = 0.5
LEAST_PAUSE_S: Final = 0.01
"""The first pause where the provider says when to ask again, even if it says at once."""

MAX_PAUSE_S: Final = 60.0
"""The longest pause that nobody asked for."""

MAX_ADVISED_S: Final = 120.0
"""The longest advised pause where a run has no total limit."""

LATER_ATTEMPTS: Final = 3
"""How many attempts more a request has that is not the first of its run."""

T = TypeVar("T")


def pause_s(error: Exception, attempt: int) -> float:
    """Return how long to wait before attempt number `attempt` + 1: as advised, else doubling from half a second.

    Advice that did not help is not followed for ever.
    """
    advised = retry_after_s(error)
    least = min((FIRST_PAUSE_S if advised is None else LEAST_PAUSE_S) * 2.0 ** (attempt - 1), MAX_PAUSE_S)
    return max(advised or 0.0, least)


class RetryPolicy:
    """Makes the requests of one run, each of them again where that may help.

    The SDK has retries of its own, which are off: they sleep through a stop and longer than a run may last, and do not
    repeat a stream that broke off.
    """

    def __init__(self, watch: Watchdog, journal: RunLog, model: str, limits: RunLimits) -> None:
        self._watch, self._journal, self._model, self._limits = watch, journal, model, limits

    def insist(self, request: Callable[[], T], *, is_first: bool) -> T:
        """Make one request under the watchdog until it succeeds; raises what the last attempt raised."""
        broken = failed = 0
        while True:
            try:
                return self._attempt(request)
            except (Expired, Truncated) as error:
                broken += 1
                if broken > 1 or (isinstance(error, Expired) and error.kind != "stall"):
                    raise
                self._journal.say(f"asking again: {'the model fell silent' if isinstance(error, Expired) else error}")
            except FAILURES as error:
                failed += 1
                pause = pause_s(error, failed)
                attempts = self._limits.max_attempts + (0 if is_first else LATER_ATTEMPTS)
                if failed >= attempts or pause >= self._longest_s(is_first) or not fault_of(error).passes:
                    raise
                self._journal.say(f"{describe_failure(error, self._model)}: asking again in {pause:g} s")
                self._watch.sleep(pause)

    def _attempt(self, request: Callable[[], T]) -> T:
        """Make one request; what broke because a limit was reached is that limit."""
        try:
            with self._watch.listening():
                return request()
        except (*FAILURES, Truncated):
            self._watch.check()
            raise

    def _longest_s(self, is_first: bool) -> float:
        left_s, first_s = self._watch.left_s(), self._limits.first_pause_s
        longest = MAX_ADVISED_S if left_s is None else left_s
        return min(longest, first_s) if is_first and first_s is not None else longest
