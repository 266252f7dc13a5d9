"""How things stand, read from the folder alone, whatever lies in it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.casework.reports.code_standings import CLONE_STANDINGS, CloneStanding, CodebaseStanding, IndexStanding
from bot.casework.reports.status_overview import (
    DayCounts,
    count_findings,
    count_today,
    overview,
    read_open_findings,
    sessions_in_words,
)
from bot.domain.alerts import Severity
from bot.domain.heartbeats.alerts import OpenFinding, Removal
from bot.domain.threads import PendingReason, ThreadStatus, Twin
from bot.errors import StoreError
from bot.heartbeat.session_registry import SessionMemory
from bot.ports.collections import INDEX, Collection, SingleDocument
from bot.ports.threads import Threads
from tests.builders import NOW, THREAD_ID, an_event, in_status, some_work
from tests.fakes import FakeClock
from tests.tables import each_row


def test_a_missing_home_is_simply_empty(tmp_path: Path) -> None:
    """`triage status` works before the first start, and creates nothing."""
    seen = overview(FileStore(tmp_path / "none", is_reader=True), NOW)
    assert (seen.running, seen.waiting, seen.queued, seen.failed, seen.posted_today) == (0, 0, 0, 0, 0)
    assert seen.last_event == "No message seen yet"
    assert not (tmp_path / "none").exists()


def test_everything_is_counted(tmp_path: Path) -> None:
    """Threads by what they wait for, jobs by folder, replies of today, the last message."""
    store = Threads(FileDocuments(tmp_path))
    store.put(in_status(ThreadStatus.INVESTIGATING, thread_id="T1.C1.1.1", started_at=NOW))
    store.put(in_status(ThreadStatus.BOUNCED, thread_id="T1.C1.2.2", started_at=NOW - timedelta(hours=1)))
    store.put(in_status(ThreadStatus.PENDING_USER, PendingReason.FAILED, thread_id="T1.C1.3.3"))
    store.put(in_status(ThreadStatus.CLOSED, thread_id="T1.C1.4.4"))
    queue = SpoolQueue(tmp_path / "queue", FakeClock())
    for key in "abc":
        queue.put(some_work(key))
    queue.claim()
    replies = NdjsonJournal(tmp_path / "replies.ndjson")
    for day in (0, 0, 1):
        replies.append({"posted_at": (NOW - timedelta(days=day)).isoformat()})
    NdjsonJournal(tmp_path / "events.ndjson").append(an_event().model_dump(mode="json"))
    seen = overview(FileStore(tmp_path), NOW + timedelta(minutes=5))
    assert (seen.running, seen.waiting, seen.queued, seen.failed, seen.posted_today) == (2, 1, 2, 0, 2)
    assert seen.last_event == "Last message seen 4 min ago"
    assert [thread.thread_id for thread in seen.threads] == ["T1.C1.2.2", "T1.C1.1.1", "T1.C1.3.3"]
    assert [thread.standing for thread in seen.threads[1:]] == ["investigating", "failed"]


def test_a_twin_is_counted_on_the_card_of_the_first_thread(tmp_path: Path) -> None:
    """It is no investigation of its own; the line of the first says in how many threads the same was asked."""
    threads = Threads(FileDocuments(tmp_path))
    twin = Twin(
        thread_id="T1.C2.1795165300.000200",
        chat_id="C2",
        message_id="1795165300.000200",
        asker="U2",
        asked_at=NOW,
        reason="same-words",
    )
    threads.put(in_status(ThreadStatus.PENDING_USER, PendingReason.CONTEXT, twins=(twin,)))
    threads.put(in_status(ThreadStatus.INVESTIGATING, thread_id=twin.thread_id, twin_of=THREAD_ID))
    seen = overview(FileStore(tmp_path), NOW)
    assert (seen.running, seen.waiting) == (0, 1)
    assert [line.standing for line in seen.threads] == ["needs context, asked in 1 more thread"]


@each_row(
    "content",
    [
        "",
        "{",
        '{"thread_id": "x"}',
        json.dumps({**in_status(ThreadStatus.BOUNCED).model_dump(mode="json"), "started_at": "2026-01-01T00:00:00"}),
        json.dumps({**in_status(ThreadStatus.BOUNCED).model_dump(mode="json"), "status": None}),
    ],
)
def test_a_damaged_state_file_is_named_and_hides_no_other(tmp_path: Path, content: str) -> None:
    """Whatever is in it."""
    Threads(FileDocuments(tmp_path)).put(in_status(ThreadStatus.BOUNCED))
    (tmp_path / "state" / "T1.C1.9.9.json").write_text(content)
    seen = overview(FileStore(tmp_path), NOW)
    assert seen.unreadable == ("T1.C1.9.9.json",)
    assert [thread.thread_id for thread in seen.threads] == [THREAD_ID]


def test_only_a_teams_codebases_are_named(tmp_path: Path) -> None:
    """Neither the index nor the clone of another team's, nor what git says of it; without a team all are."""
    store, secret = FileStore(tmp_path), "git@host:acme/secret.git: not found"
    clones = Collection(store.documents, CLONE_STANDINGS)
    clones.put("shop", CloneStanding(fetched_at=NOW), version=0)
    clones.put("infra", CloneStanding(problem=secret), version=0)
    known = {"shop": CodebaseStanding(commit="0a1b2c3d4e5f", files=3), "infra": CodebaseStanding(problem=secret)}
    index = SingleDocument(store.documents, INDEX, on_damage=pytest.fail)
    index.update(IndexStanding.of(known).model_dump(mode="json"))
    seen = overview(store, NOW, {"shop"})
    assert (seen.clones, seen.codebases, seen.index) == (
        ("1 clone fetched, the oldest 0 s ago",),
        ("shop at 0a1b2c3d4e, 3 files indexed",),
        "",
    )
    everything = overview(store, NOW)
    assert secret in "".join(everything.clones)
    assert secret in everything.index


def test_damaged_journals_are_read_around(tmp_path: Path) -> None:
    """Torn lines, strange records, times without a zone."""
    (tmp_path / "events.ndjson").write_text(
        json.dumps({"create_time": NOW.isoformat()})
        + '\n[]\n{"create_time": 5}\n{"create_time": "2026-01-01T00:00:00"}\n{"create_ti'
    )
    (tmp_path / "replies.ndjson").write_text('{"posted_at": null}\n{"posted_at": "2026-11-20T01:00:00+00:00"}\n{')
    seen = overview(FileStore(tmp_path), NOW)
    assert seen.last_event_at == NOW
    assert seen.posted_today == 1


@each_row("name", ["", "state", "queue", "queue/failed"])
def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path, name: str) -> None:
    """Nothing counted is not the same as nothing there: the path is said, and what to type."""
    path = tmp_path / "home" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    advice = f"it is none: `mv {path} " if name else "give the data directory"
    with pytest.raises(StoreError, match=f"cannot read {path}: Not a directory; {advice}"):
        overview(FileStore(tmp_path / "home", is_reader=True), NOW)


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
