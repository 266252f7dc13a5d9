"""A new playbook names no command that cannot work in its folder."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.agent.git.git_process import GitProcess
from bot.domain.heartbeats.allowed_commands import DEFAULT_COMMANDS, is_allowed
from bot.domain.playbook import add, parse
from bot.domain.playbook_entries import PlaybookSection
from bot.domain.tiers import Tier
from bot.heartbeat.playbook_file import PlaybookFile, seeded
from tests.gitrepo import make_repo
from tests.heartbeat.garden import BASICS
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def texts(cwd: Path, *programs: str) -> str:
    """Return the tasks seeded in a folder on a machine with these programs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in programs else None)
        playbook = seeded(parse(BASICS), cwd)
    return "\n".join(task.text for tier in Tier for task in playbook.tasks(tier))


@each_row(
    "url, program, other",
    [
        ("git@github.com:acme/shop.git", "gh ", "glab "),
        ("https://github.acme.example/acme/shop", "gh ", "glab "),
        ("ssh://git@gitlab.com/acme/shop.git", "glab ", "gh "),
    ],
)
def test_the_host_of_the_remotes_decides_whose_lines_are_seeded(
    tmp_path: Path, url: str, program: str, other: str
) -> None:
    """And the program must be there."""
    repo = make_repo(tmp_path / "shop", {"a": "1"})
    GitProcess(repo).run("remote", "add", "origin", url)
    assert f"`{program}" in texts(repo, "gh", "glab")
    assert f"`{other}" not in texts(repo, "gh", "glab")
    assert f"`{program}" not in texts(repo)
    assert "git fetch" in texts(repo)
    assert "origin/HEAD" not in texts(repo)


def test_a_clone_has_all_that_git_alone_can_do(tmp_path: Path) -> None:
    """Its origin has a HEAD."""
    make_repo(tmp_path / "up", {"a": "1"})
    GitProcess(tmp_path).run("init", "-q", "shop")
    shop = GitProcess(tmp_path / "shop")
    shop.run("remote", "add", "origin", str(tmp_path / "up"))
    head = GitProcess(tmp_path / "up").run("rev-parse", "HEAD").decode().strip()
    (tmp_path / "shop" / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (tmp_path / "shop" / ".git" / "objects" / "info" / "alternates").write_text(f"{tmp_path}/up/.git/objects\n")
    shop.run("update-ref", "refs/remotes/origin/main", head)
    shop.run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert "HEAD..origin/HEAD" in texts(tmp_path / "shop")
    assert "gh " not in texts(tmp_path / "shop", "gh")


def test_a_folder_without_git_gets_what_needs_none(tmp_path: Path) -> None:
    """The file itself is made all the same, and its flags are read."""
    tasks = PlaybookFile(tmp_path).read()
    named = "\n".join(task.text for tier in Tier for task in tasks.tasks(tier))
    assert "`git" not in named
    assert "`gh" not in named
    assert "`sed -n '/^## Urgent Flags/,/^## /p' HEARTBEAT.md`" in named
    assert "Prune and evolve" in named


def test_the_seeded_line_for_flags_prints_them(tmp_path: Path) -> None:
    """Typed into a terminal, too; whatever stands below the section changes nothing."""
    file = PlaybookFile(tmp_path)
    seeded_tasks = file.read().tasks(Tier.QUICK)
    argv = next(argv for task in seeded_tasks for argv in task.commands if argv[0] == "sed")
    assert is_allowed(argv, DEFAULT_COMMANDS, tmp_path)
    file.change(lambda playbook: add(playbook, PlaybookSection.FLAGS, "Disk full").with_stamps([Tier.QUICK], NOON))
    printed = subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "- Disk full" in printed
    assert "Working-tree" not in printed
    assert "Last quick" not in printed
