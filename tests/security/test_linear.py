"""No public function that is given text from outside takes time out of proportion to its length."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from blocks.text.splitting import SECTION_CHARS, truncate
from tests.security.hostile_text import CHECKS, SEEDS, text_functions, text_of
from tests.tables import each_row

SHORT, LOOK, LOOK_AGAIN, MIDDLE, LARGE = 60, 1_000, 8_000, 20_000, 200_000
FUNCTIONS: Final = tuple(text_functions())
PARTS: Final = 12
QUICK: Final = (
    "bot.domain.secrets.redact(text)",
    "bot.intake.classifier.classification.classify",
    "bot.domain.heartbeats.alerts.normalised(text)",
    "blocks.text.mrkdwn.to_mrkdwn(markdown)",
)
FLOOR_S: Final = 0.1
WORTH_A_LOOK_S: Final = 0.0001
"""What reads 1,000 characters faster than this reads 200,000 in 4 s even if its time grew with the square."""
HOPELESS_S: Final = 1.0
"""What needs more for 20,000 characters, and thirty times less for a tenth of them, is not tried on 200,000."""


@pytest.mark.full
@pytest.mark.parametrize("part", range(PARTS))
def test_time_grows_with_the_length_of_the_text(part: int) -> None:
    """Ten times the text takes at most thirty times as long, whatever it repeats; 200 KB are read where 20 KB grow."""
    found = {name: [seed for seed in SEEDS if _grows_fast(call, seed)] for name, call in FUNCTIONS[part::PARTS]}
    assert {name: seeds for name, seeds in found.items() if seeds} == {}


@each_row("name", QUICK)
def test_what_every_text_goes_through_grows_with_its_length(name: str) -> None:
    """A tenth of the seeds; the other functions and seeds are looked at by `make test-full`."""
    call = dict(FUNCTIONS)[name]
    assert [seed for seed in SEEDS[::10] if _grows_fast(call, seed)] == []


@pytest.mark.full
@each_row("seed", ["&", "x", "a ", "`", "<a", "```a\n"])
def test_of_a_long_text_only_the_beginning_is_cut_out(seed: str) -> None:
    """A dialogue with 45 quotes is drawn while its trigger lives: what is not shown of each costs next to nothing."""
    few = _shortest(_beginning, seed, MIDDLE)
    assert _shortest(_beginning, seed, 10 * LARGE) <= max(20 * few, FLOOR_S)


def test_the_seeds_and_the_functions_are_many() -> None:
    """Nothing is measured by accident alone: the functions are found, and the seeds differ."""
    names = [name for name, _ in FUNCTIONS]
    assert len(set(names)) == len(names) > 300
    assert {
        "bot.domain.citations.citation_lines.Scan(a.py)",
        "bot.domain.secrets.redact(text)",
        "blocks.text.mrkdwn.to_mrkdwn(markdown)",
        "bot.intake.classifier.classification.classify",
    } <= set(names)
    assert len(set(SEEDS)) == len(SEEDS) >= 250


@pytest.mark.full
def test_every_function_answers_a_hostile_text() -> None:
    """What raised whatever it is given would be measured on nothing; only what looks for one form may refuse all."""
    silent = [name for name, call in FUNCTIONS if not any(_answers(call, text_of(seed, 200)) for seed in SEEDS)]
    assert {name.rpartition(".")[2] for name in silent} == CHECKS


def _grows_fast(call: Callable[[str], Any], seed: str) -> bool:
    """Whether a text is slow beyond proportion; short ones choose which are worth 200 KB."""
    if _seconds(call, seed, SHORT) > FLOOR_S:  # also what is too long to be looked at may be slow while it is short
        return _seconds(call, seed, SHORT) > max(FLOOR_S, 8 * _seconds(call, seed, SHORT // 2))
    short = _seconds(call, seed, LOOK)
    if short < WORTH_A_LOOK_S or _seconds(call, seed, LOOK_AGAIN) < 12 * short:
        return False
    middle = _shortest(call, seed, MIDDLE)
    if middle > HOPELESS_S and middle > 30 * _shortest(call, seed, MIDDLE // 10):
        return True
    large = _seconds(call, seed, LARGE)
    limit = max(30 * middle, FLOOR_S)
    return large > limit and _seconds(call, seed, LARGE) > limit  # the machine may have been busy the first time


def _shortest(call: Callable[[str], Any], seed: str, size: int) -> float:
    return min(_seconds(call, seed, size) for _ in range(2))


def _beginning(text: str) -> str:
    return truncate(text, SECTION_CHARS)


def _answers(call: Callable[[str], Any], text: str) -> bool:
    with contextlib.suppress(Exception):
        call(text)
        return True
    return False


def _seconds(call: Callable[[str], Any], seed: str, size: int) -> float:
    """Return the processor time of one call; what it refuses counts like what it answers."""
    text = text_of(seed, size)
    gc.disable()
    started = time.thread_time()
    with contextlib.suppress(Exception):
        call(text)
    took = time.thread_time() - started
    gc.enable()
    return took
