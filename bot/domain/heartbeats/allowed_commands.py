"""The commands a playbook names, which of them may run (`commands` of a session), and which check a task is. Pure.

A template is a text such as "git log --oneline {branch}" or a list of words. A command fits one word for word: no
prefix, no shell. What a failed command finds is remembered under that command, any other finding under the first one of
its task, else under the task's text: what people said of one outlives a new wording, another order, a move to another
tier, and a task that was taken out and put back.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from bot.domain.heartbeats.alerts import OpenFinding, check_named, name_in, normalised, rekeyed
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id
from bot.domain.tables import read_table
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


def _fits(word: str, given: str) -> re.Match[str] | None:
    """Return how a word fills the one of a template: its groups are what stands in the `{path}` holes."""
    pieces = _HOLE.split(word)
    pattern = "".join(
        f"({'' if piece == 'path' else '?:'}{PLACEHOLDERS[piece].pattern})" if number % 2 else re.escape(piece)
        for number, piece in enumerate(pieces)
    )
    return re.fullmatch(pattern, given)


DEFAULT_COMMANDS: Final = tuple(map(parse_template, read_table(__file__, "default_commands.yml", tuple[str, ...])))


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


def prints_json(argv: Sequence[str]) -> bool:
    """Whether a command asks gh or glab for JSON.

    >>> prints_json(("gh", "pr", "list", "--json", "number")), prints_json(("glab", "mr", "list", "-F", "json"))
    (True, True)
    >>> prints_json(("gh", "pr", "list"))
    False
    """
    if not argv or argv[0] not in ("gh", "glab"):
        return False
    asks = {("--output", "json"), ("-F", "json")}
    return any(w == "--json" or w == "--output=json" for w in argv) or bool(asks.intersection(pairwise(argv)))


def _config_line(argv: Argv) -> str:
    """Return the line that allows a command under `commands` in triage.yml.

    Raises:
        ConfigError: no line can; it needs a shell.

    >>> _config_line(("df", "-h")), _config_line(("git", "log", "--format=%(refname)"))
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
    """Look at what fills each `{path}`, alone in its word or not."""
    filled = (found for found in map(_fits, template, argv) if found)
    return all(_is_inside(cwd, path) for found in filled for path in found.groups())


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
    """Return what an owner does to let a command run without a model."""
    written = " ".join(argv)
    if not _JOINS.isdisjoint(argv):
        return f"not run: `{written}`; it cannot be allowed: only a shell joins programs; write a script and name that"
    try:
        line = _config_line(argv)
    except ConfigError as error:
        return f"not run: `{written}`; it cannot be allowed: {error}"
    return f"not run: `{written}`; to allow it add this line to `commands` of the session in triage.yml: `{line}`"


def identity_of(task: PlaybookEntry) -> str:
    """Return the short id of a task's check.

    >>> from bot.domain.playbook import parse
    >>> from bot.domain.tiers import Tier
    >>> tasks = parse("- Tree: `git status`\\n- Is the tree clean? `git status`\\n- The tree").tasks(Tier.QUICK)
    >>> identity_of(tasks[0]) == identity_of(tasks[1]), identity_of(tasks[0]) == identity_of(tasks[2])
    (True, False)
    """
    return next(iter(checks_of(task)))


def checks_of(task: PlaybookEntry) -> dict[str, str]:
    """Return the checks of a task, its own first: the id of each command it names, with the line that names it.

    One without commands is itself a check.
    """
    return checks_of_lines(task.text, *task.details)


def checks_of_lines(text: str, *details: str) -> dict[str, str]:
    """Return the same of a task's lines."""
    found: dict[str, str] = {}
    for line in (text, *details):
        for argv in commands_in([line]):
            found.setdefault(task_id(" ".join(argv)), line)
    return found or {task_id(text): text}


def checks_in(playbook: Playbook) -> dict[str, str]:
    """Return every check of a playbook as `checks_of` does; of two lines that name the same, the first."""
    found: dict[str, str] = {}
    for _, task in playbook.all_tasks:
        for check, line in checks_of(task).items():
            found.setdefault(check, line)
    return found


def adopted(state: SessionState, playbook: Playbook) -> SessionState:
    """Return the state with the findings of reworded tasks under the check their task is now.

    So are those of older versions, which went by the task's text, or of a failed command by the first of its task.
    """
    moved = dict(_moved(list(state.findings.values()), playbook))
    if not moved:
        return state
    findings = {key: each for key, each in state.findings.items() if key not in moved}
    sent = state.sent
    for old, new in moved.items():
        findings[new.key] = new
        sent = sent.renamed(old, new.key)
    return state.evolve(findings=findings, sent=sent)


def _moved(findings: Sequence[OpenFinding], playbook: Playbook) -> Iterator[tuple[str, OpenFinding]]:
    """Yield the old key of each finding that goes under another one now, and the finding under it."""
    checks, taken = checks_in(playbook), {each.key for each in findings}
    by_text = {task.id: identity_of(task) for _, task in playbook.all_tasks}
    held = {each.task for each in findings if each.is_open}
    for each in findings:
        if not each.is_remembered:
            continue
        kind, check = check_named(name_in(each.key))
        if check not in checks:
            kind, check = "", each.task if each.task in checks else by_text.get(each.task) or _same(each, checks, held)
        key = rekeyed(each.key, check or each.task, kind)
        if key not in taken:
            taken.add(key)
            yield each.key, each.evolve(key=key, task=check)


def _same(finding: OpenFinding, checks: Mapping[str, str], held: Collection[str]) -> str:
    """Return a finding's check in other words, or nothing; one that has findings of its own is another check."""
    same = (
        check for check, line in checks.items() if check not in held and normalised(line) == normalised(finding.check)
    )
    return next(same, "") if finding.check else ""
