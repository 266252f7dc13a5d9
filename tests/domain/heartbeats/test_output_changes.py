"""What checks print that exit with 0, over the four ways an output can change. The outputs are in check_outputs.yml."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.domain.heartbeats.output_changes import (
    KEPT_CHARS,
    excerpt,
    far_moves,
    new_trouble,
    standing_trouble,
    watches_for_change,
)

CHECKS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("check_outputs.yml").read_text(encoding="utf-8"))
TITLES = [f"{number} {check['title']}" for number, check in enumerate(CHECKS)]


def rings(check: dict[str, Any], before: str, now: str) -> bool:
    """Whether a change of output is an alert."""
    return bool(new_trouble(check["title"], now, before) or far_moves(check["title"], now, before))


@pytest.mark.parametrize("check", CHECKS, ids=TITLES)
def test_what_is_good_rings_neither_after_good_nor_after_bad(check: dict[str, Any]) -> None:
    """Whatever number, time or line differs."""
    pairs = product([*check["good"], *check["bad"]], check["good"])
    assert [pair for pair in pairs if rings(check, *pair)] == []


@pytest.mark.parametrize("check", CHECKS, ids=TITLES)
def test_what_is_bad_rings_after_good(check: dict[str, Any]) -> None:
    """By a word, a status, a share or a measure."""
    assert [pair for pair in product(check["good"], check["bad"]) if not rings(check, *pair)] == []


@pytest.mark.parametrize("check", CHECKS, ids=TITLES)
def test_trouble_that_was_told_stands_as_long_as_it_is_printed(check: dict[str, Any]) -> None:
    """After bad the same bad is no news, and good ends it."""
    for good, bad in product(check["good"], check["bad"]):
        if lines := new_trouble(check["title"], bad, good):
            told = "\n".join(f"- `{line}`" for line in lines)
            assert new_trouble(check["title"], bad, bad) == []
            assert standing_trouble(check["title"], bad, told)
            assert standing_trouble(check["title"], good, told) == []


@pytest.mark.parametrize(
    "title",
    [
        *("New issues", "Did the schema change?", "Anything else in the bucket", "Geänderte Preise", "Neue Tickets"),
        *("Cambios de precio", "Nouveaux tickets", "Mudanças de preço", "Perubahan harga", "新着チケット", "价格变化"),
    ],
)
def test_a_title_says_that_a_task_watches_for_change(title: str) -> None:
    """In the eight languages."""
    assert watches_for_change(title)


def test_of_a_long_output_the_beginning_and_the_end_are_kept() -> None:
    """A log's newest lines stand at its end."""
    lines = [f"line {number}" for number in range(5_000)]
    kept = excerpt("\n".join(lines))
    assert len(kept) <= KEPT_CHARS
    assert (kept.splitlines()[0], kept.splitlines()[-1]) == (lines[0], lines[-1])
    assert set(kept.splitlines()) < set(lines)
    assert excerpt("short") == "short"
