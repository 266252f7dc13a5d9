"""The week in numbers: what stands in the picture is what metrics and brief say, day by day and in sum."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.reports.daily_brief import build_brief
from bot.casework.reports.journal_history import BeatHistory, BeatSummary, JournalHistory, SpendRecord, count_past
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import tally
from bot.casework.reports.rollups import Rollups
from bot.casework.reports.week_report import build_week, read_week
from bot.domain.questions.week_summary import DailyCounts, ShareWithBand, WeekCost, WeekSummary
from bot.domain.returns import Verdict
from bot.domain.threads import PendingReason, Resolution, ThreadStatus
from bot.ports.threads import Threads
from tests.builders import NOW, an_event, in_status
from tests.casework.past import a_round, decided, heard, history, reply, thread
from tests.tables import each_row

WINDOW = Window.last(7, NOW)
LONG_AGO = NOW - timedelta(days=60)
BAND = (0.6, 0.9)
BERLIN = ZoneInfo("Europe/Berlin")


def seen(past: JournalHistory = JournalHistory(), beats: BeatHistory = BeatHistory()) -> WeekSummary:  # noqa: B008 - frozen
    return build_week(past, beats, WINDOW, UTC)


def beat(*, days_ago: float, is_alert: bool = False, is_failed: bool = False) -> BeatSummary:
    return BeatSummary(NOW - timedelta(days=days_ago), "shop", "", is_alert, is_failed)


def test_nothing_on_record_is_said_not_drawn_as_nought() -> None:
    """No bar, no share, and no cost but the one that is certain."""
    empty = (None,) * 7
    found = seen()
    assert [(bars.missing, tuple(bars.days)) for bars in found.bars] == [
        ("nothing was recorded", empty),
        ("no message was recorded", empty),
        ("no beat was recorded", empty),
    ]
    assert found.gauge == ShareWithBand(
        title="First rounds that pass",
        value=None,
        shown="not enough data",
        says="0 of 10 validated drafts",
        band=BAND,
    )
    assert found.cost == WeekCost(shown="$0.00", says="no model run")


def test_a_day_before_the_record_is_no_day_without_messages() -> None:
    """The record begins two and a half days ago: three bars, of which the first counted half a day."""
    said = [heard("actionable", days_ago=0.5), heard(days_ago=0.4), heard(days_ago=2.5)]
    bars = seen(history(heard=said, recorded_since=NOW - timedelta(days=2.5))).bars[1]
    assert bars == DailyCounts(
        title="Messages",
        main="1 actionable (33 %)",
        rest="2 ignored",
        note="3 read",
        days=[None, None, None, None, (0, 1), (0, 0), (1, 1)],
    )


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


def test_alerts_and_failures_are_what_a_beat_is_looked_at_for() -> None:
    """The rest was quiet."""
    ran = [beat(days_ago=0.1, is_alert=True), beat(days_ago=0.1, is_failed=True), beat(days_ago=0.1)]
    bars = seen(beats=BeatHistory(ran=ran, recorded_since=NOW - timedelta(days=1.5))).bars[2]
    assert bars == DailyCounts(
        title="Heartbeats",
        main="1 alert, 1 failed",
        rest="1 quiet",
        note="3 beats",
        days=[None] * 5 + [(0, 0), (2, 1)],
        warns=True,
    )


@each_row(
    "passed, says", [(3, "below the band"), (6, "within the band"), (9, "within the band"), (10, "above the band")]
)
def test_the_share_of_first_rounds_says_where_it_is(passed: int, says: str) -> None:
    """As AC-05 judges it."""
    drafts = [thread(n, a_round(1, Verdict.PASS if n < passed else Verdict.BOUNCE)) for n in range(10)]
    gauge = seen(history(threads=drafts)).gauge
    assert (gauge.value, gauge.shown) == (passed / 10, f"{passed * 10} %")
    assert gauge.says == f"of 10 drafts; {says} of 60 to 90 %"


def test_costs_are_those_of_all_runs_with_the_part_of_questions() -> None:
    """One unknown price makes the sum unknown."""
    at = NOW - timedelta(hours=1)
    spent = [SpendRecord(at, True, 0.5), SpendRecord(at, False, 1_000.0), SpendRecord(LONG_AGO, True, 7.0)]
    assert seen(history(spent=spent)).cost == WeekCost(shown="$1,000.50", says="2 model runs; questions $0.50")
    unknown = [*spent, SpendRecord(at, False, None)]
    assert seen(history(spent=unknown)).cost == WeekCost(shown="unknown", says="3 model runs; a model has no price")


@each_row(
    "now, last, until",
    [
        (datetime(2026, 11, 20, 7, 30, tzinfo=UTC), "Thu 19", "Fri 20 Nov 2026, 08:30 CET"),
        (datetime(2026, 11, 20, 16, 30, tzinfo=UTC), "Fri 20", "Fri 20 Nov 2026, 17:30 CET"),
        (datetime(2026, 10, 25, 7, 30, tzinfo=UTC), "Sat 24", "Sun 25 Oct 2026, 08:30 CET"),
    ],
)
def test_a_day_is_named_after_the_date_most_of_it_belongs_to(now: datetime, last: str, until: str) -> None:
    """A morning's last 24 hours are yesterday; where the clocks change, too."""
    found = build_week(history(), BeatHistory(), Window.last(7, now), BERLIN)
    assert (found.labels[-1], found.until) == (last, until)
    assert len(set(found.labels)) == 7


