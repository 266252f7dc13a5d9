"""What a patch may change before anybody opens a pull request with it: which files, of what kind, how much.

Judged twice: by the names and signs in the diff before git reads it, then by what git made of it, which counts. Pure;
a patch is text of a model that read hostile messages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from bot.domain.fixes.patch_files import MAX_DIFF_CHARS, diff_files
from bot.domain.frozen_value import FrozenValue
from bot.domain.search.files import is_secret_file
from bot.domain.secrets import find_secrets
from bot.domain.tables import Words, read_table
from bot.domain.text.sanitize import one_line, strip_hidden

MAX_FILES: Final = 20
MAX_LINES: Final = 500
"""Added and removed together."""

MAX_PATH_CHARS: Final = 500
MAX_NAME_BYTES: Final = 255
SHOWN_PATH_CHARS: Final = 120
ABSENT: Final = "000000"
"""The mode of a file that is not there."""

_ORDINARY: Final = frozenset({ABSENT, "100644", "100755"})
_BINARY: Final = ("GIT binary patch", "Binary files ")
_KIND_WORDS: Final = {"120000": "a symbolic link", "160000": "a submodule"}

_WHAT: Final = {"ci": "runs the checks themselves", "lock": "is a lock file", "git": "is a file of git's own settings"}
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{kind}{number}" for kind in ("com", "lpt") for number in range(1, 10))}
)
"""What Windows takes for devices, whatever follows behind a dot."""

_UNSEEN_BREAK: Final = re.compile(r"\r(?!\n|\Z)|[\x85\u2028\u2029]")
"""A line break for some language, and none of a diff; CRLF is one."""

_MIXED: Final = "mixes the letters of two alphabets in one word, so its name can be read as another"
_ALIKE: Final = frozenset({"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "GREEK", "LISU"})
"""Alphabets some of whose letters look like Latin ones, as the first word of their letters' Unicode names."""

_LATIN_ALIKE: Final = str.maketrans("\u0131\u0269\u0261", "iig")
"""Latin letters without a dot or a tail, which no normal form makes plain."""


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
    NOT_APPROVED = "not-approved"
    HOST = "host"


class PatchRefusal(FrozenValue):
    """Why there is no draft pull request, in a sentence that says what to do."""

    code: FixCode
    text: str


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


_PROTECTED: Final = read_table(__file__, "protected_paths.yml", _Protected)


def refuse_diff(diff: str) -> PatchRefusal | None:
    """Return why a diff is not even handed to git; None where nothing in its text speaks against it.

    >>> refuse_diff("--- a/../x\\n+++ b/../x\\n@@ -1 +1 @@\\n-a\\n+b\\n").code
    <FixCode.OUTSIDE: 'outside-the-tree'>
    """
    if not diff.strip():
        return PatchRefusal(code=FixCode.NO_CHANGE, text="The patch changes nothing.")
    if len(diff) > MAX_DIFF_CHARS:
        said = f"The patch has {len(diff):,} characters; at most {MAX_DIFF_CHARS:,} are taken. Ask for a smaller one."
        return PatchRefusal(code=FixCode.TOO_LARGE, text=said)
    if any(line.startswith(_BINARY) for line in diff.split("\n")):
        return PatchRefusal(code=FixCode.BINARY, text="The patch changes a binary file; only text is taken.")
    return next(filter(None, (_refuse_place(file.path) for file in diff_files(diff, ()))), None)


def refuse_changes(changes: Sequence[FileChange], added: str, known_secrets: Collection[str]) -> PatchRefusal | None:
    """Return why what git made of a patch is not taken, the first reason; None where it may be proposed.

    Args:
        changes: Every file that differs.
        added: All lines that the patch adds, as text.
        known_secrets: The process's own secret values.
    """
    return next(_refusals(changes, added, known_secrets), None)


def refuse_twins(changes: Iterable[FileChange], paths: Iterable[str]) -> PatchRefusal | None:
    """Return why a new file is not taken beside others: some systems take its name for that of one of them.

    Args:
        changes: Every file that differs.
        paths: All files that are there with the patch.
    """
    new = {_folded(one.path): one.path for one in changes if one.mode_before == ABSENT}
    for path in paths if new else ():
        twin = new.get(_folded(path), path)
        if twin != path:
            said = f"The patch adds {_shown(twin)} beside {_shown(path)}, which is the same file on some systems."
            return PatchRefusal(code=FixCode.OUTSIDE, text=said)
    return None


def is_protected(path: str) -> str | None:
    """Return why a patch may not touch a file, in words; None where it may.

    >>> is_protected(".github/workflows/ci.yml"), is_protected("uv.lock"), is_protected("app/x.py")
    ('runs the checks themselves', 'is a lock file', None)
    """
    read = _as_read(path)
    kinds = (_WHAT[kind] for kind, patterns in _PROTECTED._asdict().items() if _fits(read, patterns))
    return next(kinds, _MIXED if _mixes_alphabets(path) else None)


