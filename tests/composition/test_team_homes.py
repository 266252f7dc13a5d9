"""What one team left goes to the first of several, whenever the process was killed; no folder of ours is refused."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import FileEngine
from bot.composition.team_homes import check_team_folders, hand_over
from bot.config.settings import Settings
from bot.errors import StoreError
from tests.tables import each_row

SEVERAL = Settings.model_validate(
    {
        "codebase": str(Path(__file__).parent),
        "ops_channel": "C0PAYOPS",
        "teams": {name: {"ops_channel": f"C0{name[:4].upper()}"} for name in ("payments", "platform")},
    }
)


def _nothing(_: Path) -> None:
    """The process was killed before the first step."""


def _empty(home: Path) -> None:
    (home / ".teams.new").mkdir()


def _linked(home: Path) -> None:
    (home / ".teams.new").mkdir()
    (home / ".teams.new" / "payments").symlink_to("..", target_is_directory=True)


def _linked_for_another(home: Path) -> None:
    (home / ".teams.new").mkdir()
    (home / ".teams.new" / "formerly-first").symlink_to("..", target_is_directory=True)


@each_row("killed", [_nothing, _empty, _linked, _linked_for_another])
def test_a_start_that_was_killed_at_any_step_is_made_up_for_by_the_next(tmp_path: Path, killed: object) -> None:
    """All that was there is the first team's, once: nothing is copied, and nothing of the attempt is left."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "events.ndjson").write_text("{}\n")
    assert callable(killed)
    killed(home)
    said = hand_over(FileEngine(home), home, SEVERAL)
    assert said is not None
    assert said.endswith("belongs to payments.")
    assert sorted(path.name for path in home.iterdir()) == ["events.ndjson", "teams"]
    assert [path.name for path in (home / "teams").iterdir()] == ["payments"]
    assert (home / "teams" / "payments" / "events.ndjson").samefile(home / "events.ndjson")
    assert hand_over(FileEngine(home), home, SEVERAL) is None, "once and for good"
    check_team_folders(home, SEVERAL.teams)


def test_what_is_no_folder_of_ours_is_refused_with_what_to_type(tmp_path: Path) -> None:
    """That of the teams, and that of one of them; one that is not there yet is made."""
    check_team_folders(tmp_path, SEVERAL.teams)
    folder = tmp_path / "teams"
    folder.write_text("")
    with pytest.raises(StoreError, match=rf"is no folder; move it away: `mv {folder} {folder}\.old`"):
        check_team_folders(tmp_path, SEVERAL.teams)
    folder.unlink()
    (folder / "payments").mkdir(parents=True)
    (folder / "platform").symlink_to("nowhere")
    with pytest.raises(StoreError, match=r"cannot read .*platform: No such file or directory; make it a folder"):
        check_team_folders(tmp_path, SEVERAL.teams)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    """Whatever its mode lets us do."""
    folder = tmp_path / "teams"
    (folder / "payments").mkdir(parents=True)
    shutil.chown(folder / "payments", 12345)
    with pytest.raises(StoreError, match=r"payments belongs to another user \(uid 12345\); .* `chown -R 0 "):
        check_team_folders(tmp_path, SEVERAL.teams)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everywhere")
def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """With the system's own words."""
    folder = tmp_path / "teams"
    folder.mkdir(mode=0o000)
    with pytest.raises(StoreError, match="Permission denied"):
        check_team_folders(tmp_path, SEVERAL.teams)
