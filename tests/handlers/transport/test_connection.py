"""What a process writes of itself and its line to Slack."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.intake.presence import connection_state, describe_presence, read_presence
from bot.ports.collections import PRESENCE, SingleDocument
from handlers.transport.connection import Connection
from tests.builders import NOW
from tests.fakes import FakeClock

MINUTE = timedelta(minutes=1)


def test_a_process_that_only_works_is_well_while_it_lives(tmp_path: Path) -> None:
    """It needs no connection, and tells its machine of itself alone."""
    documents = FileDocuments(tmp_path)
    clock = FakeClock(NOW + MINUTE)
    line = Connection([SingleDocument(documents, PRESENCE)], clock, lambda _: None, hears=False)
    line.open()
    clock.advance(-60)  # somebody set it right
    line.note_clock(timedelta(seconds=7.4))
    line.check()
    worker = read_presence(documents)
    assert worker is not None
    assert (worker.at, worker.clock_ahead_s) == (NOW, 7)
    assert connection_state(worker, NOW) == "up"
    assert describe_presence(worker, NOW) == "this process only does the work; other replicas listen to Slack"
    line.close()
    assert connection_state(read_presence(documents), NOW) == "dead"
