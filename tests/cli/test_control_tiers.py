"""`triage tiers …` beside a running bot and without one: the same verbs, the same rules for numbers."""

from __future__ import annotations

import json
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


def test_what_is_due_and_the_list_for_programs(playbook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without stamps every tier is due."""
    assert "Due now in shop: quick and hourly and daily." in typed(capsys, "shop", "due")
    listed = json.loads(main_json(capsys))
    assert [(task["number"], task["tier"], task["last_ok"]) for task in listed["tasks"]] == [
        (1, "quick", True),
        (2, "hourly", False),
    ]
    assert listed["tasks"][1]["not_allowed"] == [["df", "-h"]]
    assert listed["tiers"]["daily"]["due"] is True


def main_json(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["tiers", "--json", "shop"]) == 0
    return capsys.readouterr().out


def test_without_a_session_the_sessions_are_listed(playbook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what to type next; for programs as JSON."""
    assert "Next: triage tiers shop" in typed(capsys)
    assert "shop" in json.loads(typed(capsys, "--json"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["shp"], "did you mean shop?"),
        (["shop", "remove", "x"], "Name a task by its number. To see them: triage tiers shop"),
        (["shop", "add", "weekly", "x"], "Name a tier; "),
    ],
)
def test_what_cannot_be_done_says_what_to_type(
    playbook: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    """And changes nothing."""
    assert says in typed(capsys, *words, code=1)
    assert playbook.read_text() == PLAYBOOK
