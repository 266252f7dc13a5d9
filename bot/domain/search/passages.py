"""How a file is cut into passages, and what a search over code and memory returns. Pure.

A definition with its comments and decorators is one passage; a long one is divided by what is defined in it, else at
blank lines; what stands between definitions is one passage, too. Prose is divided by its headings. Each passage knows
the names it stands under.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.secrets import find_secrets
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line

MIN_LINES = 8
"""Shorter passages are joined with their neighbours."""

SOFT_LINES = 24
MAX_LINES = 48
MAX_DEPTH = 4
"""What is defined deeper belongs to what it is defined in."""

PATH_CHARS: Final = 80

_ATTACHED = re.compile(r"\s*(?:@|#|//|/?\*|--|\[\[?\w)")
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$|\.\.\s+(?:[a-z]+:)?[a-z]+::\s*(?P<directive>[\w.]+)\s*(?:\(.*)?$")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_UNDERLINE = re.compile(r"([=\-~^\"'#*+`.:])\1{2,}\s*$")

_IMPORT = re.compile(r"\s*(?:import\b|from\s+\S+\s+import\b|#include\b|use\s+[\w:]+::|(?:const|var)\s.*require\()")
_UNQUOTABLE = re.compile(r"```|\[redacted\b", re.I)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines `start` to `end` (1-based, inclusive), the names that they define, and those that they stand under."""

    start: int
    end: int
    names: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()


def split_into_chunks(lines: Sequence[str], defined: Sequence[Definition] = (), *, prose: bool = False) -> list[Chunk]:
    """Return the passages of a file, in order; blank ones are left out. `defined` is what `definitions_in` returned.

    >>> split_into_chunks(["def f():", "    return 1"], [Definition("f", "", "a.py", 1, 2, DefinitionKind.FUNCTION)])
    [Chunk(start=1, end=2, names=('f',), scope=())]
    """
    parts = sections(lines) if prose else _parts(lines, defined)
    found = _divided(lines, Chunk(0, len(lines)), parts, 0)
    chunks = []
    for one in _joined(found):
        filled = [at for at in range(one.start, one.end) if lines[at].strip()]
        if filled:
            chunks.append(replace(one, start=filled[0] + 1, end=filled[-1] + 1))
    return chunks


def _parts(lines: Sequence[str], defined: Sequence[Definition]) -> list[Chunk]:
    """Return the definitions that are worth a passage, with what is attached above them."""
    return [
        Chunk(first_attached(lines, one.line - 1), one.end, (one.name,))
        for one in defined
        if one.kind is not DefinitionKind.VALUE or one.end - one.line >= MIN_LINES
    ]


def sections(lines: Sequence[str]) -> list[Chunk]:
    """Return the sections of Markdown and reStructuredText, each from its heading (from 0) to the next one."""
    heads: list[tuple[int, str]] = []
    in_code = False
    for at, line in enumerate(lines):
        in_code ^= _FENCE.match(line) is not None
        found = None if in_code else _HEADING.match(line)
        if found:
            heads.append((at, found[2] or found["directive"]))
        elif at and lines[at - 1].strip() and _UNDERLINE.fullmatch(line) and not _UNDERLINE.fullmatch(lines[at - 1]):
            heads.append((at - 1, lines[at - 1].strip()))
    ends = [at for at, _ in heads[1:]] + [len(lines)]
    return [Chunk(at, end, (name,)) for (at, name), end in zip(heads, ends, strict=False)]


def _divided(lines: Sequence[str], whole: Chunk, parts: Sequence[Chunk], depth: int) -> Iterator[Chunk]:
    """Yield the pieces of some lines (here 0-based, the end excluded): its parts, and what stands between them."""
    at, number, names = whole.start, 0, whole.names
    inside = (*whole.scope, *whole.names)
    while number < len(parts):
        part = parts[number]
        number += 1
        inner = []
        while number < len(parts) and parts[number].start < part.end:
            inner.append(parts[number])
            number += 1
        start, end = max(part.start, at), min(part.end, whole.end)
        if start < end:
            yield from _pieces(lines, Chunk(at, start, names, inside))
            if end - start <= MAX_LINES or not inner or depth == MAX_DEPTH:
                yield from _pieces(lines, Chunk(start, end, (*part.names, *(each.names[0] for each in inner)), inside))
            else:
                yield from _divided(lines, Chunk(start, end, part.names, inside), inner, depth + 1)
            at, names = end, ()
    yield from _pieces(lines, Chunk(at, whole.end, names, inside))


