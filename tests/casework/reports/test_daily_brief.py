"""The brief says what is on disk, to approvers with words and to others in numbers, and each once a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.reports.daily_brief import BriefKind, BriefSchedule, DailyBrief, brief_line, build_brief
from bot.config.codebase_settings import BriefSettings
from bot.domain.hours import ActiveHours
from bot.domain.threads import Followup, PendingReason, Resolution, ThreadStatus
from bot.errors import ProviderError, StoreError, Unavailable, Unconfirmed
from bot.ports.threads import Threads
from tests.builders import NOW, in_status
from tests.casework.office import Office
from tests.fakes import MemorySingle
from tests.tables import each_row

SINCE = NOW - timedelta(hours=12)
AT_830 = datetime(2026, 11, 20, 7, 30, tzinfo=UTC)
"""Half past eight in Berlin."""


def beat(home: Path, **changes: object) -> None:
    known = {"ts": NOW.isoformat(), "session_id": "shop", "result": "ok-empty", "indicator": "ok", "preview": ""}
    NdjsonJournal(home / "heartbeats.ndjson").append({**known, **changes})


def test_an_idle_night_says_so(tmp_path: Path) -> None:
    """Refused slots are no beats, and what was before does not count."""
    for _ in range(3):
        beat(tmp_path)
    beat(tmp_path, result="skipped")
    beat(tmp_path, ts=(SINCE - timedelta(hours=1)).isoformat())
    text = brief_line(build_brief(FileStore(tmp_path), SINCE, NOW), "Morning brief")
    assert text == "Morning brief, the last 12 h: no draft waits. All quiet: 3 checks, no model call, $0.00."


def test_what_people_answered_and_how_the_day_ended_is_counted(tmp_path: Path) -> None:
    """A draft that still waits beside a person's answer, and threads closed since; nothing of the day before."""
    threads = Threads(FileDocuments(tmp_path))
    reply = Followup(message_id="1795165300.000100", sender_id="U7", text="It is five.", at=NOW)
    answered = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, followups=(reply,))
    for number, (ending, at) in enumerate(
        [(Resolution.SUPERSEDED, NOW), (Resolution.DISMISSED, NOW), (Resolution.DISMISSED, SINCE - timedelta(days=1))]
    ):
        thread_id = f"T1.C1.179510000{number}.000100"
        open_one = threads.put(answered.evolve(thread_id=thread_id, started_at=SINCE, version=0))
        threads.put(open_one.close(ending, at=at, why="over"))
        threads.archive(thread_id)
    threads.put(answered)
    for wait in (10.0, 30.0, 70.0):
        NdjsonJournal(tmp_path / "replies.ndjson").append({"posted_at": NOW.isoformat(), "latency_s": wait})
    brief = build_brief(FileStore(tmp_path), SINCE, NOW, BriefKind.EVENING)
    assert [(line.answered_by, line.is_waiting) for line in brief.answered] == [("U7", True), ("U7", False)]
    assert brief.ended == {Resolution.SUPERSEDED: 1, Resolution.DISMISSED: 1}
    assert (brief.asked, brief.wait_s, brief.kind) == (3, 30.0, BriefKind.EVENING)


def test_a_busy_night_is_gathered_and_its_line_quotes_nobody(tmp_path: Path) -> None:
    """The line stands on locked screens."""
    Threads(FileDocuments(tmp_path)).put(
        in_status(
            ThreadStatus.PENDING_USER, PendingReason.APPROVAL, question="why\nfive?", draft_pending="The secret is 5."
        )
    )
    NdjsonJournal(tmp_path / "replies.ndjson").append({"posted_at": NOW.isoformat()})
    for cost in (0.2, 0.05):
        NdjsonJournal(tmp_path / "spend.ndjson").append({"at": NOW.isoformat(), "cost_usd": cost})
    beat(tmp_path, result="sent", indicator="alert", preview="CI is red\non main")
    beat(tmp_path, result="failed", indicator="error")
    (tmp_path / "escalations" / "T1").mkdir(parents=True)
    (tmp_path / "escalations" / "T1" / ".done").touch()
    brief = build_brief(FileStore(tmp_path), SINCE, NOW)
    assert [draft.question.split() for draft in brief.drafts] == [["why", "five?"]]
    assert (brief.replies, brief.long_runs, brief.findings) == (1, 1, (("shop", "CI is red on main"),))
    assert brief_line(brief, "Brief") == (
        "Brief, the last 12 h: 1 draft to decide on, 1 alert by heartbeats. 2 checks (1 failed), 2 model runs, $0.25."
    )


def test_what_was_said_beside_ok_is_gathered(tmp_path: Path) -> None:
    """On one line each; a night with a remark is not all quiet, and the line on locked screens only counts them."""
    beat(tmp_path, result="ok-token", beside_ok="fine, but\ntwo PRs wait")
    beat(tmp_path, result="ok-token", session_id="docs", beside_ok="a link moved")
    beat(tmp_path, result="ok-token", beside_ok="long ago", ts=(SINCE - timedelta(hours=1)).isoformat())
    brief = build_brief(FileStore(tmp_path), SINCE, NOW)
    assert brief.remarks == (("shop", "fine, but two PRs wait"), ("docs", "a link moved"))
    assert brief_line(brief, "Brief") == (
        "Brief, the last 12 h: no draft waits, 2 remarks with OK. 2 checks, no model call, $0.00."
    )


def test_what_commands_printed_anew_is_listed(tmp_path: Path) -> None:
    """Also of a beat whose alert was a repeat; the line on locked screens only counts."""
    beat(tmp_path, changes=["`git log` printed something else: a1 Fix"])
    beat(tmp_path, result="skipped", changes=["`df -h` printed something else: 91 %"])
    brief = build_brief(FileStore(tmp_path), SINCE, NOW)
    assert brief.changes == (
        ("shop", "`git log` printed something else: a1 Fix"),
        ("shop", "`df -h` printed something else: 91 %"),
    )
    assert "no draft waits, 2 changes." in brief_line(brief, "Brief")


