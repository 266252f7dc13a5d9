"""`/triage metrics`: one screen of counts, for everybody."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.domain.threads import PendingReason, ThreadStatus
from bot.ports.threads import Threads
from handlers.commands.casework_commands import metrics_command
from handlers.commands.dispatcher import CommandDispatcher, TypedCommand
from tests.blocks.limits import texts
from tests.builders import in_status
from tests.casework.past import metrics_of
from tests.fakes import FakeClock


def test_it_shows_counts_and_nobodys_words(tmp_path: Path) -> None:
    """Every criterion, within one section."""
    Threads(FileDocuments(tmp_path)).put(
        in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, question="a secret plan?")
    )
    blocks = metrics_command(metrics_of(tmp_path, FakeClock()))(TypedCommand.from_payload({"text": "metrics"}))
    said = "\n".join(texts([block.to_dict() for block in blocks]))
    assert all(f"AC-{number:02}" in said for number in range(1, 12))
    assert "threads 1" in said
    assert "secret plan" not in said
    assert len(blocks) <= 4


def test_a_home_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """In words."""
    (tmp_path / "events-classified.ndjson").mkdir()
    commands = CommandDispatcher({"metrics": metrics_command(metrics_of(tmp_path, FakeClock()))}, team_id="T1")
    answer = commands.answer(TypedCommand.from_payload({"text": "metrics", "team_id": "T1"}))
    assert isinstance(answer, list)
    [block] = answer
    assert "Cannot read" in "".join(texts([block.to_dict()]))
