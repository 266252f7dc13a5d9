"""Times that people read in Slack are the reader's, and hostile words make none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from blocks.text.outgoing_text import escape, local_time, with_local_times
from bot.domain.text.humanize import utc_text

AT = datetime(2026, 11, 21, 3, 12, tzinfo=UTC)
TOKEN = "<!date^1795230720^{date_short_pretty} {time}|2026-11-21 03:12 UTC>"


def test_a_sentence_of_ours_gets_the_readers_times() -> None:
    """Each time in it, and nothing but times."""
    assert with_local_times(f"from {utc_text(AT)} to {utc_text(AT)}.") == f"from {TOKEN} to {TOKEN}."
    assert local_time(AT) == TOKEN


@pytest.mark.parametrize(
    "text",
    ["`2026-11-21 03:12 UTC`", "```\n2026-11-21 03:12 UTC\n```", "> at 2026-11-21 03:12 UTC", TOKEN],
)
def test_code_quotations_and_tokens_stay_as_they_are(text: str) -> None:
    """Slack shows no token in code, and nobody's words are changed."""
    assert with_local_times(text) == text
    assert with_local_times(f"{text}\n2026-11-21 03:12 UTC") == f"{text}\n{TOKEN}"


@pytest.mark.parametrize("text", ["2026-13-40 99:99 UTC", "2026-11-21 03:12 UTCX", "0000-00-00 00:00 UTC", "no time"])
def test_what_is_no_time_stays_as_it_stands(text: str) -> None:
    """Nothing is guessed, nothing raises."""
    assert with_local_times(text) == text


def test_what_stands_behind_a_time_does_not_become_a_broadcast() -> None:
    """`UTC@here` was part of a word when it was escaped; the token in its place ends in a sign."""
    assert with_local_times(escape(f"{utc_text(AT)}@here")) == f"{TOKEN}@\u200bhere"
