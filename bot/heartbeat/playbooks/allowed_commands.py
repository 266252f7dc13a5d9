"""The commands a playbook names, and which of them a session allows: exact templates, never a prefix, never a shell.

The commands a task names that its session does not allow, and the line of triage.yml that would. Pure.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bot.domain.heartbeats.command_templates import matches, parse_template
from bot.errors import ConfigError
from bot.heartbeat.sessions.session_registry import Session

Argv = tuple[str, ...]

FLAGS_COMMAND: Final[Argv] = ("triage", "flags")
"""How a playbook names its own urgent flags; code reads them, nothing is run."""

MAX_COMMAND_CHARS: Final = 10_000

_SPAN: Final = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_PROGRAM: Final = re.compile(r"[a-z][a-z0-9_.-]{0,40}")


def commands_in(lines: Sequence[str]) -> list[Argv]:
    """Return the commands that stand in backticks in a task's lines; a lone word there is a name, not a command.

    >>> commands_in(["CI of `main`: `gh pr list --state open`, then `git log -n 5 main`"])
    [('gh', 'pr', 'list', '--state', 'open'), ('git', 'log', '-n', '5', 'main')]
    """
    found = (split_command(span) for line in lines for span in _SPAN.findall(line))
    return list(dict.fromkeys(argv for argv in found if len(argv) > 1 and _PROGRAM.fullmatch(argv[0])))


def split_command(text: str) -> Argv:
    """Return a command's words as a shell would split them; nothing where a quote lacks its partner.

    Nothing either beyond `MAX_COMMAND_CHARS`: shlex takes time that grows with the square of a word's length.

    >>> split_command("git log --format='%h %s'"), split_command("it's")
    (('git', 'log', '--format=%h %s'), ())
    """
    if len(text) > MAX_COMMAND_CHARS:
        return ()
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()


def config_line(argv: Argv) -> str:
    """Return the line that allows a command under `commands` in triage.yml.

    Raises:
        ConfigError: no line can; it needs a shell.

    >>> config_line(("df", "-h")), config_line(("git", "log", "--format=%(refname)"))
    ('- "df -h"', '- ["git", "log", "--format=%(refname)"]')
    """
    parse_template(argv)
    written = " ".join(argv)
    return f"- {json.dumps(written if _is_read_as(written, argv) else list(argv), ensure_ascii=False)}"


def _is_read_as(written: str, argv: Argv) -> bool:
    try:
        return parse_template(written) == argv
    except ConfigError:
        return False


def is_allowed(argv: Argv, templates: Sequence[Argv], cwd: Path) -> bool:
    """Whether a command fits a template word for word; a path must lie below `cwd` once links are followed.

    >>> is_allowed(("git", "log", "main"), [("git", "log", "{branch}")], Path("."))
    True
    >>> is_allowed(("git", "log", "--output=x"), [("git", "log", "{branch}")], Path("."))
    False
    """
    return any(matches(template, argv) and _paths_are_inside(template, argv, cwd) for template in templates)


def _paths_are_inside(template: Argv, argv: Argv, cwd: Path) -> bool:
    """Look at every word with a `{path}` in it, from where the hole begins."""
    filled = [
        word[len(hole.partition("{path}")[0]) :] for hole, word in zip(template, argv, strict=True) if "{path}" in hole
    ]
    return all(_is_inside(cwd, path) for path in filled)


def _is_inside(cwd: Path, path: str) -> bool:
    try:
        return (cwd / path).resolve().is_relative_to(cwd.resolve()) and ".git" not in Path(path).parts
    except (OSError, RuntimeError):
        return False


def not_allowed(session: Session, *lines: str) -> tuple[Argv, ...]:
    """Return the commands in a task's lines that the session does not allow; code itself answers for the flags."""
    named = [argv for argv in commands_in(lines) if argv != FLAGS_COMMAND]
    return tuple(argv for argv in named if not is_allowed(argv, session.beat.commands, session.cwd))


def not_run_notice(argv: Argv) -> str:
    """Return what an owner does to let a command run without a model."""
    written = " ".join(argv)
    try:
        line = config_line(argv)
    except ConfigError as error:
        return f"not run: `{written}`; it cannot be allowed: {error}"
    return f"not run: `{written}`; to allow it add this line to `commands` of the session in triage.yml: `{line}`"
