"""The day's counts, from the journals alone."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.reports.daily_brief import build_brief
from bot.casework.reports.status_overview import DayCounts, count_today, overview
from tests.builders import NOW


def test_a_missing_home_had_a_quiet_day(tmp_path: Path) -> None:
    """Nothing heard, nothing spent."""
    assert count_today(FileStore(tmp_path / "none"), NOW) == DayCounts(
        messages=0, actionable=0, model_runs=0, cost_usd=0
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
    assert count_today(FileStore(tmp_path), NOW) == DayCounts(messages=2, actionable=1, model_runs=2, cost_usd=0.75)
    spent.append({"at": NOW.isoformat(), "cost_usd": None})
    assert count_today(FileStore(tmp_path), NOW).cost_usd is None


def test_a_busy_day_is_counted_whole(tmp_path: Path) -> None:
    """Every record of the day, however many kilobytes they take, and none of the days before."""
    home = FileStore(tmp_path)
    lines = {"classified_at": 700, "posted_at": 500, "at": 900}
    for name, (key, count) in zip(("events-classified", "replies", "spend"), lines.items(), strict=True):
        old = json.dumps({key: (NOW - timedelta(days=1)).isoformat(), "cost_usd": 1.0, "text": "x" * 1_000})
        new = json.dumps({key: NOW.isoformat(), "cost_usd": 1.0, "text": "x" * 1_000})
        (tmp_path / f"{name}.ndjson").write_text(f"{old}\n" * 50 + f"{new}\n" * count)
    seen = count_today(home, NOW)
    assert (seen.messages, seen.model_runs, seen.cost_usd) == (700, 900, 900.0)
    assert overview(home, NOW).posted_today == 500
    assert build_brief(home, NOW - timedelta(hours=1), NOW).replies == 500
