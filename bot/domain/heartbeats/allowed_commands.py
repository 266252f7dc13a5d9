"""The commands a playbook names, and which of them may run (`commands` of a session). Pure.

A template is a text such as "git log --oneline {branch}" or a list of words. A command fits one word for word: no
prefix, no shell.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from bot.domain.tables import read_table
from bot.domain.text.sanitize import one_line
from bot.errors import ConfigError

PLACEHOLDERS: Final = MappingProxyType(
    {
        "branch": re.compile(r"(?!.*(?:\.\.|//|@\{))[A-Za-z0-9_][A-Za-z0-9._/#-]{0,199}"),
        "number": re.compile(r"[0-9]{1,9}"),
        "path": re.compile(r"(?!\.\.(?:/|$))(?!.*/\.\.(?:/|$))[A-Za-z0-9_.][A-Za-z0-9_./@+ -]{0,299}"),
        "sha": re.compile(r"[0-9a-f]{7,64}"),
        "word": re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,99}"),
    }
)
"""What may stand in each hole: a branch's name, a whole number, a path below the session's folder, a commit, a word."""

_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "fish", "ksh", "csh", "tcsh", "cmd", "powershell", "pwsh"})
_SHELL_SIGNS: Final = re.compile(r"[|&;<>$`()*?!~\\\n]")
_SINGLE_QUOTED: Final = re.compile(r"'[^']*'")
_JOINS: Final = frozenset({"|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1"})
"""Words by which a shell joins programs and files."""

_HOLE: Final = re.compile(r"\{([^{}]*)\}")
_EXAMPLE: Final = 'write for example "git log --oneline {branch}" or [git, log, --oneline, "{branch}"]'
Argv = tuple[str, ...]
FLAGS_COMMAND: Final[Argv] = ("triage", "flags")
"""How a playbook names its own urgent flags; code reads them, nothing is run."""

MAX_COMMAND_CHARS: Final = 10_000
_SPAN: Final = re.compile(r"(?<!`)(`{1,2})(?:[ \t]*\$[ \t]+)?([^`\n]+)\1(?!`)")
_PROGRAM: Final = re.compile(
    r"[a-z][a-z0-9_.-]{0,40}|\.{1,2}(?:/[\w.@+-]{1,99}){1,20}|/?[\w@+-][\w.@+-]{0,98}(?:/[\w.@+-]{1,99}){1,20}"
)
_SCRIPT: Final = re.compile(r"\.{1,2}/(?:[\w.@+-]{1,99}/){0,20}[\w@+-]{1,99}(?:\.(?:bash|js|php|pl|py|rb|sh|ts))?")
"""A program of the session's folder that needs no arguments; `./docs/TODO.md` is a file."""


def parse_template(given: object) -> tuple[str, ...]:
    """Return a template's words.

    Raises:
        ConfigError: it is empty, needs a shell, starts with a hole, or names a hole there is not.

    >>> parse_template("gh pr checks {number}")
    ('gh', 'pr', 'checks', '{number}')
    """
    words = _words(given)
    program = PurePosixPath(words[0]).name
    if program in _SHELLS:
        raise ConfigError(f"{program!r} runs a shell, which beats never do; name the program itself")
    if "{" in words[0]:
        raise ConfigError(f"{words[0]!r} names no program; holes such as {{word}} may stand after it")
    unknown = [name for word in words for name in _HOLE.findall(word) if name not in PLACEHOLDERS]
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise ConfigError(f"{{{unknown[0][:40]}}} is no placeholder; there are {known}")
    return words


def _words(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        sign = _SHELL_SIGNS.search(_SINGLE_QUOTED.sub("", given))
        if sign:
            raise ConfigError(f"{given[:80]!r} holds {sign[0]!r}, which only a shell understands; {_EXAMPLE}")
        try:
            words: tuple[object, ...] = tuple(shlex.split(given))
        except ValueError as error:
            raise ConfigError(f"{given[:80]!r} has a quote without its partner; {_EXAMPLE}") from error
    else:
        words = tuple(given) if isinstance(given, list | tuple) else ()
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words) or not words[0]:
        raise ConfigError(f"{repr(given)[:80]} is no command; {_EXAMPLE}")
    return tuple(str(word) for word in words)


DEFAULT_COMMANDS: Final = tuple(map(parse_template, read_table(__file__, "default_commands.yml", tuple[str, ...])))
_ACTS: Final = re.compile("--?(?:out|exe|up)")
"""Options by which a command that reads writes a file or starts a program; git takes any beginning of a long one.

`git log --output`, `git ls-remote --upload-pack` (or `--exec`), `terraform plan -out`.
"""


