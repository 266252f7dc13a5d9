"""What is said of the connection is true, above all when there is none."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.intake.presence import OUTDATED, Presence, connection_state, describe_presence, read_presence
from tests.builders import NOW
from tests.tables import each_row

CONNECTION = "slack/connection.json"


MINUTE = timedelta(minutes=1)


def seen(**changes: Any) -> Presence:
    """Return what a living bot wrote a moment ago."""
    known: dict[str, Any] = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "at": NOW,
        "started_at": NOW - 60 * MINUTE,
        "connected_since": NOW - 8 * MINUTE,
        "last_event_at": NOW - timedelta(seconds=4),
    }
    return Presence(**{**known, **changes})


def gone() -> int:
    """Return the id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


@each_row(
    "changes, line",
    [
        ({}, "last event 4 s ago · connected since 2026-11-20 08:52 UTC"),
        ({"last_event_at": None}, "no event since the start · connected since 2026-11-20 08:52 UTC"),
        (
            {"down_since": NOW - 3 * MINUTE, "connected_since": None, "problem": "Slack could not be reached"},
            "no connection for 3 min (last event 4 s ago): Slack could not be reached",
        ),
        (
            {"clock_ahead_s": -86_400, "connected_since": NOW - timedelta(days=3)},
            "last event 4 s ago · connected since 2026-11-17 09:00 UTC · this machine's clock is 1 d behind Slack's",
        ),
        ({"stopped_at": NOW - 5 * MINUTE}, "triage is not running (last seen 5 min ago)"),
        ({"at": NOW - 2 * MINUTE, "host": "elsewhere"}, "triage is not running (last seen 2 min ago)"),
        ({"connected_since": NOW - timedelta(days=3)}, "last event 4 s ago · connected since 2026-11-17 09:00 UTC"),
    ],
)
def test_one_line_says_how_things_stand(changes: dict[str, Any], line: str) -> None:
    """Never only that it is connected."""
    assert describe_presence(seen(**changes), NOW) == line


@each_row(
    "last_event_at, heard_at, event",
    [
        (None, NOW - timedelta(seconds=2), "last event 2 s ago"),
        (NOW - timedelta(seconds=4), NOW - timedelta(seconds=2), "last event 2 s ago"),
        (NOW - timedelta(seconds=4), NOW - MINUTE, "last event 4 s ago"),
        (None, NOW - timedelta(days=2), "no event since the start"),
    ],
)
def test_a_message_on_record_counts_though_the_process_has_not_written_of_it(
    last_event_at: datetime | None, heard_at: datetime, event: str
) -> None:
    """It writes every 10 s; a message of an earlier run is none of this one's."""
    assert describe_presence(seen(last_event_at=last_event_at), NOW, heard_at=heard_at).startswith(event)


def test_a_killed_bot_is_not_running_however_fresh_its_file() -> None:
    """The process is looked for, too."""
    killed = seen(pid=gone())
    assert connection_state(killed, NOW) == "dead"
    assert describe_presence(killed, NOW + MINUTE) == "triage is not running (last seen 1 min ago)"


def test_a_process_that_lives_and_writes_nothing_is_stuck() -> None:
    """It is named, so that somebody can end it."""
    later: datetime = NOW + OUTDATED + MINUTE
    assert connection_state(seen(), later) == "stuck"
    assert describe_presence(seen(), later) == f"triage (process {os.getpid()}) has not responded for 1 min; restart it"


@each_row("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_missing_or_damaged_file_is_no_bot(tmp_path: Path, text: str) -> None:
    """Damage costs the knowledge, not the command."""
    assert read_presence(FileDocuments(tmp_path)) is None
    path = tmp_path / CONNECTION
    path.parent.mkdir()
    path.write_text(text)
    assert read_presence(FileDocuments(tmp_path)) is None
    assert describe_presence(None, NOW) == "triage has not run on this data directory yet"
