"""Only exact templates run, and a path never leaves the session's folder."""

from __future__ import annotations

from pathlib import Path

from bot.domain.heartbeats.allowed_commands import commands_in, is_allowed
from tests.tables import each_row

TEMPLATES = [("git", "log", "-n", "{number}", "{branch}"), ("cat", "{path}"), ("gh", "pr", "list")]


def test_commands_stand_in_backticks_and_names_do_not_count() -> None:
    """A lone word in backticks is a branch or a file, not a command."""
    lines = ["Watch `main` with `gh pr list`", "- and `git log -n 5 main`, twice: `gh pr list`"]
    assert commands_in(lines) == [("gh", "pr", "list"), ("git", "log", "-n", "5", "main")]


@each_row(
    "argv",
    [
        ("git", "log", "-n", "5", "--output=/etc/passwd"),
        ("git", "-c", "core.pager=sh", "log", "-n", "5"),
        ("git", "log", "-n", "$(id)", "main"),
        ("sh", "-c", "id"),
        ("cat", "../secret"),
        ("cat", "/etc/passwd"),
        ("cat", ".git/config"),
    ],
)
def test_what_is_no_template_word_for_word_is_refused(argv: tuple[str, ...], tmp_path: Path) -> None:
    """Prefixes, options, paths outside and shells among them."""
    assert not is_allowed(argv, TEMPLATES, tmp_path)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """Or to what git keeps there, which may hold a login. Paths are looked at once links are followed."""
    home = tmp_path / "home"
    (home / ".git").mkdir(parents=True)
    (home / "inside").write_text("x")
    (home / "way-out").symlink_to(tmp_path)
    (home / "settings").symlink_to(".git/config")
    assert is_allowed(("cat", "inside"), TEMPLATES, home)
    for path in ("way-out", "way-out/other", "settings", ".git", "way-out/home/.git/config"):
        assert not is_allowed(("cat", path), TEMPLATES, home)


def test_a_path_behind_another_hole_is_looked_at_too(tmp_path: Path) -> None:
    """However long what fills the other one."""
    (tmp_path / "way-out").symlink_to(tmp_path.parent)
    template = ("tool", "--{word}={path}")
    assert is_allowed(("tool", "--configuration=inside"), [template], tmp_path)
    assert not is_allowed(("tool", "--configuration=way-out/x"), [template], tmp_path)
    assert not is_allowed(("tool", "--c=way-out/x"), [template], tmp_path)