def _pieces(lines: Sequence[str], one: Chunk) -> Iterator[Chunk]:
    """Yield lines in pieces of at most MAX_LINES, cut at a blank line where there is one."""
    start = one.start
    while one.end - start > MAX_LINES:
        blank = (at for at in range(start + MAX_LINES, start + SOFT_LINES, -1) if not lines[at - 1].strip())
        end = next(blank, start + MAX_LINES)
        yield replace(one, start=start, end=end)
        start = end
    if start < one.end:
        yield replace(one, start=start)


def _joined(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Return the chunks, those that are too short by themselves joined with the next; the last one with that before."""
    found: list[Chunk] = []
    for one in chunks:
        is_short = found and found[-1].end - found[-1].start < MIN_LINES
        found.append(_both(found.pop(), one) if is_short else one)
    if len(found) > 1 and found[-1].end - found[-1].start < MIN_LINES:
        last = found.pop()
        found.append(_both(found.pop(), last))
    return found


def _both(one: Chunk, other: Chunk) -> Chunk:
    names, scope = (tuple(dict.fromkeys(each)) for each in ((*one.names, *other.names), (*one.scope, *other.scope)))
    return Chunk(one.start, other.end, names, scope)


def first_attached(lines: Sequence[str], at: int, *, after: int = 0) -> int:
    """Return the first of the decorator and comment lines directly above line `at`, from `after` on (all from 0)."""
    while at > after and _ATTACHED.match(lines[at - 1]) and lines[at - 1].strip():
        at -= 1
    return at


def is_quotable(text: str) -> bool:
    """Whether a text may stand in a code fence of a reply.

    >>> is_quotable("return 1"), is_quotable("```"), is_quotable("print('@here')")
    (True, False, True)
    """
    return bool(text.strip()) and not _UNQUOTABLE.search(text) and not find_secrets(text)


def is_import(line: str) -> bool:
    """Whether a line imports something; of one over several lines only the first is told.

    >>> is_import("from shop import pay"), is_import("pay(import_id)")
    (True, False)
    """
    return _IMPORT.match(line) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A run of lines of one tracked file at one commit; `text` is those lines verbatim, joined by newlines.

    `start` and `end` are 1-based and inclusive; `score` grows with relevance and is comparable only within one search.
    """

    path: str
    start: int
    end: int
    text: str
    commit: str
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitHit:
    """A commit whose message holds words of a question; `authored_at` is aware, `score` as in `Passage`.

    `message` is as it may be shown, whole lines up to 1,000 characters.
    """

    sha: str
    author: str
    authored_at: datetime
    message: str
    score: float

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]

    @property
    def date(self) -> str:
        """The day it was written where its author was, yyyy-mm-dd."""
        return self.authored_at.date().isoformat()


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexGaps:
    """Paths from the top: what git cannot read, what Git LFS keeps elsewhere, repositories of their own, large files.

    `history` has the commit whose messages git cannot list, if that is so.
    `waiting` of `total` files are not in the index yet, because it is still being built.

    >>> IndexGaps(unreadable=("a.py", "b.py"), submodules=("lib",)).words()
    '2 files that git cannot read, such as a.py; 1 submodule, lib'
    """

    unreadable: tuple[str, ...] = ()
    lfs: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()
    oversized: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    waiting: int = 0
    total: int = 0

    def words(self) -> str:
        """Return what was not searched as one line; empty where nothing is missing."""
        parts = [_named(paths, *words) for kind, words in GAP_WORDS.items() if (paths := getattr(self, kind))]
        if self.waiting:
            parts.insert(0, f"{self.waiting:,} of {self.total:,} files, because the index is not finished")
        return "; ".join(parts)


GAP_WORDS: Final = {
    "unreadable": ("file", " that git cannot read"),
    "lfs": ("file", " whose text is in Git LFS only"),
    "submodules": ("submodule", ""),
    "oversized": ("file", " over 1 MB"),
    "history": ("history", " that git cannot list"),
}
"""What each kind of gap is called, and what is said behind that."""


def _named(paths: Sequence[str], what: str, why: str) -> str:
    example = "such as " * (len(paths) > 1) + one_line(paths[0], PATH_CHARS)
    return f"{counted(len(paths), what)}{why}, {example}"


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexReport:
    """What a refresh of the index did; `skipped` counts binary, oversized and undecodable files.

    `gaps` names what might hold an answer and is not searched.
    """

    commit: str
    files: int
    read: int
    skipped: int
    seconds: float
    gaps: IndexGaps = IndexGaps()


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryHit:
    """An earlier answer: `ref` is `memory/<file>.md` or `reply/<thread_id>`, `excerpt` at most 300 characters.

    `caution` is what to know before relying on it, in words of ours, or empty. One whose lines of code have changed is
    not `is_settled`: it counts as no answer.
    """

    ref: str
    title: str
    excerpt: str
    score: float
    caution: str = ""
    is_settled: bool = True
