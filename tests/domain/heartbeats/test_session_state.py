"""What is remembered of a session: failures in a row, which pause it, and findings, closed ones for a while."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.session_state import KEPT_FINDINGS, KEPT_OPEN_FINDINGS, Failures, SessionState
from bot.ports.migrations import forward
from tests.heartbeat.clockwork import START
from tests.tables import each_row


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


@each_row("kind", ["Unavailable", "Unconfirmed", "Unavailable:internal_error"])
def test_an_outage_holds_up_the_checks_for_half_an_hour_at_most(kind: str) -> None:
    """Once Slack or the model is back, what failed meanwhile is told of soon."""
    assert failed(*[kind] * 20).paused_until == START + timedelta(minutes=30)


def test_what_is_open_is_not_forgotten_for_what_is_closed_or_newer() -> None:
    """One that was acknowledged would ring again; a runaway check floods the file no further than its limit."""

    def finding(number: int, **more: object) -> OpenFinding:
        at = START + timedelta(minutes=number)
        return OpenFinding.model_validate(
            {"key": f"shop/ci/{number}", "task": "ci", "text": "Red.", "first_at": at, "last_at": at, **more}
        )

    many = KEPT_FINDINGS + 50
    first = [finding(number, acknowledged_by="U0ANN") for number in range(many)]
    over = [finding(number, resolved_at=START) for number in range(many, 2 * many)]
    state = SessionState().with_findings(*first, *over)
    assert [each.key for each in state.findings.values() if each.is_open] == [each.key for each in first]
    assert [each.key for each in state.findings.values() if not each.is_open] == [each.key for each in over[50:]]
    more = [finding(number) for number in range(2 * many, 2 * many + KEPT_OPEN_FINDINGS)]
    assert len(state.with_findings(*more).findings) == KEPT_FINDINGS + KEPT_OPEN_FINDINGS


def test_faults_that_earlier_versions_told_of_are_read() -> None:
    """One field for each kind; what was whole is forgotten."""
    stored = {"tracked_told_at": START, "unchecked_told_at": None, "inbox_read": 3}
    state = SessionState.model_validate(stored, extra="allow")
    assert (state.told, state.inbox_read) == ({"tracked": START}, 3)
    assert not {key for key in state.model_dump() if key.endswith("_at") and key in stored}
    assert SessionState.model_validate(state.model_dump(), extra="allow") == state


def test_what_an_earlier_version_sent_holds_its_finding_back_and_no_other() -> None:
    """It kept the stamps beside the findings; an upgrade rings nothing twice."""
    known = OpenFinding(key="shop/ci/red", task="ci", text="Red.", first_at=START, last_at=START)
    stored = SessionState(findings={known.key: known}).model_dump(mode="json")
    stored["findings"][known.key].pop("stamps")
    at = START.isoformat()
    stored["sent"] = {"stamps": {"slack:U0ANA finding shop/ci/red": at, "slack:U0ANA text 0123 shop/ci/red": at}}
    state = SessionState.model_validate(forward("sessions", stored, 2))
    assert dict(state.findings[known.key].stamps) == {"slack:U0ANA": START}
    odd = forward("sessions", {**stored, "sent": "odd"}, 2)
    assert SessionState.model_validate(odd, extra="allow").findings[known.key].stamps == {}
