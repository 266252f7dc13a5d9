"""HEARTBEAT.md on disk: created once, changed only as it is, never over a human's edit."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.domain.playbook import Playbook
from bot.domain.tiers import Tier
from bot.errors import StoreError
from bot.heartbeat.playbook_file import PlaybookFile

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def stamped(playbook: Playbook) -> Playbook:
    return playbook.with_stamps([Tier.QUICK], AT)


def test_a_missing_playbook_is_created_from_the_template_and_kept_out_of_git(tmp_path: Path) -> None:
    """Git does not see it; what stood in the exclude list stays."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("mine")
    playbook = PlaybookFile(tmp_path).read()
    assert playbook.tasks(Tier.QUICK)
    assert playbook.tasks(Tier.DAILY)
    status = subprocess.run(["git", "-C", str(tmp_path), "status", "--porcelain"], check=True, capture_output=True)
    assert status.stdout == b""
    assert (tmp_path / ".git" / "info" / "exclude").read_text() == "mine\nHEARTBEAT.md\n"


def test_the_master_gets_a_template_of_its_own(tmp_path: Path) -> None:
    """It looks after the others."""
    texts = [task.text for task in PlaybookFile(tmp_path, is_master=True).read().tasks(Tier.DAILY)]
    assert any(text.startswith("Cross-pollinate") for text in texts)


def test_a_change_keeps_every_other_byte_and_the_files_mode(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 included."""
    path = tmp_path / "HEARTBEAT.md"
    before = b"## Timestamps\r\n- Last quick: (never)\r\n## Quick\r\n- [ ] caf\xe9\r\n"
    path.write_bytes(before)
    path.chmod(0o640)
    PlaybookFile(tmp_path).change(stamped)
    assert path.read_bytes() == before.replace(b"(never)", b"2026-11-21T09:30:00Z")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_humans_edit_in_between_wins(tmp_path: Path) -> None:
    """The change is made again, to the text as it is then."""
    path = tmp_path / "HEARTBEAT.md"
    path.write_text("## Timestamps\n- Last quick: (never)\n## Quick\n- [ ] one\n")
    edits = iter([True])

    def slow(playbook: Playbook) -> Playbook:
        if next(edits, False):
            path.write_text(path.read_text() + "- [ ] two, by a human\n")
        return stamped(playbook)

    PlaybookFile(tmp_path).change(slow)
    assert "two, by a human" in path.read_text()
    assert "2026-11-21T09:30:00Z" in path.read_text()


def test_a_file_that_never_stops_changing_is_left_alone(tmp_path: Path) -> None:
    """Rather no stamp than a fight."""
    path = tmp_path / "HEARTBEAT.md"
    path.write_text("## Timestamps\n- Last quick: (never)\n")

    def restless(playbook: Playbook) -> Playbook:
        path.write_text(path.read_text() + "\n")
        return stamped(playbook)

    with pytest.raises(StoreError, match="being edited"):
        PlaybookFile(tmp_path).change(restless)
    assert "(never)" in path.read_text()
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    """A change never creates it."""
    with pytest.raises(StoreError, match="is gone"):
        PlaybookFile(tmp_path).change(stamped)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_an_error_of_the_store(tmp_path: Path) -> None:
    """With the path in it."""
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="cannot create"):
        PlaybookFile(tmp_path).read()
