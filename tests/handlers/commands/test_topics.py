"""`/triage metrics`: one screen of counts, for everybody; the case for automatic replies, and its switch."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.casework.approvers import Approvers
from bot.domain.threads import PendingReason, ThreadStatus
from bot.ports.threads import Threads
from handlers.commands.dispatcher import CommandDispatcher, TypedCommand
from handlers.commands.topics import metrics_command
from tests.blocks.limits import texts
from tests.builders import in_status
from tests.casework.office import Office
from tests.casework.past import metrics_of
from tests.tables import each_row


def answer(home: Path, text: str) -> str:
    """Return what somebody who may not approve reads."""
    (home / "office").mkdir()
    office = Office(home / "office")
    approvers = Approvers((), ops_channel="C0OPS", team_id="T1", workspace=office.workspace)
    command = metrics_command(lambda: metrics_of(home), office.arming, approvers)
    typed = TypedCommand.from_payload({"text": text, "team_id": "T1", "user_id": "U1"})
    blocks = CommandDispatcher({"metrics": command}, approvers).answer(typed).blocks
    assert len(blocks) <= 6
    return "\n".join(texts([block.to_dict() for block in blocks]))


def test_it_shows_counts_and_nobodys_words(tmp_path: Path) -> None:
    """Every criterion, within one section."""
    Threads(FileDocuments(tmp_path)).put(
        in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, question="a secret plan?")
    )
    said = answer(tmp_path, "metrics")
    assert all(f"AC-{number:02}" in said for number in range(1, 12))
    assert "threads 1" in said
    assert "secret plan" not in said


@each_row(
    "typed, said",
    [
        ("metrics --autonomy", "Automatic replies: off"),
        ("metrics —autonomy", "Automatic replies: off"),
        ("metrics --arm", "Only approvers may do that"),
        ("metrics --disram", "metrics --disarm"),
    ],
)
def test_a_flag_shows_the_case_for_automatic_replies(tmp_path: Path, typed: str, said: str) -> None:
    """Also with the long dash that Slack's editors make of two; the switch is for approvers."""
    assert said in answer(tmp_path, typed)
