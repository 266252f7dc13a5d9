"""What is open in the data directory: pages first, without what is over, and whatever lies there."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.reports.daily_brief import brief_line, build_brief
from bot.casework.reports.status_overview import count_findings, overview, read_open_findings, sessions_in_words
from bot.domain.heartbeats.alerts import OpenFinding, Removal
from bot.domain.severity import Severity
from bot.heartbeat.sessions.session_registry import SessionMemory
from tests.builders import NOW

DAY = timedelta(days=1)


def find(home: Path, session: str, text: str, **more: Any) -> None:
    """Keep a finding as a beat does."""
    known = {"first_at": NOW - DAY, "last_at": NOW, **more}
    finding = OpenFinding(key=f"{session}/ci/{text}", task="ci", text=text, **known)
    SessionMemory(FileStore(home)).save(session, lambda state: state.with_findings(finding))


def test_what_is_open_is_listed_pages_first_then_the_oldest(tmp_path: Path) -> None:
    """What was fixed, is gone or lost its check is not; a text is one line."""
    find(tmp_path, "docs", "a link\nmoved", severity=Severity.KNOW, snoozed_until=NOW - DAY)
    find(tmp_path, "shop", "Main is red", first_at=NOW - 2 * DAY, acknowledged_by="U1ANN", snoozed_until=NOW + DAY)
    find(tmp_path, "shop", "Disk is full")
    find(tmp_path, "shop", "Prod is down", severity=Severity.PAGE, first_at=NOW)
    for over in ({"fixed_by": "U1ANN"}, {"resolved_at": NOW}, {"removed": Removal(at=NOW)}):
        find(tmp_path, "shop", f"Over {over}", **over)
    found = read_open_findings(FileStore(tmp_path), NOW)
    assert [line.text for line in found] == ["Prod is down", "Main is red", "Disk is full", "a link moved"]
    assert (found[1].acknowledged_by, found[1].snoozed_until) == ("U1ANN", NOW + DAY)
    assert found[3].snoozed_until is None
    assert count_findings(found) == "4 open findings (1 page)"
    assert sessions_in_words(found, at_most=9) == "🚨 shop (3), docs (1)"
    assert sessions_in_words(found, at_most=1) == "🚨 shop (3), 1 more"


def test_a_state_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    """The bot sets it aside and says so."""
    find(tmp_path, "shop", "Main is red")
    for session, content in {"bad": b"{", "odd": b"\xff", "empty": b""}.items():
        (tmp_path / "sessions" / session).mkdir()
        (tmp_path / "sessions" / session / "heartbeat_state.json").write_bytes(content)
    assert [line.session_id for line in overview(FileStore(tmp_path), NOW).open_findings] == ["shop"]
    assert overview(FileStore(tmp_path / "none"), NOW).open_findings == ()


def test_a_quiet_night_with_an_open_finding_is_not_all_quiet(tmp_path: Path) -> None:
    """It was found days ago and is open still."""
    find(tmp_path, "shop", "Prod is down", severity=Severity.PAGE, first_at=NOW - 3 * DAY)
    brief = build_brief(FileStore(tmp_path), NOW - timedelta(hours=12), NOW)
    assert [line.text for line in brief.open_findings] == ["Prod is down"]
    assert brief_line(brief, "Morning brief") == (
        "Morning brief, the last 12 h: no draft waits, 1 open finding (1 page). 0 beats, no model call, $0.00."
    )
