"""No public function that is given text from outside takes time out of proportion to its length."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable
from typing import Any, Final

from bot.domain.secrets import redact
from tests.sampling import every
from tests.security.hostile_text import SEEDS, text_functions
from tests.tables import each_row

LOOK, LOOK_AGAIN, MIDDLE, LARGE = 1_000, 8_000, 20_000, 200_000
USED: Final = SEEDS[::2] + SEEDS[1:16:2]
FUNCTIONS: Final = tuple(text_functions())
FLOOR_S: Final = 0.1
WORTH_A_LOOK_S: Final = 0.0001
"""What reads 1,000 characters faster than this reads 200,000 in 4 s even if its time grew with the square."""


@each_row("number", range(len(FUNCTIONS)))
def test_time_grows_with_the_length_of_the_text(number: int) -> None:
    """Ten times the text takes at most thirty times as long, whatever it repeats; 200 KB are read where 20 KB grow.

    An ordinary run tries every fourth seed, beginning with another for each function.
    """
    name, call = FUNCTIONS[number]
    slow = [seed for seed in every(4, USED, start=number) if _grows_fast(call, seed)]
    assert not slow, f"{name} is slow on {slow}"


def test_the_seeds_and_the_functions_are_many() -> None:
    """Nothing is measured by accident alone: the functions are found, and the seeds differ."""
    names = [name for name, _ in text_functions()]
    assert len(names) > 310
    assert {
        "bot.domain.citations.verbatim_quotes.flaw_of",
        "bot.domain.secrets.redact",
        "blocks.text.mrkdwn.to_mrkdwn",
        "bot.intake.classifier.classification.is_alarm",
    } <= set(names)
    assert len(set(USED)) >= 80


@each_row("seed", ["eyJ-", "eyJ.", "password=", "auth:", "?sig=", "curl ", "sk-", "a://a:"])
def test_redaction_of_200_kb_takes_seconds_at_most(seed: str) -> None:
    """The interpreter is never held for long by one text, however hostile."""
    assert _seconds(redact, seed, LARGE) < 8


def _grows_fast(call: Callable[[str], Any], seed: str) -> bool:
    """Whether a text is slow beyond proportion; short ones choose which are worth 200 KB."""
    short = _seconds(call, seed, LOOK)
    if short < WORTH_A_LOOK_S or _seconds(call, seed, LOOK_AGAIN) < 12 * short:
        return False
    large = _seconds(call, seed, LARGE)
    if large <= FLOOR_S:
        return False
    limit = max(30 * min(_seconds(call, seed, MIDDLE) for _ in range(2)), FLOOR_S)
    return large > limit and _seconds(call, seed, LARGE) > limit  # the machine may have been busy the first time


def _seconds(call: Callable[[str], Any], seed: str, size: int) -> float:
    """Return the processor time of one call; what it refuses counts like what it answers."""
    text = (seed * (size // len(seed) + 1))[:size]
    gc.disable()
    started = time.thread_time()
    with contextlib.suppress(Exception):
        call(text)
    took = time.thread_time() - started
    gc.enable()
    return took