@cache
def _reading() -> tuple[Argv, ...]:
    return tuple(map(parse_template, read_table(__file__, "reading_commands.yml", tuple[str, ...])))


def commands_in(lines: Sequence[str]) -> list[Argv]:
    """Return the commands that stand in backticks in a task's lines.

    A lone word there is a name, not a command, unless it is a script below the session's folder.

    >>> commands_in(["CI of `main`: `gh pr list --state open`, then ``$ git log -n 5 main``"])
    [('gh', 'pr', 'list', '--state', 'open'), ('git', 'log', '-n', '5', 'main')]
    >>> commands_in(["`./queue.sh`, `bin/check eu`, `/opt/check eu`, `./README.md`, `/healthz endpoint`, `src/a.py`"])
    [('./queue.sh',), ('bin/check', 'eu'), ('/opt/check', 'eu')]
    """
    found = (split_command(span) for line in lines for _, span in _SPAN.findall(line))
    return list(dict.fromkeys(argv for argv in found if _is_command(argv)))


def _is_command(argv: Argv) -> bool:
    return bool(argv) and (_PROGRAM if len(argv) > 1 else _SCRIPT).fullmatch(argv[0]) is not None


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


def is_allowed(argv: Argv, templates: Sequence[Argv], cwd: Path) -> bool:
    """Whether a command fits a template word for word; a path must lie below `cwd` once links are followed.

    >>> is_allowed(("git", "log", "main"), [("git", "log", "{branch}")], Path("."))
    True
    >>> is_allowed(("git", "log", "--output=x"), [("git", "log", "{branch}")], Path("."))
    False
    """
    return any(len(template) == len(argv) and all(map(partial(_fits, cwd), template, argv)) for template in templates)


def _fits(cwd: Path, word: str, given: str) -> bool:
    """Whether a word fills the one of a template."""
    pieces = _HOLE.split(word)
    pattern = "".join(
        f"({'' if piece == 'path' else '?:'}{PLACEHOLDERS[piece].pattern})" if number % 2 else re.escape(piece)
        for number, piece in enumerate(pieces)
    )
    found = re.fullmatch(pattern, given)
    return found is not None and all(_is_inside(cwd, path) for path in found.groups())


def _is_inside(cwd: Path, path: str) -> bool:
    """Whether a path leads to a place below `cwd` that is not git's own, links followed."""
    try:
        top, place = cwd.resolve(), (cwd / path).resolve()
    except (OSError, RuntimeError):
        return False
    if not place.is_relative_to(top):
        return False
    return ".git" not in (part.lower() for part in (*Path(path).parts, *place.relative_to(top).parts))


def not_run_notice(argv: Argv) -> str:
    """Return what an owner does to let a command run without a model; of one that may change things, first what.

    >>> not_run_notice(("df", "-h"))
    'not run: `df -h`; to allow it add this line to `commands` of the session in triage.yml: `- "df -h"`'
    >>> "careful: it may change things: data deletion (“terraform destroy”)" in not_run_notice(("terraform", "destroy"))
    True
    """
    written = " ".join(argv)
    try:
        parse_template(argv)
        if not _JOINS.isdisjoint(argv):
            raise ConfigError("only a shell joins programs; write a script and name that")
    except ConfigError as error:
        return f"not run: `{written}`; it cannot be allowed: {error}"
    how = "to allow it add this line to `commands` of the session in triage.yml"
    line = json.dumps(written if shlex.join(argv) == written else argv, ensure_ascii=False)
    return f"not run: `{written}`; {_warning(argv)}{how}: `- {line}`"


def _warning(argv: Argv) -> str:
    """Return what a command may do as far as its words say; nothing of one that only reads."""
    from bot.domain.questions.verdict_rules import commands_in_code  # here: who reads a playbook needs no tables

    dangers = commands_in_code(" ".join(argv))
    begins = any(argv[: len(reading)] == reading for reading in _reading())
    if begins and not dangers and not any(map(_ACTS.match, argv)):
        return ""
    named = ", ".join(f"{danger.kind} (“{one_line(danger.words, 80)}”)" for danger in dangers)
    what = named or f"what `{one_line(' '.join(argv[:2]), 80)}` does is not known here"
    return f"careful: it may change things: {what}. Every beat would run it, and nobody would be asked; "