class Days:
    """An office with a brief at half past eight in Berlin, which can be restarted."""

    def __init__(self, folder: Path) -> None:
        self.office, self.stored = Office(folder), MemorySingle()
        self.settings: dict[str, object] = {"morning": "08:30"}
        self.office.clock.at = AT_830 - timedelta(minutes=1)
        self.hours: ActiveHours | None = None
        self.said: list[str] = []
        self.refuse: ProviderError | None = None
        self.restart()

    def restart(self) -> None:
        settings = BriefSettings.model_validate(self.settings)
        desk, store = self.office.service, FileStore(self.office.folder)
        zone = "Europe/Berlin"
        self.briefs = BriefSchedule(desk, store, settings, self.stored, say=self.say, zone=zone, hours=self.hours)

    def say(self, brief: DailyBrief, title: str) -> None:
        """Keep what is said, or refuse it."""
        if self.refuse is not None:
            raise self.refuse
        self.said.append(brief_line(brief, title))
        self.since = brief.since

    def tick(self, **later: float) -> int:
        """Tick after some time, twice, with a restart between; return how many briefs have been said."""
        self.office.clock.at += timedelta(**later)
        self.briefs.tick()
        self.restart()
        self.briefs.tick()
        return len(self.said)


@pytest.fixture
def days(tmp_path: Path) -> Days:
    """A minute before the first brief."""
    return Days(tmp_path)


def test_each_day_has_one_brief_whatever_restarts(days: Days) -> None:
    """Not before its time, once at it, and again the next day."""
    assert days.tick() == 0
    assert days.tick(minutes=1) == 1
    assert days.tick(hours=3) == 1
    assert days.tick(hours=21) == 2
    assert days.said[-1].startswith("Morning brief, the last 24 h:")


def test_outside_working_hours_a_brief_waits_and_what_waited_is_said_once(days: Days) -> None:
    """Friday's at nine instead of half past eight; the evening's and the weekend's on Monday at nine, in one."""
    days.settings = {"morning": "08:30", "evening": "17:30"}
    days.hours = ActiveHours("09:00", "17:00", "Europe/Berlin", frozenset(range(5)))
    days.restart()
    assert days.tick(minutes=30) == 0
    assert days.tick(minutes=1) == 1
    assert [days.tick(hours=hours) for hours in (9, 15, 9, 15)] == [1, 1, 1, 1]
    assert days.tick(hours=23, minutes=59) == 1
    assert days.tick(minutes=1) == 2
    assert days.said[-1].startswith("Morning brief, the last 3 d:")
    assert days.tick(hours=1) == 2


def test_a_brief_begins_where_the_last_one_ended(days: Days) -> None:
    """Said late, on a look a minute later or where the clock was set back, it leaves nothing out."""
    assert days.tick(minutes=1) == 1
    assert days.tick(hours=25, minutes=30) == 2
    assert days.since == AT_830


def test_a_late_report_that_slack_refused_is_said_after_midnight(days: Days) -> None:
    """Still the one of the day before, and once."""
    days.settings = {"evening": "23:30"}
    days.restart()
    days.refuse = Unavailable("down")
    assert days.tick(hours=15, minutes=15) == 0
    days.refuse = None
    assert days.tick(minutes=20) == 1
    assert days.said[-1].startswith("End-of-day report of Fri 20 Nov (34 min late), the last 24 h:")
    assert days.tick(hours=1) == 1
    assert days.tick(hours=22, minutes=31) == 2
    assert days.said[-1].startswith("End-of-day report (5 min late), the last")


def test_a_brief_that_may_have_been_said_is_not_said_again(days: Days) -> None:
    """Nobody can tell, so once is enough."""
    days.refuse = Unconfirmed("Slack could not confirm")
    assert days.tick(minutes=1) == 0
    days.refuse = None
    assert days.tick(minutes=1) == 0


def test_a_full_disk_keeps_the_brief_back(days: Days) -> None:
    """What could not be remembered would be said again and again."""
    days.stored.full = True
    with pytest.raises(StoreError):
        days.tick(minutes=1)
    assert days.said == []
    days.stored.full = False
    assert days.tick() == 1


def test_no_brief_is_said_where_everybody_reads(days: Days) -> None:
    """It quotes questions."""
    days.office.workspace.private.clear()
    days.office.clock.advance(3_600)
    days.briefs.tick()
    assert days.said == []


@each_row("hours", [1, 3, 7])
def test_a_clock_that_is_set_back_on_the_same_day_says_no_brief_twice(tmp_path: Path, hours: int) -> None:
    """The slot of the day before is the latest one then, and makes the day's own not unsaid."""
    days = Days(tmp_path)
    assert days.tick(minutes=2) == 1
    assert days.tick(hours=-hours) == 1
    assert days.tick(hours=hours) == 1
    assert days.tick(days=1) == 2


def test_a_brief_that_is_too_late_is_dropped_and_logged_once(days: Days, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody reads of yesterday as if it were today; the next day goes on."""
    assert days.tick(minutes=1) == 1
    days.refuse = Unavailable("down")
    assert days.tick(days=1) == 1
    days.refuse = None
    assert days.tick(hours=3) == 1
    assert days.tick(minutes=1) == 1
    dropped = [record.getMessage() for record in caplog.records if getattr(record, "action", "") == "brief_dropped"]
    assert dropped == ["too late for the brief, not said: {'morning': '2026-11-21'}"]
    assert days.tick(hours=21) == 2
