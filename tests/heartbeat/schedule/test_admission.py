"""Five failures of one kind in a row pause a session; each try that fails doubles the pause."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.heartbeats.session_state import Failures, SessionState
from bot.heartbeat.schedule.admission import is_alert_due, mark_alerted, record_failure, record_success
from tests.heartbeat.clockwork import START


def test_the_fifth_failure_of_one_kind_pauses_and_is_told_once() -> None:
    """Not the fourth, and not the sixth."""
    state, alerts = SessionState(), []
    for count in range(1, 12):
        state = record_failure(state, "refused", "refused", START)
        assert (state.failures.paused_until is None) == (count < 5)
        if is_alert_due(state):
            alerts.append(count)
            state = mark_alerted(state)
    assert alerts == [5]


def test_an_owner_who_could_not_be_told_of_the_pause_is_told_at_the_next_try() -> None:
    """What fails is often the way to the owner itself."""
    state = SessionState()
    for _ in range(6):
        state = record_failure(state, "away", "Slack is away", START)
    assert is_alert_due(state)
    assert not is_alert_due(record_failure(mark_alerted(state), "away", "Slack is away", START))
    assert not record_failure(mark_alerted(state), "another", "another", START).failures.told


def test_the_pause_doubles_up_to_a_day() -> None:
    """Half an hour, an hour, two, …"""
    state, pauses = SessionState(), []
    for _ in range(14):
        state = record_failure(state, "refused", "refused", START)
        until = state.failures.paused_until
        pauses += [(until - START) / timedelta(hours=1)] if until else []
    assert pauses == [0.5, 1, 2, 4, 8, 16, 24, 24, 24, 24]


def test_other_words_make_no_other_kind() -> None:
    """The code decides; the latest words are what the owner is shown."""
    state = SessionState()
    for words in ("refused (request req_01)", "refused (request req_02)", "no", "Nein", "refused again"):
        state = record_failure(state, "Unavailable", words, START)
    assert (state.failures.count, state.failures.key) == (5, "refused again")
    assert state.failures.paused_until is not None


def test_failures_that_an_earlier_version_counted_go_on() -> None:
    """It stored no kind; an upgrade does not end a pause."""
    state = SessionState(failures=Failures(key="refused", count=5, told=True))
    assert record_failure(state, "Unavailable", "refused", START).failures.count == 6


def test_another_kind_counts_anew() -> None:
    """What changes is not stuck."""
    state = SessionState()
    for key in ("a", "a", "a", "a", "b", "a", "a", "a", "a"):
        state = record_failure(state, key, "the same words", START)
    assert (state.failures.count, state.failures.paused_until) == (4, None)


def test_a_success_forgets_them_all() -> None:
    """The next failure is the first."""
    state = SessionState()
    for _ in range(7):
        state = record_failure(state, "a", "a", START)
    assert record_success(state) == SessionState()
    assert record_failure(record_success(state), "a", "a", START).failures.count == 1
