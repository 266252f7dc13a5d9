"""Five failures of one kind in a row pause a session; each try that fails doubles the pause."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.heartbeats.session_state import SessionState
from bot.heartbeat.schedule.admission import is_alert_due, mark_alerted, record_failure, record_success
from tests.heartbeat.clockwork import START


def test_the_fifth_failure_of_one_kind_pauses_and_is_told_once() -> None:
    """Not the fourth, and not the sixth."""
    state, alerts = SessionState(), []
    for count in range(1, 12):
        state = record_failure(state, "refused", START)
        assert (state.failures.paused_until is None) == (count < 5)
        if is_alert_due(state):
            alerts.append(count)
            state = mark_alerted(state)
    assert alerts == [5]


def test_an_owner_who_could_not_be_told_of_the_pause_is_told_at_the_next_try() -> None:
    """What fails is often the way to the owner itself."""
    state = SessionState()
    for _ in range(6):
        state = record_failure(state, "Slack is away", START)
    assert is_alert_due(state)
    assert not is_alert_due(record_failure(mark_alerted(state), "Slack is away", START))
    assert not record_failure(mark_alerted(state), "another", START).failures.told


def test_the_pause_doubles_up_to_a_day() -> None:
    """Half an hour, an hour, two, …"""
    state, pauses = SessionState(), []
    for _ in range(14):
        state = record_failure(state, "refused", START)
        until = state.failures.paused_until
        pauses += [(until - START) / timedelta(hours=1)] if until else []
    assert pauses == [0.5, 1, 2, 4, 8, 16, 24, 24, 24, 24]


def test_the_number_of_a_request_makes_no_other_kind() -> None:
    """Providers put one into every refusal; the latest is what the owner is shown."""
    state = SessionState()
    for number in range(5):
        state = record_failure(state, f"the provider is overloaded: HTTP 529 (request req_01{number}CSH)", START)
    assert state.failures.count == 5
    assert state.failures.paused_until is not None
    assert state.failures.key.endswith("(request req_014CSH)")


def test_another_kind_counts_anew() -> None:
    """What changes is not stuck."""
    state = SessionState()
    for key in ("a", "a", "a", "a", "b", "a", "a", "a", "a"):
        state = record_failure(state, key, START)
    assert (state.failures.count, state.failures.paused_until) == (4, None)


def test_a_success_forgets_them_all() -> None:
    """The next failure is the first."""
    state = SessionState()
    for _ in range(7):
        state = record_failure(state, "a", START)
    assert record_success(state) == SessionState()
    assert record_failure(record_success(state), "a", START).failures.count == 1
