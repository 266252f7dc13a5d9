"""The day's counts, from the journals alone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.adapters.storage.files.file_store import FileStore
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.reports.status_overview import DayCounts, count_today
from tests.builders import NOW


def test_a_missing_home_had_a_quiet_day(tmp_path: Path) -> None:
    """Nothing heard, nothing spent."""
    assert count_today(FileStore(tmp_path / "none"), NOW) == DayCounts(
        messages=0, actionable=0, posted=0, model_runs=0, cost_usd=0
    )


def test_only_what_happened_today_counts(tmp_path: Path) -> None:
    """Since midnight UTC; a run without a price makes the sum unknown."""
    yesterday = NOW - timedelta(days=1)
    heard, spent = NdjsonJournal(tmp_path / "events-classified.ndjson"), NdjsonJournal(tmp_path / "spend.ndjson")
    for at, found in ((yesterday, "actionable"), (NOW, "actionable"), (NOW, "ambient")):
        heard.append({"classified_at": at.isoformat(), "classification": found})
    for at, cost in ((yesterday, 5.0), (NOW, 0.25), (NOW, 0.5)):
        spent.append({"at": at.isoformat(), "cost_usd": cost})
    NdjsonJournal(tmp_path / "replies.ndjson").append({"posted_at": NOW.isoformat()})
    assert count_today(FileStore(tmp_path), NOW) == DayCounts(
        messages=2, actionable=1, posted=1, model_runs=2, cost_usd=0.75
    )
    spent.append({"at": NOW.isoformat(), "cost_usd": None})
    assert count_today(FileStore(tmp_path), NOW).cost_usd is None
