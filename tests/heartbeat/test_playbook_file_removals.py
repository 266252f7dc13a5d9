"""Who took a check out is remembered, and what cannot be read costs the name alone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.domain.playbook import parse
from bot.domain.playbook_entries import task_of_line
from bot.heartbeat.playbook_file import Removals
from bot.heartbeat.run.beat_record import AGENT, PlaybookEdit, removals_in
from bot.ports.collections import REMOVED_CHECKS, SingleDocument

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
BEFORE = parse("## Quick\n- Tree: `git status`\n- Lint: `make lint`\n")


def _removals(home: Path) -> Removals:
    return Removals(SingleDocument(FileDocuments(home), REMOVED_CHECKS))


def test_a_check_that_stands_nowhere_any_more_was_removed_and_a_moved_one_was_not(tmp_path: Path) -> None:
    """Reworded is not removed either; each session has its own."""
    removals = _removals(tmp_path)
    removals.note_removals("shop", BEFORE, parse("## Daily\n- Is it clean? `git status`\n"), by="U0ANA", at=AT)
    by = {name: each.by for name, each in removals.load("shop").items()}
    assert by == dict.fromkeys(task_of_line("`make lint`").checks, "U0ANA")
    assert removals.load("api") == {}


def test_what_cannot_be_read_is_no_name(tmp_path: Path) -> None:
    """A file somebody edited by hand."""
    (tmp_path / "removed.json").write_text('{"shop/x": {"by": 7}, "shop/y": 3}')
    assert _removals(tmp_path).load("shop") == {}


def test_what_the_agent_removed_in_its_beat_is_its_own_doing() -> None:
    """By the command its task named."""
    edits = [PlaybookEdit("removed", "quick", "Lint: `make lint`")]
    assert {name: each.by for name, each in removals_in(edits, AT).items()} == dict.fromkeys(
        task_of_line("`make lint`").checks, AGENT
    )
