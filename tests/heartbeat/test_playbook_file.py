"""HEARTBEAT.md on disk: created once, changed only as it is, never over a human's edit."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.domain.playbook import Playbook, add
from bot.domain.tiers import Tier
from bot.errors import StoreError
from bot.heartbeat.playbook_file import MAX_BYTES, PlaybookFile
from tests.tables import each_row

FILE = "## Timestamps\n- Last quick: (never)\n## Quick\n- [ ] one\n"
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


@each_row("folder, file", [(0o755, 0o644), (0o775, 0o664), (0o700, 0o600), (0o777, 0o664)])
def test_a_new_playbook_is_for_those_who_may_use_its_folder(tmp_path: Path, folder: int, file: int) -> None:
    """The running bot writes its own files for its user alone; a checkout is its team's."""
    tmp_path.chmod(folder)
    before = os.umask(0o077)
    try:
        PlaybookFile(tmp_path).read()
        PlaybookFile(tmp_path).change(lambda playbook: add(playbook, Tier.QUICK, "look"))
    finally:
        os.umask(before)
    assert (tmp_path / "HEARTBEAT.md").stat().st_mode & 0o777 == file


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


def test_a_playbook_that_is_gone_when_it_is_changed_is_not_made_anew(tmp_path: Path) -> None:
    """Whoever deleted it wins."""
    with pytest.raises(StoreError, match="somebody deleted it"):
        PlaybookFile(tmp_path).change(lambda playbook: add(playbook, Tier.QUICK, "Disk"))
    assert not (tmp_path / "HEARTBEAT.md").exists()


def test_looking_creates_nothing(tmp_path: Path) -> None:
    """A dialogue that shows the file is no beat."""
    assert PlaybookFile(tmp_path).peek() is None
    assert list(tmp_path.iterdir()) == []


@each_row("target", ["../other/HEARTBEAT.md", "/etc/hostname", "notes/own.md", "nowhere.md", "."])
def test_a_link_in_its_place_is_neither_read_nor_written_through(tmp_path: Path, target: str) -> None:
    """Wherever it leads: to another session's playbook, out of the folder, into it, or nowhere."""
    other = tmp_path / "other" / "HEARTBEAT.md"
    own = tmp_path / "shop" / "notes" / "own.md"
    for file in (other, own):
        file.parent.mkdir(parents=True)
        file.write_text(FILE)
    (tmp_path / "shop" / "HEARTBEAT.md").symlink_to(target)
    playbook = PlaybookFile(tmp_path / "shop")
    for use in (playbook.peek, playbook.read, lambda: playbook.change(stamped)):
        with pytest.raises(StoreError, match="is a link"):
            use()
    assert (other.read_text(), own.read_text()) == (FILE, FILE)
    assert not (tmp_path / "shop" / "nowhere.md").exists()


def test_a_link_put_there_during_a_change_is_not_followed(tmp_path: Path) -> None:
    """The other session's file keeps every byte, and no temporary file stays behind."""
    own, other = tmp_path / "shop", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
        (folder / "HEARTBEAT.md").write_text(FILE)

    def swapping(playbook: Playbook) -> Playbook:
        (own / "HEARTBEAT.md").unlink()
        (own / "HEARTBEAT.md").symlink_to(other / "HEARTBEAT.md")
        return stamped(playbook)

    with pytest.raises(StoreError, match="is a link"):
        PlaybookFile(own).change(swapping)
    assert (other / "HEARTBEAT.md").read_text() == FILE
    assert list(own.iterdir()) == [own / "HEARTBEAT.md"]


def test_what_is_no_file_at_all_is_refused_at_once(tmp_path: Path) -> None:
    """A pipe nobody writes to would hold the beat for ever."""
    for make in (os.mkfifo, os.mkdir):
        folder = tmp_path / make.__name__
        folder.mkdir()
        make(folder / "HEARTBEAT.md")
        with pytest.raises(StoreError):
            PlaybookFile(folder).read()


def test_a_file_that_is_too_long_is_refused(tmp_path: Path) -> None:
    """With the limit in the message."""
    (tmp_path / "HEARTBEAT.md").write_text("- look\n" * (MAX_BYTES // 7 + 1))
    with pytest.raises(StoreError, match="larger than 256 KiB"):
        PlaybookFile(tmp_path).read()


def test_a_link_to_the_session_s_folder_is_fine(tmp_path: Path) -> None:
    """It is the operator who says where a session lives."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "HEARTBEAT.md").write_text(FILE)
    (tmp_path / "link").symlink_to("real")
    PlaybookFile(tmp_path / "link").change(stamped)
    assert "2026-11-21T09:30:00Z" in (tmp_path / "real" / "HEARTBEAT.md").read_text()


def test_two_changes_at_once_are_both_there(tmp_path: Path) -> None:
    """A beat's and a command's; neither is written over the other."""
    (tmp_path / "HEARTBEAT.md").write_text(FILE)

    def add_one(number: int) -> None:
        PlaybookFile(tmp_path).change(lambda playbook: add(playbook, Tier.QUICK, f"task {number}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(24)))
    texts = {task.text for task in PlaybookFile(tmp_path).read().tasks(Tier.QUICK)}
    assert texts == {"one", *(f"task {number}" for number in range(24))}


def test_five_thousand_lines_are_stamped_and_ticked(tmp_path: Path) -> None:
    """All boxes in one pass, not one pass for each."""
    text = "## Timestamps\n- Last quick: (never)\n## Quick\n" + "".join(f"- [ ] task {n}\n" for n in range(5_000))
    (tmp_path / "HEARTBEAT.md").write_text(text)
    file = PlaybookFile(tmp_path)
    tasks = file.read().tasks(Tier.QUICK)
    file.change(lambda playbook: stamped(playbook.with_boxes([(task, True) for task in tasks])))
    assert (tmp_path / "HEARTBEAT.md").read_text().count("- [x] task") == 5_000


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_an_error_of_the_store(tmp_path: Path) -> None:
    """With the path in it."""
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="cannot create"):
        PlaybookFile(tmp_path).read()
