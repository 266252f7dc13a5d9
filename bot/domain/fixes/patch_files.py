"""Which files a diff names, and of which codebase: `--- a/shop:src/x.py` is src/x.py of the codebase shop. Pure.

Models see the paths of several codebases with the codebase in front, and write them so, or leave it out. Only the lines
at the head of a file's part are read; what stands there is judged by git later.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

_HEAD: Final = re.compile(r'(--- |\+\+\+ |rename (?:from|to) |copy (?:from|to) |diff --git )("?)')
_OLD: Final = ("--- ", "rename from ", "copy from ")
_ABSENT: Final = "/dev/null"


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


def _name(line: str) -> str:
    """Return the path in a line at the head of a file's part; empty where nobody can tell where one ends."""
    kind = _kind(line)
    name = line[len(kind) :].split("\t")[0].strip()
    if kind == "diff --git ":  # of a change of the mode alone it is the only such line
        half = len(name) // 2
        before, after = name[:half].strip('"'), name[half + 1 :].strip('"')
        return before[2:] if before[2:] == after[2:] else ""
    name = name.strip('"')
    return name.removeprefix("a/").removeprefix("b/") if kind in ("--- ", "+++ ") else name


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
