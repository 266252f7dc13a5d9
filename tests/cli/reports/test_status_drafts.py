"""`triage open` and `triage brief`: what waits, at the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.domain.threads import PendingReason, ThreadStatus
from bot.ports.threads import Threads
from tests.builders import THREAD_ID, in_status

QUESTION = "how often do we retry?"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data directory with one draft that waits."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, question=QUESTION)
    Threads(FileDocuments(tmp_path)).put(state)
    return tmp_path


@pytest.mark.parametrize("word", ["open", "brief"])
def test_what_waits_is_listed(home: Path, capsys: pytest.CaptureFixture[str], word: str) -> None:
    """With the question, and with where to find it."""
    assert main([word, "--home", str(home)]) == 0
    assert QUESTION in capsys.readouterr().out


@pytest.mark.parametrize("word", ["open", "brief"])
def test_nothing_waits_in_an_empty_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str], word: str) -> None:
    """Which is no error."""
    assert main([word, "--home", str(tmp_path)]) == 0
    assert "no draft waits" in capsys.readouterr().out.lower()


def test_programs_get_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The drafts of `open`, and all that `status` counts."""
    assert main(["open", "--json", "--home", str(home)]) == 0
    assert [each["thread_id"] for each in json.loads(capsys.readouterr().out)] == [THREAD_ID]
    assert main(["status", "--json", "--home", str(home)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["waiting"], said["connection"], said["paused"]) == (1, "never", None)
    assert said["threads"][0]["pending_reason"] == "approval"
