"""Numbers are compared by value and unit; a conversion counts where the lines name the unit or its factors."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.citations.units import Quantities, spoken_numbers
from tests.tables import each_row


def _is_backed(said: str, lines: list[str], *endings: str) -> bool:
    numbers = list(spoken_numbers(said))
    assert numbers, said
    quantities = Quantities(lines, endings)
    return all(quantities.back(number) for number in numbers)


@each_row(
    "said, line",
    [
        ("30 seconds", "TIMEOUT_SECONDS = 30"),
        ("30,000 ms", "TIMEOUT_SECONDS: Final[int] = 30"),
        ("7 minutes", 'timeout: "420s"'),
        ("7 分", "Duration.ofSeconds(420)"),
        ("5 secondes", "SECONDS.toMillis(5)"),
        ("10 seconds", "ttl_dns_cache: int | None = 10"),
        ("21\u202f600 s", "retry_after_seconds = 21600"),
        ("21 600 secondes", "retry_after_seconds = 21600"),
        ("one day", "EXPIRY = 3600 * 24"),
        ("30 seconds", "DELAY_MS = 30 * 1000"),
        ("5 Minuten", "timeout = 5 * 60"),
        ("16 MiB", "window = 16 << 20"),
        ("1 MB", "MAX_BYTES = 1048576"),
        ("80%", "percent: 80"),
        ("$5", "price_cents = 500"),
        ("3万", "rows = 30000"),
        ("1.5 hours", "delay_s = 5400"),
        ("-1", "return -1"),
        ("3–5 retries", "min_retries, max_retries = 3, 5"),
        ("three times", "the three attempts"),
    ],
)
def test_the_same_amount_is_backed(said: str, line: str) -> None:
    """However the line writes the number and its unit."""
    assert _is_backed(said, [line])


@each_row(
    "said, line",
    [
        ("30 hours", "TIMEOUT_SECONDS = 30"),
        ("30 minutes", "timeout = 30"),
        ("5 hours", "EXPIRY = 5 * 60 * 60 * 24"),
        ("5 seconds", "TIMEOUT_SECONDS = 30, RETRIES = 5"),
        ("5 seconds", "RETRIES = 5"),
        ("5 minutes", "TIMEOUT_MS = 5 * 60"),
        ("10 ms", "SECONDS.toMillis(10)"),
        ("30 %", "limit = 30"),
        ("€5", "price_usd = 5"),
        ("-1", "return 1"),
        ("2.31.1", "requests>=2.31.0"),
        ("3 times", "delay_seconds = 3"),
    ],
)
def test_another_unit_or_value_is_not_backed(said: str, line: str) -> None:
    """A number alone says nothing of its unit."""
    assert not _is_backed(said, [line])


def test_a_bare_number_counts_in_the_base_unit_of_its_language() -> None:
    """Seconds, or milliseconds in JavaScript and Java, where the name is one of a time and no line names a unit."""
    assert _is_backed("30 seconds", ["timeout = 30"], "py")
    assert not _is_backed("30 ms", ["timeout = 30"], "py")
    assert _is_backed("30 ms", ["timeout: 30"], "js")
    assert not _is_backed("30 seconds", ["timeout: 30"], "js")
    assert not _is_backed("30 seconds", ["# in milliseconds", "timeout = 30"], "py")


@given(st.integers(1, 500), st.sampled_from([("minutes", 60), ("Stunden", 3600), ("días", 86400)]))
def test_every_conversion_agrees_both_ways(count: int, unit: tuple[str, int]) -> None:
    """An amount in one unit is the one in the other, and one more is not."""
    word, seconds = unit
    assert _is_backed(f"{count} {word}", [f"wait_seconds = {count * seconds}"])
    assert not _is_backed(f"{count + 1} {word}", [f"wait_seconds = {count * seconds}"])
