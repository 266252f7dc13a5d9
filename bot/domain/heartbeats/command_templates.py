"""Which commands a beat may run without a model: exact argument lists, some of whose words are typed holes. Pure.

A template is a text such as "git log --oneline {branch}" or a list of words. No shell ever sees it: what only a shell
understands is refused. A hole takes what its pattern allows and never an option.

What a beat may run without a model where triage.yml names no commands: those of the templates, and near ones.

They read; fetching changes no branch and no file. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

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
_HOLE: Final = re.compile(r"\{([^{}]*)\}")
_EXAMPLE: Final = 'write for example "git log --oneline {branch}" or [git, log, --oneline, "{branch}"]'


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


def matches(template: Sequence[str], argv: Sequence[str]) -> bool:
    """Whether an argument list is what a template allows, word for word.

    >>> matches(("gh", "pr", "checks", "{number}"), ("gh", "pr", "checks", "17"))
    True
    >>> matches(("gh", "pr", "checks", "{number}"), ("gh", "pr", "checks", "--web"))
    False
    """
    return len(template) == len(argv) and all(map(_fits, template, argv))


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


def _fits(word: str, given: str) -> bool:
    pieces = _HOLE.split(word)
    pattern = "".join(
        f"(?:{PLACEHOLDERS[piece].pattern})" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces)
    )
    return re.fullmatch(pattern, given) is not None


_DATED: Final = "git for-each-ref --sort=committerdate '--format=%(committerdate:short)%09%(refname:short)'"
_CHECKED: Final = "number,title,url,headRefName,statusCheckRollup"
"""What tells a pull request and how its checks stand; code judges the fields, never a title."""

DEFAULT_COMMANDS: Final = tuple(
    parse_template(text)
    for text in (
        "git status --porcelain",
        "git status --porcelain=v1 --branch",
        "git status --short --branch",
        "git stash list",
        "git diff --stat",
        "git fetch --prune --quiet origin",
        "git log --oneline --max-count={number}",
        "git log --oneline --max-count={number} {branch}",
        "git log --oneline --max-count={number} HEAD..origin/HEAD",
        "git log --all --oneline --since={word}",
        "git log --oneline --since={word} {branch}",
        "git merge-tree --write-tree --name-only HEAD origin/HEAD",
        "git merge-tree --write-tree --name-only {branch} {branch}",
        f"{_DATED} refs/heads",
        f"{_DATED} refs/remotes/origin",
        "gh pr status",
        "gh pr list",
        f"gh pr list --json {_CHECKED}",
        f"gh pr list --json {_CHECKED} --limit {{number}}",
        "gh pr checks {number}",
        "gh issue list",
        "glab mr list",
        "glab mr list --output json",
        "glab mr list --output json --per-page {number}",
        "glab ci list --output json",
        "glab ci list --output json --per-page {number}",
        "glab issue list",
    )
)
