"""A HEARTBEAT.md that git tracks: every contributor could write the owner's alerts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.domain.heartbeats.beats import BeatResult, Wake
from bot.heartbeat.playbook_file import PlaybookFile
from tests.heartbeat.room import BeatRoom


def track(folder: Path) -> None:
    """Make a checkout of a folder, with its playbook in the index."""
    for argv in (["init", "-q"], ["add", "-f", "HEARTBEAT.md"]):
        subprocess.run(["git", "-C", str(folder), *argv], check=True)


def test_no_beat_runs_on_a_tracked_playbook(tmp_path: Path) -> None:
    """Whatever wakes it; the record says what to do."""
    room = BeatRoom(tmp_path)
    folder = room.sessions.get("shop").cwd
    track(folder)
    for wake in (Wake.INTERVAL, Wake.ON_DEMAND):
        line = room.beat(wake)
        assert line.result is BeatResult.SKIPPED
        assert line.why is not None
        assert line.why.startswith("tracked playbook: git tracks HEARTBEAT.md")
        assert "git rm --cached HEARTBEAT.md" in line.why
    assert room.full.views == []
    subprocess.run(["git", "-C", str(folder), "rm", "-q", "--cached", "HEARTBEAT.md"], check=True)
    assert room.beat(Wake.ON_DEMAND).result is not BeatResult.SKIPPED


def test_a_team_may_allow_it(tmp_path: Path) -> None:
    """In triage.yml, for one session or for all."""
    room = BeatRoom(tmp_path, allow_tracked_playbook=True)
    track(room.sessions.get("shop").cwd)
    assert room.beat(Wake.ON_DEMAND).result is not BeatResult.SKIPPED


def test_a_folder_that_is_no_checkout_tracks_nothing(tmp_path: Path) -> None:
    """Nor does a checkout without the file in its index."""
    assert not PlaybookFile(tmp_path).is_tracked()
    subprocess.run(["git", "-C", str(tmp_path), "init", "-q"], check=True)
    (tmp_path / "HEARTBEAT.md").write_text("# Heartbeat\n")
    assert not PlaybookFile(tmp_path).is_tracked()


def test_git_is_asked_again_only_after_the_checkout_tracks_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A night of beats without a task that is due starts no git."""
    folder, nowhere = tmp_path / "shop" / "heart", tmp_path / "empty"
    folder.mkdir(parents=True)
    nowhere.mkdir()
    (folder / "HEARTBEAT.md").write_text("# Heartbeat\n")
    subprocess.run(["git", "init", "-q", tmp_path / "shop"], check=True)
    assert not PlaybookFile(folder).is_tracked()
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", str(nowhere))
        assert not PlaybookFile(folder).is_tracked()
    subprocess.run(["git", "-C", folder, "add", "HEARTBEAT.md"], check=True)
    with monkeypatch.context() as without_git:  # what git cannot say is not remembered
        without_git.setenv("PATH", str(nowhere))
        assert not PlaybookFile(folder).is_tracked()
    assert PlaybookFile(folder).is_tracked()
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", str(nowhere))
        assert PlaybookFile(folder).is_tracked()
