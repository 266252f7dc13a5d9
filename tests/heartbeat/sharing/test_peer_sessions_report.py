"""A worker's daily report: what its receipts say."""

from __future__ import annotations

from pathlib import Path

from bot.domain.heartbeats.beats import BeatReport, BeatResult, Receipt
from bot.heartbeat.run.beat_record import BeatEnd
from bot.heartbeat.sharing.peer_sessions import daily_report
from tests.heartbeat.run.test_offline_run import a_view


def test_the_report_carries_what_the_receipts_saw(tmp_path: Path) -> None:
    """The evidence, not the names of commands."""
    view = a_view(tmp_path, text="## Daily\n- [ ] Summary\n")
    receipts = (
        Receipt(task="a", status="ok", evidence="4 commits by Ann"),
        Receipt(task="b", status="finding", evidence="CI is red"),
        Receipt(task="c", status="ok"),
    )
    report = BeatReport(message="", receipts=receipts, usage=None)
    text = daily_report(view.session, BeatEnd(result=BeatResult.SENT, view=view, report=report))
    assert text.splitlines()[1:] == ["Found: CI is red", "Saw: 4 commits by Ann"]
