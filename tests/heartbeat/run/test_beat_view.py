"""What a beat changed in its playbook and how long its commands took."""

from __future__ import annotations

from pathlib import Path

from bot.domain.playbooks.playbook_entries import task_id
from bot.domain.tiers import TaskHistory, Tier
from bot.heartbeat.run.beat_view import EditKind, PlaybookEdit, PlaybookEditLog, measured_after
from bot.heartbeat.run.probes import ProbeReport, ProbeResult
from tests.heartbeat.builders import a_view

STATUS = ("git", "status", "--porcelain")
TREE = "Working tree: `git status --porcelain`"
TREE_ID = task_id(" ".join(STATUS))
SLOW = TaskHistory(text=TREE, tier=Tier.QUICK, seconds=(12.0, 14.0, 13.0))


def test_boxes_are_no_news() -> None:
    """They are in the trace alone."""
    ticked = PlaybookEditLog([PlaybookEdit(what=EditKind.CHECK_TASK, text="x")])
    assert (ticked.described(), ticked.counted()) == ("", "")


def test_many_edits_are_told_in_few_words() -> None:
    """The rest is counted; the trace has them all."""
    edits = PlaybookEditLog(
        [PlaybookEdit(what=EditKind.NOTE, text=f"note {number} {'x' * 200}") for number in range(5)]
    )
    said = edits.described()
    assert said.startswith("Changed in HEARTBEAT.md: noted “note 0 xxx")
    assert said.endswith("…”; and 2 more")
    assert len(said) < 400
    assert edits.counted() == "5 edits to HEARTBEAT.md"


def test_a_beat_remembers_how_long_the_commands_of_a_task_took(tmp_path: Path) -> None:
    """By task; one that left the playbook is forgotten."""
    result = ProbeResult(argv=STATUS, output="", exit_code=0, seconds=11.5)
    probes = ProbeReport(results=(result,))
    after = measured_after({"gone": SLOW}, a_view(tmp_path, tier=Tier.DAILY, probes=probes))
    assert after[TREE_ID].seconds == (11.5,)
    assert "gone" not in after
