"""What a thread keeps of its alert, however its messages come: late, twice, edited."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.alerts import KEPT_IDS, Alert, AlertState, Severity, ThreadAlert
from tests.tables import each_row


def said(state: str = "firing", severity: Severity = Severity.PAGE) -> Alert:
    return Alert(tool="", state=state, name="CPU", fingerprint="x", severity=severity)


def at(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def heard(alert: ThreadAlert, second: int, state: str) -> ThreadAlert:
    return alert.after(said(state), f"{second}.000100", at(second))


@given(st.lists(st.sampled_from(list(AlertState)), min_size=1, max_size=12), st.randoms())
def test_the_order_and_the_number_of_deliveries_do_not_count(states: list[AlertState], chance: object) -> None:
    """Property: after any delivery, each maybe twice, the newest message's state and the true count stand there."""
    messages = list(zip(count(2), states, strict=False)) * 2
    chance.shuffle(messages)  # type: ignore[attr-defined]
    alert = ThreadAlert.of_first(said(), "1.000100", at(1))
    for second, state in messages:
        alert = heard(alert, second, state)
    firing = [second for second, state in messages if state is AlertState.FIRING]
    assert alert.state is states[-1]
    assert alert.count == 1 + len(firing) // 2
    assert alert.last_at == at(max(firing, default=1))
    assert list(alert.message_ids) == [f"{second}.000100" for second in range(1, len(states) + 2)]


def test_messages_that_are_remembered_no_more_are_known_all_the_same() -> None:
    """The list is bounded and the count is right."""
    alert = ThreadAlert.of_first(said(), "1.000100", at(1))
    for second in [*range(2, 2 * KEPT_IDS + 1), *range(1, 2 * KEPT_IDS)]:
        alert = heard(alert, second, "firing")
    assert (alert.count, len(alert.message_ids)) == (2 * KEPT_IDS, KEPT_IDS)


def test_an_edit_changes_the_state_only_of_the_newest_message() -> None:
    """And never counts; what says nothing new is the very same value."""
    alert = ThreadAlert.of_first(said(), "1.000100", at(1))
    edited = alert.after(said("resolved"), "1.000100", at(9), is_edit=True)
    assert (edited.state, edited.changed_at, edited.count) == ("resolved", at(9), 1)
    later = heard(alert, 2, "firing")
    assert later.after(said("resolved"), "1.000100", at(9), is_edit=True) is later
    assert alert.after(said(), "1.000100", at(9), is_edit=True) == alert


@each_row(
    "state, severity, urgency",
    [
        ("firing", "page", "page"),
        ("firing", "know", "know"),
        ("resolved", "page", "act"),
        ("acknowledged", "page", "act"),
        ("info", "know", "know"),
    ],
)
def test_nobody_is_rung_for_what_fires_no_more(state: str, severity: Severity, urgency: Severity) -> None:
    """The alert's own severity stays on record."""
    alert = ThreadAlert.of_first(said(state, Severity(severity)), "1.000100", at(1))
    assert (alert.urgency, alert.severity) == (urgency, severity)
