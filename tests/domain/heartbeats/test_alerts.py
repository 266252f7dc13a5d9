"""What was told is not told again, to the second, and nothing else is held back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.heartbeats.alerts import DuplicateCheck, finding_key, fingerprint
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(hours=24)
TOLD = DuplicateCheck().stamped("api/t1/ci-red", "CI is red.", "slack:D1", NOON)


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
    """The last moment of the window is inside, its end is not."""
    assert TOLD.is_repeat("api/t1/ci-red", "CI is red.", "slack:D1", NOON + after, DAY) is repeat


def test_the_same_finding_in_other_words_is_a_repeat_and_so_is_the_same_text_under_another_key() -> None:
    """Either is enough, at the same place."""
    assert TOLD.is_repeat("api/t1/ci-red", "Tests fail on main", "slack:D1", NOON, DAY)
    assert TOLD.is_repeat("api/t9/other", "**ci is RED**", "slack:D1", NOON, DAY)
    assert not TOLD.is_repeat("api/t9/other", "Tests fail on main", "slack:D1", NOON, DAY)
    assert not TOLD.is_repeat("api/t1/ci-red", "CI is red.", "telegram:7", NOON, DAY)


def test_closing_a_finding_forgets_all_it_ever_sent_and_nothing_of_others() -> None:
    """Text A, text B, closed, text A: the stamp of A went with its finding. The same text of another one stays said."""
    told = TOLD.stamped("api/t1/ci-red", "Tests fail.", "slack:D1", NOON).stamped("api/t2/x", "Disk.", "slack:D1", NOON)
    closed = told.without("api/t1/ci-red")
    for text in ("CI is red.", "Tests fail."):
        assert not closed.is_repeat("api/t1/ci-red", text, "slack:D1", NOON, DAY)
        assert not closed.is_repeat("api/t9/other", text, "slack:D1", NOON, DAY)
    assert closed.is_repeat("api/t3/y", "Disk.", "slack:D1", NOON, DAY)


def test_stamps_of_older_versions_load_and_a_text_without_its_finding_holds_nothing_back() -> None:
    """It may be of a finding that is closed."""
    old = DuplicateCheck.model_validate(
        {"stamps": {f"slack:D1 text {fingerprint('CI is red.')}": NOON, "slack:D1 finding api/t2/x": NOON}}
    )
    assert not old.is_repeat("api/t1/ci-red", "CI is red.", "slack:D1", NOON, DAY)
    assert old.is_repeat("api/t2/x", "Disk.", "slack:D1", NOON, DAY)


def test_asking_changes_nothing_so_a_suppressed_repeat_does_not_lengthen_the_silence() -> None:
    """Only a confirmed send is stamped."""
    for hour in range(24):
        assert TOLD.is_repeat("api/t1/ci-red", "CI is red.", "slack:D1", NOON + timedelta(hours=hour), DAY)
    assert not TOLD.is_repeat("api/t1/ci-red", "CI is red.", "slack:D1", NOON + DAY, DAY)


def test_nothing_was_told_before_the_first_send() -> None:
    """A failed send leaves no stamp."""
    assert not DuplicateCheck().is_repeat("api/t1/ci-red", "CI is red.", "slack:D1", NOON, DAY)


@given(st.dictionaries(st.text(max_size=5), st.integers(-200_000, 200_000), max_size=8), st.integers(0, 200_000))
def test_pruning_changes_no_answer(sent: dict[str, int], window_s: int) -> None:
    """Property: whatever was a repeat still is, and what can never be one again is gone."""
    window, told = timedelta(seconds=window_s), DuplicateCheck()
    for key, seconds in sent.items():
        told = told.stamped(key, f"text {key}", "d", NOON + timedelta(seconds=seconds))
    pruned = told.pruned(NOON, window)
    for key in sent:
        asked = (key, "something else", "d", NOON, window)
        assert told.is_repeat(*asked) == pruned.is_repeat(*asked)
    assert all(NOON - window < at <= NOON for at in pruned.stamps.values())


def test_stamps_survive_the_state_file() -> None:
    """As JSON."""
    assert DuplicateCheck.model_validate_json(TOLD.model_dump_json()) == TOLD


@each_row(
    "one, other",
    [
        ("Build is red.", "build  IS red"),
        ("*Build* is `red`!", "Build is red"),
        ("Red since 2026-03-01T12:00:00Z", "Red since 2026-03-02 07:15"),
        ("Red since 12:30 pm", "Red since 9:05"),
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
