"""A proposed patch: which files its text names, what people see of it, and what it may change. Pure.

Models see the paths of several codebases with the codebase in front (`--- a/shop:src/x.py`), and write them so, or
leave it out. What a patch really changes (which files, of what kind, how much) is judged before anybody opens a pull
request with it, and by what git made of it, never by its text: a patch is text of a model that read hostile messages.
Git itself refuses paths that lead out of the tree or into .git.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Final, NamedTuple

from bot.domain.frozen_value import FrozenValue
from bot.domain.returns import ProposedPatch
from bot.domain.secrets import find_secrets, redact
from bot.domain.tables import Words, read_table
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.errors import InputError

_HEAD: Final = re.compile(
    r"^(?:--- (?P<old>.*)\n\+\+\+ (?P<new>.*)"
    r"|(?:rename|copy) (?:from (?P<source>.*)|to (?P<target>.*))"
    r"|diff --git (?P<both>.*))$",
    re.MULTILINE,
)
"""A line at the head of a file's part; a removed line may look like one, but has no `+++` below it."""

_HEAD_OR_LINE: Final = re.compile(rf"{_HEAD.pattern}\n|^(?P<line>[ +-].*|)\n(?!\\ )", re.MULTILINE)
"""A head, or a line of a file in a hunk; models leave out the blank of an empty one."""

_ABSENT: Final = "/dev/null"
MAX_DIFF_CHARS: Final = 200_000
"""A longer diff is not taken, and its files are not all named."""

SHOWN_DIFF_CHARS: Final = 20_000
"""Of a diff that is shown; the lines of what is longer are counted."""

MAX_LINE_CHARS: Final = 300
SHOWN_FILES: Final = 3
NAME_CHARS: Final = 120
TITLE_CHARS: Final = 160
_TICKS: Final = re.compile(r"`+")


def codebases_in(diff: str, ids: Collection[str]) -> list[str]:
    """Return which of these codebases stand in front of the paths that a diff names.

    >>> codebases_in("--- a/shop:x.py\\n+++ b/shop:x.py\\n@@ -1 +1 @@\\n-infra:a\\n", ["shop", "infra"])
    ['shop']
    """
    heads = "\n".join(head[0] for head in _HEAD.finditer(diff))
    return [one for one in ids if _prefix(one).search(heads)]


def without_codebase(diff: str, codebase: str) -> str:
    """Return a diff whose paths are those inside the codebase, without its id in front.

    >>> without_codebase("--- a/shop:x.py\\n+++ b/shop:x.py\\n@@ -1 +1 @@\\n-shop: a\\n+shop: b\\n", "shop")
    '--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-shop: a\\n+shop: b\\n'
    """
    if not codebase:
        return diff
    return _HEAD.sub(lambda head: _prefix(codebase).sub(r"\1", head[0]), diff)


def _prefix(codebase: str) -> re.Pattern[str]:
    return re.compile(rf'([ "](?:[ab]/)?){re.escape(codebase)}:')


def forms_of(diff: str) -> tuple[str, str]:
    r"""Return a diff with LF and with CRLF at the end of each line of its files: who reads a file sees no CR.

    >>> forms_of("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b")
    ('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n')
    """
    unix = diff.replace("\r\n", "\n").removesuffix("\n") + "\n"
    return unix, _HEAD_OR_LINE.sub(
        lambda found: found[0] if found["line"] is None else f"{found['line'] or ' '}\r\n", unix
    )


