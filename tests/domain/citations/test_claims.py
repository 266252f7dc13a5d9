"""What a claim says beyond its citations is named; what they hold is left alone, in every language alike."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.casework.checks import check_claim
from bot.domain.citations.claims import has_facts
from tests.tables import each_row, read_cases

SNIPPETS = read_cases(Path(__file__).with_name("claims.yml"))
CODE = (
    "MAX_RETRIES = 3",
    "self.timeout_ms: int = 30_000",
    "def charge(order, retries=5):",
    "    raise PaymentError(f'{order.id} failed')",
    "DAY = 24 * 60 * 60  # seconds",
    "see lib/route.js:40 and commit 0a1b2c3d",
)
SIZE = 200_000
SECONDS_FOR_HOSTILE = 30
"""Far more than it takes on a busy machine, far less than a search that grows with the square takes."""


def _check(claim: str, snippet: dict[str, Any]) -> list[str]:
    lines = snippet["lines"].splitlines()
    return check_claim(claim, lines, paths=snippet.get("paths", ()), commits=snippet.get("commits", ()))


@each_row("claim, snippet", [(claim, snippet) for snippet in SNIPPETS for claim in snippet["backed"]])
def test_what_the_lines_hold_is_backed(claim: str, snippet: dict[str, Any]) -> None:
    """Conversions, other spellings of numbers and places behind the sentence included."""
    assert _check(claim, snippet) == []


@each_row("claim, missing, snippet", [(*row, snippet) for snippet in SNIPPETS for row in snippet["missing"]])
def test_what_the_lines_do_not_hold_is_named(claim: str, missing: list[str], snippet: dict[str, Any]) -> None:
    """The words come back as they stand in the claim, and no others."""
    assert _check(claim, snippet) == missing


def test_a_path_may_begin_with_a_dot() -> None:
    """Also in backticks, and with a folder behind it; another file's name is missing."""
    lines, paths = ["os: linux"], [".readthedocs.yaml:1", ".github/workflows/ci.yml:1"]
    said = "`os` is set in `.readthedocs.yaml:1` and in .github/workflows/ci.yml:1"
    assert check_claim(said, lines, paths=paths) == []
    assert check_claim("It is set in .circleci/config.yml:1.", lines, paths=paths) == [".circleci/config.yml:1"]


def test_the_asker_may_be_repeated() -> None:
    """What the question says needs no line."""
    assert check_claim("`retry_all` does not exist.", ["retries = 3"]) == ["retry_all"]
    assert check_claim("`retry_all` does not exist.", ["retries = 3"], question="Where is retry_all?") == []


@each_row(
    "text, has_any", [("It retries, and gives up.", False), ("HTTP only.", False), ("3 times", True), ("`x`", True)]
)
def test_a_claim_without_facts_is_told_apart(text: str, has_any: bool) -> None:
    """Such a claim is neither backed nor refuted."""
    assert has_facts(text) is has_any


def test_lines_of_cited_ranges_only() -> None:
    """A place with lines must lie in a cited range; a path cited without lines takes any line."""
    assert check_claim("See a/b.py:5.", [], paths=["a/b.py:3-9"]) == []
    assert check_claim("See a/b.py:3-12.", [], paths=["a/b.py:3-9"]) == ["a/b.py:3-12"]
    assert check_claim("See b.py:5, that is a/b.py:6.", [], paths=["app:a/b.py:3-9"]) == []
    assert check_claim("See lib/Router.js.", [], paths=["lib/route.js:3-9"]) == ["lib/Router.js"]
    assert check_claim("See a/b.py:500.", [], paths=["a/b.py"]) == []


def test_hidden_and_wide_characters_change_nothing() -> None:
    """A name cut by a character that nobody sees is still looked up; full-width digits are digits."""
    assert check_claim("`MAX\u200b_RETRIES` is 3", ["MAX_RETRIES = 3"]) == []
    assert check_claim("３ times, ９ times", ["MAX_RETRIES = 3"]) == ["9 times"]


@given(st.sampled_from(CODE), st.integers(0, 30), st.integers(1, 30))
def test_words_taken_from_the_lines_are_backed(line: str, start: int, length: int) -> None:
    """Any whole words of a line, as a span of code or as prose."""
    words = re.findall(r"\S+", line)[start : start + length]
    assert check_claim(f"`{' '.join(words)}`" if words else "", CODE) == []
    assert check_claim(" ".join(words), CODE, paths=["lib/route.js:40"], commits=["0a1b2c3d4e"]) == []


@given(st.lists(st.sampled_from(CODE)), st.lists(st.text(max_size=40), max_size=4))
def test_more_lines_never_refute_what_was_backed(more: Sequence[str], noise: Sequence[str]) -> None:
    """Lines behind those of the claim can only add to what is shown."""
    claim = "`MAX_RETRIES` is 3: it waits 30 seconds (`timeout_ms`), and PaymentError says so; DAY is one day."
    lines = ["MAX_RETRIES = 3", "timeout_ms = 30_000", "raise PaymentError", "DAY = 24 * 60 * 60"]
    assert check_claim(claim, lines) == []
    assert check_claim(claim, [*lines, *more, *noise]) == []


@pytest.mark.full
@each_row(
    "seed",
    ["1.", "1_", "60*", "-9e9**9", "10**9 ", "9**9**", "a_", "a.", "a/", "`a` ", "`", "```\n", "9 seconds ", "[", "\n"],
)
def test_hostile_text_takes_linear_time(seed: str) -> None:
    """Of 200 KB as a claim, and of 200 KB as lines."""
    text = (seed * SIZE)[:SIZE]
    started = time.process_time()
    check_claim(text, ["x = 1"])
    check_claim("`x` waits 5 s for a_b", [text])
    assert time.process_time() - started < SECONDS_FOR_HOSTILE


def test_what_is_too_much_to_look_up_is_not_backed() -> None:
    """Neither digits without end nor more spans than are looked up count as shown."""
    assert check_claim("9" * 10**5, ["9"]) != []
    assert check_claim("`x` " * 5_000, ["x"]) == ["x"]