def _refusals(changes: Sequence[FileChange], added: str, known_secrets: Collection[str]) -> Iterator[PatchRefusal]:
    if not changes:
        yield PatchRefusal(code=FixCode.NO_CHANGE, text="The patch changes nothing.")
    for change in changes:
        yield from filter(None, (_refuse_place(change.path), _refuse_kind(change), _refuse_name(change.path)))
        if change.mode_before == ABSENT and any(map(_is_unportable, change.path.split("/"))):
            said = f"The patch adds {_shown(change.path)}, a name that not every system or program takes as it is."
            yield PatchRefusal(code=FixCode.OUTSIDE, text=said)
    lines = sum((change.added or 0) + (change.removed or 0) for change in changes)
    if len(changes) > MAX_FILES or lines > MAX_LINES:
        said = (
            f"The patch changes {len(changes):,} files and {lines:,} lines; at most {MAX_FILES} files "
            f"and {MAX_LINES} lines are taken. Ask for a smaller one."
        )
        yield PatchRefusal(code=FixCode.TOO_LARGE, text=said)
    if strip_hidden(added)[1]:
        said = "The patch adds characters that nobody sees (directions, zero-width signs), so it is not what it shows."
        yield PatchRefusal(code=FixCode.HIDDEN, text=said)
    if _UNSEEN_BREAK.search(added):
        said = "The patch adds a line break that a diff does not show (a lone carriage return or the like)."
        yield PatchRefusal(code=FixCode.HIDDEN, text=said)
    if kinds := find_secrets(added, known_secrets):
        said = f"The patch adds what looks like a secret ({', '.join(kinds)})."
        yield PatchRefusal(code=FixCode.SECRET, text=said)


def _refuse_place(path: str) -> PatchRefusal | None:
    """Refuse a path that leads out of the tree or into .git, or that a person could not read."""
    parts = path.replace("\\", "/").split("/")
    leads_out = path.startswith(("/", "\\", "~")) or ".." in parts or ":" in parts[0]
    if leads_out or any(_as_read(part).rstrip(". ") in (".git", "git~1") for part in parts):
        said = f"The patch names {_shown(path)}, which is not a file of the codebase."
        return PatchRefusal(code=FixCode.OUTSIDE, text=said)
    if len(path) > MAX_PATH_CHARS or not path.isprintable():
        return PatchRefusal(
            code=FixCode.OUTSIDE, text=f"The patch names {_shown(path)}, a name that cannot be shown whole."
        )
    return None


def _refuse_kind(change: FileChange) -> PatchRefusal | None:
    for mode in (change.mode_before, change.mode):
        if mode not in _ORDINARY:
            said = f"The patch changes {_shown(change.path)}, {_KIND_WORDS.get(mode, 'no ordinary file')}."
            return PatchRefusal(code=FixCode.NO_FILE, text=said)
    if change.added is None or change.removed is None:
        said = f"The patch changes {_shown(change.path)}, a binary file; only text is taken."
        return PatchRefusal(code=FixCode.BINARY, text=said)
    return None


def _refuse_name(path: str) -> PatchRefusal | None:
    if is_secret_file(path):
        said = f"The patch changes {_shown(path)}, whose name says that it holds credentials."
        return PatchRefusal(code=FixCode.SECRET, text=said)
    why = is_protected(path)
    if why is None:
        return None
    said = f"The patch changes {_shown(path)}, which {why}; only people change it."
    return PatchRefusal(code=FixCode.PROTECTED, text=said)


def _fits(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path fits one of the patterns: without a slash one means a file or folder anywhere."""
    whole = path.casefold()
    parts = whole.split("/")
    for pattern in map(str.casefold, patterns):
        if fnmatchcase(whole, pattern) if "/" in pattern else any(fnmatchcase(part, pattern) for part in parts):
            return True
    return False


def _is_unportable(name: str) -> bool:
    """Whether some systems cannot hold a file of this name, or programs read it as an option."""
    is_device = name.partition(".")[0].casefold() in _DEVICES
    return is_device or name[:1] == "-" or name[-1:] in (" ", ".") or len(name.encode()) > MAX_NAME_BYTES


def _folded(path: str) -> str:
    """Return a path as systems read it that know no case and one form of each letter."""
    return unicodedata.normalize("NFC", path).casefold()


def _as_read(name: str) -> str:
    """Return a name in plain small letters: wide and accented ones, in any normal form, as those they look like."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign)).translate(_LATIN_ALIKE).casefold()


def _mixes_alphabets(path: str) -> bool:
    """Whether a word of a path has Latin letters and such as look like them."""
    words = "".join(sign if sign.isalpha() else " " for sign in path).split()
    for word in words:
        alphabets = {unicodedata.name(sign, "").partition(" ")[0] for sign in word}
        if "LATIN" in alphabets and not _ALIKE.isdisjoint(alphabets):
            return True
    return False


def _shown(path: str) -> str:
    return f"`{one_line(path, SHOWN_PATH_CHARS).replace('`', '')}`"
