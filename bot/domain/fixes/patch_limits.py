"""What a patch may change before anybody opens a pull request with it: which files, of what kind, how much.

Judged by what git made of the patch, never by its text: a patch is text of a model that read hostile messages. Git
itself refuses paths that lead out of the tree or into .git. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Final, NamedTuple

from bot.domain.fixes.patch_files import MAX_DIFF_CHARS
from bot.domain.frozen_value import FrozenValue
from bot.domain.secrets import find_secrets
from bot.domain.tables import Words, read_table
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.errors import InputError

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