def paths_in(diff: str) -> Iterator[str]:
    """Yield each path at the head of a file's part; a mode that changes alone has no other line."""
    for head in _HEAD.finditer(diff):
        both = head["both"] or ""
        before, after = _path(both[: len(both) // 2]), _path(both[len(both) // 2 + 1 :])
        found = (head["old"], head["new"], head["source"], head["target"], before if before == after else "")
        yield from (path for path in map(_path, filter(None, found)) if path != _ABSENT)


def _path(name: str) -> str:
    return name.partition("\t")[0].strip().strip('"').removeprefix("a/").removeprefix("b/")


def patch_summary(patch: ProposedPatch, known_secrets: Collection[str] = ()) -> str:
    """Return a patch in one line of plain text: `Raise the limit · app/retry.py · +1 −1 lines`."""
    diff = patch.diff[:MAX_DIFF_CHARS]
    files, lines = dict.fromkeys(paths_in(diff)), f"\n{_HEAD.sub('', diff)}"
    names = [one_line(name, NAME_CHARS) for name in list(files)[:SHOWN_FILES]]
    more = [f"{len(files) - SHOWN_FILES} more"] if len(files) > SHOWN_FILES else []
    where = ", ".join([*names, *more]) or "no file named"
    title = one_line(patch.title, TITLE_CHARS) or "no title"
    counts = f"+{lines.count(f'{chr(10)}+')} −{lines.count(f'{chr(10)}-')} lines"
    return redact(f"{title} · {where} · {counts}", known_secrets)


def patch_lines(patch: ProposedPatch, known_secrets: Collection[str] = (), *, at_most: int) -> tuple[list[str], int]:
    """Return a diff's first lines, without credentials and what nobody sees, and how many there are more."""
    text = redact(strip_hidden(patch.diff[:SHOWN_DIFF_CHARS])[0].strip("\n"), known_secrets)
    lines = [line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…" for line in text.split("\n")]
    cut = patch.diff.count("\n", SHOWN_DIFF_CHARS)
    return lines[:at_most], max(0, len(lines) - at_most) + cut


def fenced_diff(patch: ProposedPatch, known_secrets: Collection[str] = (), *, at_most: int) -> list[str]:
    """Return a diff for a terminal, set in by four: so many lines at most, between fences that none can close."""
    lines, left = patch_lines(patch, known_secrets, at_most=at_most)
    ticks = "`" * max(3, 1 + max((len(run) for line in lines for run in _TICKS.findall(line)), default=0))
    more = [f"… {counted(left, 'more line')}"] if left else []
    return [f"    {line}" for line in (f"{ticks}diff", *lines, ticks, *more)]


MAX_FILES: Final = 20
MAX_LINES: Final = 500
"""Added and removed together."""

SHOWN_PATH_CHARS: Final = 120
ABSENT: Final = "000000"
"""The mode of a file that is not there."""

_ORDINARY: Final = frozenset({ABSENT, "100644", "100755"})
_BINARY: Final = ("GIT binary patch", "Binary files ")
_WHAT: Final = {"ci": "runs the checks themselves", "lock": "is a lock file", "git": "is a file of git's own settings"}
_PORTABLE: Final = re.compile(
    r"(?![~-]|(?:con|prn|aux|nul|(?:com|lpt)[1-9])(?:\.|$))[^\\:*?\"<>|]{1,255}(?<![ .])", re.IGNORECASE
)
"""A printable ASCII name of a file or folder that every system takes, and no program reads as an option."""

_UNSEEN_BREAK: Final = re.compile(r"\r(?!\n|\Z)|[\x85\u2028\u2029]")
"""A line break for some language, and none of a diff; CRLF is one."""


class FixCode(StrEnum):
    """Why no draft pull request was opened."""

    NO_CHANGE = "no-change"
    TOO_LARGE = "too-large"
    OUTSIDE = "outside-the-tree"
    NO_FILE = "no-ordinary-file"
    BINARY = "binary"
    HIDDEN = "hidden-characters"
    SECRET = "secret"  # noqa: S105 - a kind of refusal
    PROTECTED = "protected-path"
    SEVERAL_CODEBASES = "several-codebases"
    DOES_NOT_APPLY = "does-not-apply"
    OUTDATED = "outdated"
    NOT_PUBLISHED = "not-published"
    CHECK_FAILED = "check-failed"
    TEST_PROVES_NOTHING = "test-proves-nothing"
    """Written by earlier releases."""
    NOT_APPROVED = "not-approved"
    HOST = "host"


class PatchRefusal(FrozenValue):
    """Why there is no draft pull request, in a sentence that says what to do."""

    code: FixCode
    text: str


class FixRefused(InputError):
    """No draft pull request is opened; `log` is the end of what a check printed."""

    def __init__(self, code: FixCode, text: str, log: str | None = None) -> None:
        super().__init__(text)
        self.refusal, self.log = PatchRefusal(code=code, text=text), log


class FileChange(NamedTuple):
    """One file that a patch changes, as git says; modes are octal, lines None where the file is binary."""

    path: str
    mode_before: str
    mode: str
    added: int | None
    removed: int | None


class _Protected(NamedTuple):
    ci: Words
    lock: Words
    git: Words


@cache
def _protected() -> _Protected:
    return read_table(__file__, "protected_paths.yml", _Protected)


def check_diff(diff: str) -> None:
    """Raise FixRefused for a diff that git is not given: it would unpack whatever size a binary part names."""
    if not diff.strip():
        raise FixRefused(FixCode.NO_CHANGE, "The patch changes nothing.")
    if len(diff) > MAX_DIFF_CHARS:
        said = f"The patch has {len(diff):,} characters; at most {MAX_DIFF_CHARS:,} are taken. Ask for a smaller one."
        raise FixRefused(FixCode.TOO_LARGE, said)
    if any(line.startswith(_BINARY) for line in diff.split("\n")):
        raise FixRefused(FixCode.BINARY, "The patch changes a binary file; only text is taken.")


def check_changes(
    changes: Sequence[FileChange], added: str, known_secrets: Collection[str], paths: Iterable[str] = ()
) -> None:
    """Raise FixRefused, with the first reason, for what git made of a patch unless it may be proposed.

    Args:
        changes: Every file that differs.
        added: All lines that the patch adds, as text.
        known_secrets: The process's own secret values.
        paths: All files that are there with the patch.
    """
    for code, said in _refusals(changes, added, known_secrets, paths):
        raise FixRefused(code, f"The patch {said}.")


def is_protected(path: str) -> str | None:
    """Return why a patch may not touch a file, in words; None where it may.

    >>> is_protected(".github/workflows/ci.yml"), is_protected("uv.lock"), is_protected("app/x.py")
    ('runs the checks themselves', 'is a lock file', None)
    """
    kinds = (_WHAT[kind] for kind, patterns in _protected()._asdict().items() if _fits(path.casefold(), patterns))
    return next(kinds, None)


def _refusals(
    changes: Sequence[FileChange], added: str, known_secrets: Collection[str], paths: Iterable[str]
) -> Iterator[tuple[FixCode, str]]:
    if not changes:
        yield FixCode.NO_CHANGE, "changes nothing"
    for change in changes:
        yield from _refusals_of(change)
    lines = sum((change.added or 0) + (change.removed or 0) for change in changes)
    if len(changes) > MAX_FILES or lines > MAX_LINES:
        size = f"changes {len(changes):,} files and {lines:,} lines; at most {MAX_FILES} files"
        yield FixCode.TOO_LARGE, f"{size} and {MAX_LINES} lines are taken. Ask for a smaller one"
    if strip_hidden(added)[1]:
        yield FixCode.HIDDEN, "adds characters that nobody sees (directions, zero-width signs)"
    if _UNSEEN_BREAK.search(added):
        yield FixCode.HIDDEN, "adds a line break that a diff does not show (a lone carriage return or the like)"
    if kinds := find_secrets(added, known_secrets):
        yield FixCode.SECRET, f"adds what looks like a secret ({', '.join(kinds)})"
    new = {one.path.casefold(): one.path for one in changes if one.mode_before == ABSENT}
    for path in paths if new else ():
        twin = new.get(path.casefold(), path)
        if twin != path:
            yield FixCode.OUTSIDE, f"adds {_shown(twin)} beside {_shown(path)}, the same file on some systems"


def _refusals_of(change: FileChange) -> Iterator[tuple[FixCode, str]]:
    from bot.domain.search.files import is_secret_file  # here: who reads a patch need not judge it

    shown = _shown(change.path)
    if not _ORDINARY.issuperset((change.mode_before, change.mode)):
        yield FixCode.NO_FILE, f"changes {shown}, a symbolic link or a submodule"
    if change.added is None or change.removed is None:
        yield FixCode.BINARY, f"changes {shown}, a binary file; only text is taken"
    if not change.path.isprintable():
        yield FixCode.OUTSIDE, f"changes {shown}, a name that cannot be shown whole"
    if is_secret_file(change.path):
        yield FixCode.SECRET, f"changes {shown}, whose name says that it holds credentials"
    if why := is_protected(change.path):
        yield FixCode.PROTECTED, f"changes {shown}, which {why}; only people change it"
    if change.mode_before == ABSENT and not (
        change.path.isascii() and all(map(_PORTABLE.fullmatch, change.path.split("/")))
    ):
        yield (
            FixCode.OUTSIDE,
            f"adds {shown}; a new name needs plain letters (ASCII) that every system and program takes",
        )


def _fits(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path, or a file or folder on it, has one of these names."""
    names = (path, *path.split("/"))
    return any(fnmatchcase(name, pattern.casefold()) for pattern in patterns for name in names)


def _shown(path: str) -> str:
    return f"`{one_line(path, SHOWN_PATH_CHARS).replace('`', '')}`"
