"""What a proposed patch changes: files, codebases, line ends; and the patch at a glance for people. Pure.

Models see the paths of several codebases with the codebase in front (`--- a/shop:src/x.py`), and write them so, or
leave it out. Only the lines at the head of a file's part are read; what stands there is judged by git later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from bot.domain.returns import ProposedPatch
from bot.domain.secrets import redact
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line, strip_hidden

_HEAD: Final = re.compile(r'(--- |\+\+\+ |rename (?:from|to) |copy (?:from|to) |diff --git )("?)')
_OLD: Final = ("--- ", "rename from ", "copy from ")
_CR: Final = "\r"
_ABSENT: Final = "/dev/null"
_ESCAPE: Final = re.compile(r'\\([0-7]{3}|[abfnrtv"\\])')
_ESCAPED: Final = dict(zip('abfnrtv"\\', b'\a\b\f\n\r\t\v"\\', strict=True))
MAX_DIFF_CHARS: Final = 200_000
"""A longer diff is not taken, and its files are not all named."""

SHOWN_DIFF_CHARS: Final = 20_000
"""Of a diff that is shown; the lines of what is longer are counted."""

MAX_LINE_CHARS: Final = 300
SHOWN_FILES: Final = 3
NAME_CHARS: Final = 120
TITLE_CHARS: Final = 160
_TICKS: Final = re.compile(r"`+")


class LineEnds(StrEnum):
    """How the lines of a file end."""

    LF = "LF"
    CRLF = "CRLF"
    BOTH = "both"


class DiffFile(NamedTuple):
    """A file that a diff names; `codebase` is the id in front of its path, if any."""

    path: str
    codebase: str | None = None
    is_old: bool = True
    """Whether it has to be there before."""


def diff_files(diff: str, ids: Collection[str]) -> tuple[DiffFile, ...]:
    """Return the files that a diff names, each once; `ids` are those of the codebases.

    >>> diff_files("--- a/shop:x.py\\n+++ b/shop:x.py\\n", ["shop", "infra"])
    (DiffFile(path='x.py', codebase='shop', is_old=True), DiffFile(path='x.py', codebase='shop', is_old=False))
    """
    found: dict[DiffFile, None] = {}
    for line in _heads(diff.split("\n")):
        name = _name(line)
        if name and name != _ABSENT:
            before, colon, rest = name.partition(":")
            is_named = bool(colon) and before in ids
            is_old = _kind(line) in _OLD
            found[DiffFile(rest if is_named else name, before if is_named else None, is_old)] = None
    return tuple(found)


def without_codebase(diff: str, codebase: str) -> str:
    """Return a diff whose paths are those inside the codebase, without its id in front.

    >>> without_codebase("--- a/shop:x.py\\n+++ b/shop:x.py\\n@@ -1 +1 @@\\n-shop: a\\n+shop: b\\n", "shop")
    '--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-shop: a\\n+shop: b\\n'
    """
    if not codebase or f"{codebase}:" not in diff:
        return diff
    named = re.compile(rf'(^|[ "])([ab]/)?{re.escape(codebase)}:')
    lines = diff.split("\n")
    heads = set(_head_numbers(lines))
    return "\n".join(
        _kind(line) + named.sub(r"\1\2", line.removeprefix(_kind(line))) if number in heads else line
        for number, line in enumerate(lines)
    )


def line_ends(content: bytes) -> LineEnds:
    """Return how the lines of a file end; a last one without an end does not count.

    >>> line_ends(b"a\\r\\nb"), line_ends(b"a\\nb\\r\\n"), line_ends(b"")
    (<LineEnds.CRLF: 'CRLF'>, <LineEnds.BOTH: 'both'>, <LineEnds.LF: 'LF'>)
    """
    dos, all_ends = content.count(b"\r\n"), content.count(b"\n")
    return LineEnds.LF if not dos else LineEnds.CRLF if dos == all_ends else LineEnds.BOTH


def with_line_ends(diff: str, ends_of: Callable[[str], LineEnds | None]) -> str:
    """Return a diff whose lines end as those of the files that they change: who reads a file sees no CR.

    `ends_of` is asked for the path of each file that was there before; of None and LineEnds.BOTH nothing is changed. A
    diff that is of CRLF lines throughout lost its own line ends on the way.
    """
    lines = diff.removesuffix("\n").split("\n")
    if all(line.endswith("\r") for line in lines if line):
        lines = [line.removesuffix("\r") for line in lines]
    heads, ends, is_hunk = set(_head_numbers(lines)), None, False
    for number, line in enumerate(lines):
        if number in heads:
            is_hunk = False
            if _kind(line) == "--- ":
                name = _name(line)
                ends = ends_of(name) if name and name != _ABSENT else None
        elif line.startswith("@@ "):
            is_hunk = True
        elif is_hunk and line[:1] in ("", " ", "+", "-", _CR):
            has_end = not "".join(lines[number + 1 : number + 2]).startswith("\\ ")
            if ends is LineEnds.CRLF and has_end:
                lines[number] = f"{line.removesuffix(_CR) or ' '}{_CR}"
            elif ends is LineEnds.LF:
                lines[number] = line.removesuffix("\r")
    return "\n".join([*lines, ""])


def _name(line: str) -> str:
    """Return the path in a line at the head of a file's part; empty where nobody can tell where one ends."""
    kind = _kind(line)
    name = line[len(kind) :].split("\t")[0].strip()
    if name.startswith('"') and name.endswith('"') and kind != "diff --git ":
        name = _unquoted(name[1:-1])
    if kind == "diff --git ":  # of a change of the mode alone it is the only such line
        half = len(name) // 2
        before, after = name[:half].strip('"'), name[half + 1 :].strip('"')
        return before[2:] if before[2:] == after[2:] else ""
    return name.removeprefix("a/").removeprefix("b/") if kind in ("--- ", "+++ ") else name