@given(st.lists(st.tuples(st.floats(0, 8), st.sampled_from(["actionable", "ambient"])), max_size=30))
def test_the_days_add_up_to_what_metrics_say(said: list[tuple[float, str]]) -> None:
    """No message is lost between two days, and none counted twice."""
    past = history(
        heard=[heard(kind, days_ago=ago) for ago, kind in said],
        replies=[reply(n, at=NOW - timedelta(days=ago)) for n, (ago, _) in enumerate(said)],
        recorded_since=LONG_AGO,
    )
    whole, found = tally(past, WINDOW), seen(past)
    messages = [day for day in found.bars[1].days if day]
    assert (sum(main for main, _ in messages), sum(map(sum, messages))) == (whole.actionable, whole.messages)
    assert sum(main for main, _ in filter(None, found.bars[0].days)) == whole.replies


def test_a_data_directory_is_read_as_brief_and_metrics_read_it(tmp_path: Path) -> None:
    """What waits and what beats came to over a day is what the brief of that day says."""
    at = (NOW - timedelta(hours=1)).isoformat()
    event = an_event("why?", ts=f"{NOW.timestamp() - 60:.6f}").model_dump(mode="json")
    NdjsonJournal(tmp_path / "events-classified.ndjson").append(
        {**event, "classification": "actionable", "classified_at": at}
    )
    NdjsonJournal(tmp_path / "replies.ndjson").append({"posted_at": at})
    NdjsonJournal(tmp_path / "spend.ndjson").append({"at": at, "run_id": "beat-shop", "cost_usd": 0.25})
    beats = NdjsonJournal(tmp_path / "heartbeats.ndjson")
    for result, indicator in (("sent", "alert"), ("failed", "error"), ("ok-empty", "ok"), ("skipped", "none")):
        beats.append({"ts": at, "session_id": "shop", "result": result, "indicator": indicator})
    Threads(FileDocuments(tmp_path)).put(in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL))
    found, brief = (
        read_week(FileStore(tmp_path), Rollups(FileStore(tmp_path)), NOW, UTC),
        build_brief(FileStore(tmp_path), NOW - timedelta(days=1), NOW),
    )
    drafts, messages, beaten = found.bars
    assert (drafts.days[-1], drafts.note) == ((brief.replies, 0), f"{len(brief.drafts)} waits now")
    assert beaten.days[-1] == (len(brief.findings) + brief.failed_beats, 1)
    assert beaten.note == f"{brief.beats} beats"
    past = count_past(FileStore(tmp_path), Rollups(FileStore(tmp_path)), WINDOW.start, NOW)
    assert messages.days[-1] == (tally(past, WINDOW).actionable, 0)
    assert brief.cost_usd == 0.25
    assert found.cost.shown == "$0.25"


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
