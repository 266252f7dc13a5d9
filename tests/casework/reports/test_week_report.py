"""The week in numbers: what stands in the picture is what metrics and brief say, day by day and in sum."""

from __future__ import annotations

from datetime import UTC, timedelta

from bot.casework.reports.journal_history import BeatHistory, BeatSummary, JournalHistory
from bot.casework.reports.measures import Window
from bot.casework.reports.week_report import build_week
from bot.domain.questions.week_summary import DailyCounts, WeekSummary
from bot.domain.threads import PendingReason, Resolution, ThreadStatus
from tests.builders import NOW, in_status
from tests.casework.past import a_round, decided, heard, history, reply

WINDOW = Window.last(7, NOW)
LONG_AGO = NOW - timedelta(days=60)


def seen(past: JournalHistory = JournalHistory(), beats: BeatHistory = BeatHistory()) -> WeekSummary:  # noqa: B008 - frozen
    return build_week(past, beats, WINDOW, UTC)


def beat(*, days_ago: float, is_alert: bool = False, is_failed: bool = False) -> BeatSummary:
    return BeatSummary(NOW - timedelta(days=days_ago), "shop", "", is_alert, is_failed)


def test_replies_and_dismissals_stand_on_their_day_and_what_waits_beside_them() -> None:
    """A draft from before the week waits all the same."""
    old = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, started_at=LONG_AGO, last_event_at=LONG_AGO)
    dismissed = decided(1, Resolution.DISMISSED, a_round())
    bars = seen(
        history(threads=[old, dismissed], replies=[reply(n, at=NOW) for n in (2, 3)], recorded_since=LONG_AGO)
    ).bars[0]
    assert bars == DailyCounts(
        title="Drafts",
        main="2 replies posted",
        rest="1 dismissed",
        note="1 waits now",
        days=[(0, 0)] * 5 + [(0, 1), (2, 0)],
    )


def test_the_words_for_who_cannot_see_it_hold_every_number() -> None:
    """Well within what Slack takes as a description."""
    found = seen(history(heard=[heard("actionable")], recorded_since=LONG_AGO), BeatHistory())
    words = found.in_words()
    assert words.startswith(
        f"The last 7 days, to {found.until}. Drafts: 0 replies posted, 0 dismissed; none waits now."
    )
    assert "Messages: 1 actionable (100 %), 0 ignored; 1 read. Heartbeats: no beat was recorded." in words
    assert words.endswith("validated drafts. Cost: $0.00, no model run.")
    assert len(words) < 1_000
