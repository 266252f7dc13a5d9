"""What was told is not told again, to the second, and nothing else is held back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.domain.heartbeats.alerts import OpenFinding, finding_key, fingerprint
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(hours=24)
TOLD = OpenFinding(key="api/t1/ci-red", task="t1", text="CI is red.", first_at=NOON, last_at=NOON).evolve(
    stamps={"slack:D1": NOON}
)


@each_row(
    "after, repeat",
    [
        (timedelta(0), True),
        (DAY - timedelta(microseconds=1), True),
        (DAY, False),
        (DAY + timedelta(seconds=1), False),
        (timedelta(seconds=-1), False),
        (timedelta(days=-400), False),
    ],
)
def test_the_window_ends_exactly_and_a_clock_set_back_proves_nothing(after: timedelta, repeat: bool) -> None:
    """The last moment of the window is inside, its end is not; another destination was never sent anything."""
    assert TOLD.was_sent("slack:D1", NOON + after, DAY) is repeat
    assert not TOLD.was_sent("telegram:7", NOON + after, DAY)


@each_row("hours, snoozed", [(-1, True), (0, False), (-25, False)])
def test_a_snooze_ends_at_its_time_and_one_that_nobody_can_set_is_none(hours: int, snoozed: bool) -> None:
    """The longest is a day; more is a wrong clock's."""
    assert TOLD.evolve(snoozed_until=NOON).is_snoozed(NOON + timedelta(hours=hours)) is snoozed


def test_a_new_alert_takes_the_place_of_the_old_one_in_its_own_channels_alone() -> None:
    """What stands elsewhere goes on being its copy; where it stood before is remembered."""
    once = TOLD.standing_at([("D1", "1")]).also_at([("D9", "2")])
    again = once.standing_at([("D1", "3")])
    assert (again.places, again.earlier) == ((("D1", "3"), ("D9", "2")), (("D1", "1"),))


@each_row(
    "one, other",
    [
        ("Build is red.", "build  IS red"),
        ("*Build* is `red`!", "Build is red"),
        ("Red since 2026-03-01T12:00:00Z", "Red since 2026-03-02 07:15"),
        ("Red, pushed 5 minutes ago", "Red, pushed 2h ago"),
    ],
)
def test_case_spacing_markup_and_the_time_make_no_other_text(one: str, other: str) -> None:
    """The same thing said at another beat."""
    assert fingerprint(one) == fingerprint(other)


@each_row(
    "one, other",
    [("PR #12 waits", "PR #13 waits"), ("v1.2 is out", "v1.3 is out"), ("a fails", "b fails"), ("redis", "red is")],
)
def test_other_numbers_and_names_are_other_findings(one: str, other: str) -> None:
    """A new one is never swallowed."""
    assert fingerprint(one) != fingerprint(other)


def test_a_key_comes_from_the_stable_id_or_else_from_the_text() -> None:
    """And is never ambiguous, however odd the id."""
    assert finding_key("api", "t1", "whatever", "CI red") == "api/t1/ci-red"
    assert finding_key("api", "t1", "Build is red.", " ") == f"api/t1/{fingerprint('build is red')}"
    assert finding_key("api", "t1", "A") == finding_key("api", "t1", "a")
    assert finding_key("api", "t1", "a") != finding_key("api", "t1", "b")
    assert finding_key("api", "t1", "a", "x" * 500) != finding_key("api", "t1", "a", "x" * 501)
    assert finding_key("api", "t1", "a", "../../etc").count("/") == 2
