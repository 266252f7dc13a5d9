"""`triage tiers …` beside a running bot and without one: the same verbs, the same rules for numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_leases import FileLeases
from bot.ports.collections import HOME

CONFIG = """
codebase: shop
ops_channel: C0OPS
sessions:
  shop: {cwd: shop, owner: U0ANN, heartbeat: {every: 30m}}
"""
PLAYBOOK = "## Quick\n- [x] Tree: `git status --porcelain`\n## Hourly\n- [ ] Disk: `df -h`\n  - over 90 % is bad\n"


@pytest.fixture
def playbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session's HEARTBEAT.md, and a folder with triage.yml in it to work in."""
    for name in ("shop", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "triage.yml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIAGE_HOME", str(tmp_path / "home"))
    path = tmp_path / "shop" / "HEARTBEAT.md"
    path.write_text(PLAYBOOK)
    return path


def typed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """Run a command and return what it printed, complaints included."""
    assert main(["tiers", *words]) == code
    said = capsys.readouterr()
    assert max(map(len, said.out.splitlines()), default=0) <= 80
    return said.out + said.err


def test_tasks_are_listed_added_moved_and_removed(playbook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While another process holds the home; every answer says how to undo it, in words that work here."""
    lock = FileLeases(playbook.parent.parent / "home").take(HOME)
    seen = typed(capsys, "shop")
    assert "\n1    quick   Tree: `git status --porcelain`\n" in seen
    assert "Not among the commands of triage.yml, so never run\n  df -h (task 2)" in seen
    said = " ".join(typed(capsys, "shop", "add", "daily", "Stale", "branches").split())
    assert "Added to the daily tasks of shop as number 3: Stale branches. To undo: triage tiers shop remove 3 " in said
    assert "now number 3: Tree" in " ".join(typed(capsys, "shop", "move", "1", "daily").split())
    said = typed(capsys, "shop", "remove", "1")
    assert "over 90 % is bad" in said
    assert "To undo: triage tiers shop add hourly 'Disk: `df -h`'\n" in said
    daily = "## Daily Tasks\n- [ ] Stale branches\n- [x] Tree: `git status --porcelain`\n"
    assert playbook.read_text() == f"## Quick\n## Hourly\n\n{daily}"
    lock.release()


def test_a_list_that_changed_is_shown_again_and_nothing_is_done(
    playbook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command is a process of its own; what the last one showed is remembered on disk."""
    typed(capsys, "shop")
    playbook.write_text(PLAYBOOK.replace("## Quick\n", "## Quick\n- Mine\n"))
    said = typed(capsys, "shop", "remove", "1", code=1)
    assert "This is not the list you saw last" in said
    assert "1    quick   Mine" in said
    typed(capsys, "shop", "remove", "1")
    assert playbook.read_text() == PLAYBOOK