def _unquoted(name: str) -> str:
    """Return a name that git has put in quotes, as it does with letters beyond ASCII."""
    if not name.isascii():
        return name
    parts = _ESCAPE.split(name)
    raw = b"".join(
        part.encode() if number % 2 == 0 else bytes([_ESCAPED.get(part) or int(part, 8) & 0xFF])
        for number, part in enumerate(parts)
    )
    return raw.decode("utf-8", "replace")


def _heads(lines: list[str]) -> Iterator[str]:
    return (lines[number] for number in _head_numbers(lines))


def _head_numbers(lines: list[str]) -> Iterator[int]:
    """Yield the lines at the head of a file's part; a removed line may look like one, but has no partner beside it."""
    for number, line in enumerate(lines):
        kind = _kind(line)
        if kind == "--- ":
            is_head = lines[number + 1 : number + 2] != [] and lines[number + 1].startswith("+++ ")
        elif kind == "+++ ":
            is_head = number > 0 and lines[number - 1].startswith("--- ")
        else:
            is_head = bool(kind)
        if is_head:
            yield number


def _kind(line: str) -> str:
    match = _HEAD.match(line)
    return match[1] if match else ""


class PatchFacts(NamedTuple):
    """What a unified diff says it changes."""

    files: tuple[str, ...]
    added: int
    removed: int


def patch_facts(diff: str) -> PatchFacts:
    """Return the files of a diff, each once, and how many lines it adds and removes.

    >>> patch_facts("--- a/x.py\\n+++ b/x.py\\n@@ -1 +1,2 @@\\n-a = 1\\n+a = 2\\n+b = 3\\n")
    PatchFacts(files=('x.py',), added=2, removed=1)
    """
    lines = diff[:MAX_DIFF_CHARS].split("\n")
    heads = set(_head_numbers(lines))
    names = (_name(lines[number]) for number in sorted(heads))
    changed = [line[:1] for number, line in enumerate(lines) if number not in heads]
    files = dict.fromkeys(name for name in names if name and name != _ABSENT)
    return PatchFacts(tuple(files), changed.count("+"), changed.count("-"))


def patch_summary(patch: ProposedPatch, known_secrets: Collection[str] = ()) -> str:
    """Return a patch in one line of plain text: `Raise the limit · app/retry.py · +1 −1 lines`."""
    facts = patch_facts(patch.diff)
    names = [one_line(name, NAME_CHARS) for name in facts.files[:SHOWN_FILES]]
    more = [f"{len(facts.files) - SHOWN_FILES} more"] if len(facts.files) > SHOWN_FILES else []
    where = ", ".join([*names, *more]) or "no file named"
    title = one_line(patch.title, TITLE_CHARS) or "no title"
    return redact(f"{title} · {where} · +{facts.added} −{facts.removed} lines", known_secrets)


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
