"""`triage pause` and `triage resume`, beside a running bot and without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.casework.pause import PauseSwitch, read_pause
from tests.fakes import FakeClock


def test_a_running_bot_follows_the_terminal(tmp_path: Path) -> None:
    """It notices both, each once."""
    running = PauseSwitch(FileDocuments(tmp_path), FakeClock())
    assert main(["pause", "--home", str(tmp_path)]) == 0
    assert (running.is_paused, running.follow(), running.is_paused, running.follow()) == (False, True, True, False)
    assert main(["resume", "--home", str(tmp_path)]) == 0
    assert (running.follow(), running.is_paused) == (True, False)


def test_the_first_pause_stands_and_a_second_resume_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both say so."""
    PauseSwitch(FileDocuments(tmp_path), FakeClock()).pause(by="U2", name="ana")
    assert main(["pause", "--home", str(tmp_path)]) == 0
    assert "already paused by @ana" in capsys.readouterr().out
    assert main(["resume", "--home", str(tmp_path)]) == 0
    assert read_pause(FileDocuments(tmp_path)) is None
    assert main(["resume", "--home", str(tmp_path)]) == 0
    assert "Nothing is paused" in capsys.readouterr().out
