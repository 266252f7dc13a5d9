"""What a beat may run without a model: exact words, typed holes, never a shell and never an option."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot.heartbeat
from bot.domain.heartbeats.allowed_commands import (
    DEFAULT_COMMANDS,
    PLACEHOLDERS,
    Argv,
    is_allowed,
    not_run_notice,
    parse_template,
)
from bot.errors import ConfigError
from tests.tables import each_row


def fits(template: Argv, argv: Sequence[str]) -> bool:
    """Whether a template allows a command, in a folder that holds nothing."""
    return is_allowed(tuple(argv), [template], Path("/nowhere"))


@each_row(
    "given, words",
    [
        ("git status --porcelain", ("git", "status", "--porcelain")),
        (["gh", "pr", "checks", "{number}"], ("gh", "pr", "checks", "{number}")),
        ("git for-each-ref '--format=%(refname:short) $x'", ("git", "for-each-ref", "--format=%(refname:short) $x")),
        (["jq", ".a | .b"], ("jq", ".a | .b")),
    ],
)
def test_a_text_or_a_list_becomes_words(given: object, words: tuple[str, ...]) -> None:
    """In single quotes and in lists every sign is itself, as no shell reads it."""
    assert parse_template(given) == words


@each_row(
    "given, says",
    [
        ("git log | head", "holds '|', which only a shell understands"),
        ("ls $HOME", "holds '$'"),
        ('echo "`id`"', "holds '`'"),
        ("git 'log", "has a quote without its partner"),
        ("", "'' is no command"),
        (["git", "a\0b"], "is no command"),
        (None, "None is no command"),
        (["/bin/sh", "-c", "x"], "'sh' runs a shell"),
        ("git log {brunch}", "{brunch} is no placeholder; there are {branch}, {number}, {path}, {sha}, {word}"),
    ],
)
def test_what_needs_a_shell_or_names_nothing_is_refused(given: object, says: str) -> None:
    """Saying what is wrong with it."""
    with pytest.raises(ConfigError, match=re.escape(says)):
        parse_template(given)


@each_row(
    "template, argv",
    [
        ("git log {branch}", ["git", "log", "origin/feat/x-1"]),
        ("git log --since={word}", ["git", "log", "--since=24.hours"]),
        ("git show {sha}:{path}", ["git", "show", "0123abc:bot/app.py"]),
        ("gh pr checks {number}", ["gh", "pr", "checks", "17"]),
    ],
)
def test_a_hole_takes_what_it_is_named_for(template: str, argv: list[str]) -> None:
    """Alone or inside a word."""
    assert fits(parse_template(template), argv)


@each_row(
    "template, argv",
    [
        ("git log {branch}", ["git", "log", "--output=/etc/passwd"]),
        ("git log {branch}", ["git", "log", "main..evil"]),
        ("git log {branch}", ["git", "log", "main", "--all"]),
        ("git log {branch}", ["git", "log", "main\n"]),
        ("cat {path}", ["cat", "../secret"]),
        ("cat {path}", ["cat", "a/../../secret"]),
        ("cat {path}", ["cat", "/etc/passwd"]),
        ("gh pr checks {number}", ["gh", "pr", "checks", "-1"]),
        ("git show {sha}", ["git", "show", "HEAD"]),
        ("git status", ["git", "stat.s"]),
    ],
)
def test_a_hole_takes_nothing_else(template: str, argv: list[str]) -> None:
    """No option, no way out of the folder, no further word."""
    assert not fits(parse_template(template), argv)


@given(name=st.sampled_from(sorted(PLACEHOLDERS)), value=st.text(max_size=20))
def test_no_hole_takes_an_option_or_a_line_end(name: str, value: str) -> None:
    """Whatever stands in it."""
    if fits(("x", f"{{{name}}}"), ("x", value)):
        assert value
        assert not value.startswith(("-", "/", "~"))
        assert value.isprintable()
        assert ".." not in value.split("/")


@given(
    words=st.lists(st.text(st.characters(exclude_characters="{}\0"), min_size=1, max_size=9), min_size=1, max_size=5)
)
def test_a_template_without_holes_matches_itself_only(words: list[str]) -> None:
    """Nothing in it is a pattern."""
    template = ("git", *words)
    assert fits(parse_template(list(template)), template)
    assert not fits(template, (*template[:-1], template[-1] + "x"))


@each_row("name", ["worker.md", "master.md"])
def test_every_command_of_the_templates_is_allowed_by_default(name: str) -> None:
    """A playbook made from a template is probed without a word in triage.yml."""
    text = (Path(bot.heartbeat.__file__).parent / "templates" / name).read_text()
    commands = [shlex.split(command) for line in text.splitlines() for command in re.findall(r"^- .*`(.+)`$", line)]
    assert len(commands) == 14
    assert [command for command in commands if not any(fits(t, command) for t in DEFAULT_COMMANDS)] == []


@each_row(
    "command, says",
    [
        ("terraform apply -auto-approve", "skipped safeguard (“-auto-approve”)"),
        ("git push --force", "code change (“git push --force”)"),
        ("rm -rf build", "data deletion (“rm -rf”)"),
        ("deploy --prod --yes", "what `deploy --prod` does is not known here"),
        ("./reset.sh --force", "what `./reset.sh --force` does is not known here"),
        ("terraform plan -out=x", "what `terraform plan` does is not known here"),
    ],
)
def test_any_other_command_comes_behind_a_warning(command: str, says: str) -> None:
    """It says what the command may do, as far as its words tell."""
    before = not_run_notice(tuple(shlex.split(command))).partition("to allow it")[0]
    assert f"careful: it may change things: {says}. Every beat would run it, and nobody would be asked; " in before
