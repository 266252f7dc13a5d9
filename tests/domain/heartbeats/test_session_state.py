"""Five failures of one kind in a row pause a session; each try that fails doubles the pause."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.heartbeats.session_state import Failures
from tests.heartbeat.clockwork import START


def failed(*kinds: str) -> Failures:
    """Return failures of these kinds, one after the other."""
    failures = Failures()
    for kind in kinds:
        failures = failures.and_another(kind, "the same words", START)
    return failures


def test_the_fifth_failure_of_one_kind_pauses_and_is_told_once() -> None:
    """Not the fourth, and not the sixth."""
    failures, alerts = Failures(), []
    for count in range(1, 12):
        failures = failures.and_another("refused", "refused", START)
        assert (failures.paused_until is None) == (count < 5)
        if failures.is_untold:
            alerts.append(count)
            failures = failures.evolve(told=True)
    assert alerts == [5]


def test_an_owner_who_could_not_be_told_of_the_pause_is_told_at_the_next_try() -> None:
    """What fails is often the way to the owner itself."""
    failures = failed(*["away"] * 6)
    assert failures.is_untold
    assert not failures.evolve(told=True).and_another("away", "Slack is away", START).is_untold
    assert not failures.evolve(told=True).and_another("another", "another", START).told


def test_the_pause_doubles_up_to_a_day() -> None:
    """Half an hour, an hour, two, …"""
    found = [failed(*["refused"] * count).paused_until for count in range(1, 15)]
    pauses = [(until - START) / timedelta(hours=1) for until in found if until]
    assert pauses == [0.5, 1, 2, 4, 8, 16, 24, 24, 24, 24]


def test_other_words_make_no_other_kind() -> None:
    """The code decides; the latest words are what the owner is shown."""
    failures = Failures()
    for words in ("refused (request req_01)", "refused (request req_02)", "no", "Nein", "refused again"):
        failures = failures.and_another("Unavailable", words, START)
    assert (failures.count, failures.key) == (5, "refused again")
    assert failures.notice == (
        "The heartbeat failed 5 times in a row and pauses until 2026-11-21 12:30 UTC: refused again"
    )


def test_failures_that_an_earlier_version_counted_go_on() -> None:
    """It stored no kind; an upgrade does not end a pause."""
    stored = Failures(key="refused", count=5, told=True)
    assert stored.and_another("Unavailable", "refused", START).count == 6


def test_another_kind_counts_anew() -> None:
    """What changes is not stuck."""
    failures = failed("a", "a", "a", "a", "b", "a", "a", "a", "a")
    assert (failures.count, failures.paused_until) == (4, None)
