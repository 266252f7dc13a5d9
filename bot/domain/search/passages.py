"""How a file is cut into passages, what a search over code and memory returns, and which lines are worth quoting. Pure.

A file is cut into chunks of about 10 to 40 lines along its definitions, headings and blank lines. Chunks never overlap,
and each one knows the names it stands under: those of its own definitions and of the class, function or section that
encloses its first line. Lines that would leave their code fence or hold a credential are never chosen.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.domain.search.tokens import shared_stems
from bot.domain.secrets import find_secrets
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line

MIN_LINES = 8
SOFT_LINES = 24
MAX_LINES = 40
PATH_CHARS: Final = 80

_DEFINITION = re.compile(
    r"""^(?P<indent>\s*+)(?:
      (?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\(\w+\))?|unsafe|inline
          |open|override|sealed|data|suspend|const|declare)\s+)*
      (?:def|class|func|function\*?|fn|interface|struct|enum|trait|impl|type|module|namespace|object|protocol|fun|macro)
      \s+(?:\([^)]*\)\s*)?(?:self\.)?(?P<name>[A-Za-z_$][\w$]*[?!]?)(?=\s*(?:[(:{<\[=;|]|$|extends|implements|where|for|struct|interface|func|map))
    | (?:export\s+)?(?:const|let|var)\s+(?P<bound>[A-Za-z_$][\w$]*)\s*(?::[^=]+)?=\s*(?:async\s*)?
      (?:function|\(|\w+\s*=>)
    | (?P<constant>[A-Z][A-Z0-9_]{2,})\s*(?::[^=]+)?=
    | \.\.\s+(?:[a-z]+:)?(?:data|function|class|method|attribute|option|exception|decorator|envvar|module)::
      \s*(?P<directive>[\w.]+)
    | (?i:create\s+(?:or\s+replace\s+)?(?:table|view|function|index|procedure)\s+(?:if\s+not\s+exists\s+)?)
      (?P<sql>[\w."]+)
    | \[(?P<section>[\w.:\ "-]+)\]\s*$
    )""",
    re.VERBOSE,
)
_C_FUNCTION = re.compile(r"^[A-Za-z_][\w:*&<>,\s]*[\s*&]([A-Za-z_][\w:~]*)\([^;]*$")
_ATTACHED = re.compile(r"\s*(?:@|#|//|/?\*|--|\[\[?\w)")
_MARKDOWN_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*$")
_UNDERLINE = re.compile(r"([=\-~^\"'#*+`.:])\1{2,}\s*$")

FIRST_LINE = 0.4
AFTER_BLANK = 0.2
REPEATED = 0.25

_IMPORT = re.compile(r"\s*(?:import\b|from\s+\S+\s+import\b|#include\b|use\s+[\w:]+::|(?:const|var)\s.*require\()")
_UNQUOTABLE = re.compile(r"```|\[redacted\b", re.I)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines `start` to `end` (1-based, inclusive) and the names they stand under."""

    start: int
    end: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Mark:
    """A definition or heading: its line (0-based), its indentation and its name."""

    line: int
    indent: int
    name: str


def split_into_chunks(lines: Sequence[str], *, prose: bool = False) -> list[Chunk]:
    """Return the passages of a file, in order; blank ones are left out.

    >>> split_into_chunks(["def one():", "    return 1"])
    [Chunk(start=1, end=2, names=('one',))]
    """
    marks = _headings(lines) if prose else _definitions(lines)
    ends = [*_cuts(lines, {first_attached(lines, mark.line) for mark in marks}), len(lines)]
    starts = [0, *ends[:-1]]
    enclosing = _enclosing(marks)
    return [
        _chunk(lines, start, end, marks, enclosing)
        for start, end in zip(starts, ends, strict=True)
        if any(line.strip() for line in lines[start:end])
    ]


def _cuts(lines: Sequence[str], boundaries: set[int]) -> list[int]:
    """Return the lines before which to cut: boundaries once a passage is long enough, blank lines, then anywhere."""
    cuts: list[int] = []
    start = 0
    for at in range(1, len(lines)):
        length = at - start
        at_boundary = at in boundaries and length >= MIN_LINES
        at_blank = length >= SOFT_LINES and not lines[at - 1].strip()
        if (at_boundary or at_blank or length >= MAX_LINES) and len(lines) - at >= MIN_LINES // 2:
            cuts.append(at)
            start = at
    return cuts


def _chunk(lines: Sequence[str], start: int, end: int, marks: Sequence[_Mark], enclosing: Sequence[int]) -> Chunk:
    while not lines[start].strip():
        start += 1
    while not lines[end - 1].strip():
        end -= 1
    first, last = (bisect_left(marks, line, key=lambda mark: mark.line) for line in (start, end))
    inside = [mark.name for mark in marks[first:last]]
    names = (*_scope(marks, enclosing, first - 1, _indent(lines[start])), *inside)
    return Chunk(start + 1, end, tuple(dict.fromkeys(names)))


def _enclosing(marks: Sequence[_Mark]) -> list[int]:
    """Return for each mark the number of the nearest one above that is indented less; -1 where there is none."""
    found: list[int] = []
    for at, mark in enumerate(marks):
        above = at - 1
        while above >= 0 and marks[above].indent >= mark.indent:
            above = found[above]
        found.append(above)
    return found


def _scope(marks: Sequence[_Mark], enclosing: Sequence[int], above: int, limit: int) -> list[str]:
    """Return the names enclosing a line, outermost first: the nearest mark above of each indentation below `limit`.

    `above` is the number of the last mark above the line.
    """
    scope: list[str] = []
    while above >= 0 and limit >= 0:
        mark = marks[above]
        if mark.indent < limit:
            scope.insert(0, mark.name)
            limit = mark.indent
        above = enclosing[above]
    return scope


def _definitions(lines: Sequence[str]) -> list[_Mark]:
    marks = []
    for at, line in enumerate(lines):
        found = _DEFINITION.match(line) or (_C_FUNCTION.match(line) if "(" in line else None)
        name = next((group for group in found.groups()[-1::-1] if group and group.strip()), "") if found else ""
        if name:
            marks.append(_Mark(at, _indent(line), name))
    return marks


def _headings(lines: Sequence[str]) -> list[_Mark]:
    """Return Markdown and reStructuredText headings and directives; a heading encloses all that follows it."""
    marks = []
    for at, line in enumerate(lines):
        found = _MARKDOWN_HEADING.match(line)
        if found:
            marks.append(_Mark(at, -1, found[1]))
        elif at and lines[at - 1].strip() and _UNDERLINE.fullmatch(line) and not _UNDERLINE.fullmatch(lines[at - 1]):
            marks.append(_Mark(at - 1, -1, lines[at - 1].strip()))
        elif (directive := _DEFINITION.match(line)) and directive["directive"]:
            marks.append(_Mark(at, 0, directive["directive"]))
    return marks


def first_attached(lines: Sequence[str], at: int) -> int:
    """Return the first of the decorator and comment lines that stand directly above line `at` (both from 0)."""
    while at and _ATTACHED.match(lines[at - 1]) and lines[at - 1].strip():
        at -= 1
    return at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


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


def best_lines(lines: Sequence[str], stems: frozenset[str], size: int) -> tuple[int, int] | None:
    """Return the run of at most `size` lines (0-based, end excluded) that answers best; None if none does.

    >>> best_lines(["def a():", "    pass", "", "def retry():", "    wait()"], frozenset({"retr", "wait"}), 2)
    (3, 5)
    >>> best_lines(["def retry():", "    wait()", "", "@property"], frozenset({"retr", "wait"}), 4)
    (0, 2)
    """
    found = [frozenset() if is_import(line) else shared_stems(stems, line) for line in lines]
    counts = Counter(stem for line in found for stem in line)
    windows = [_trimmed(lines, start, min(start + size, end)) for start, end in _quotable_from(lines)]
    telling = [window for window in windows if any(found[slice(*window)])]
    ranked = sorted(telling, key=lambda window: (-_worth(lines, found, counts, *window), window))
    return next((window for window in ranked if is_quotable("\n".join(lines[slice(*window)]))), None)


def _quotable_from(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield, for each line a quote may start with, the line and the end of what may follow it."""
    safe = not find_secrets("\n".join(lines))
    end = len(lines)
    for at in range(len(lines) - 1, -1, -1):
        if _UNQUOTABLE.search(lines[at]) or not (safe or is_quotable(lines[at] or "-")):
            end = at
        elif lines[at].strip():
            yield at, end


def _trimmed(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Return a run without blank lines and decorators at its end, which belong to what follows."""
    while end > start + 1 and (not (last := lines[end - 1].strip()) or last.startswith("@")):
        end -= 1
    return start, end


def _worth(lines: Sequence[str], found: Sequence[frozenset[str]], counts: Counter[str], start: int, end: int) -> float:
    """Return how much lines `start` to `end` say: distinct words most, repeated ones a little, a clean start a bit."""
    distinct = len(frozenset().union(*found[start:end]))
    repeated = sum(1 / counts[stem] for line in found[start:end] for stem in line)
    opening = FIRST_LINE if start == 0 else AFTER_BLANK if not lines[start - 1].strip() else 0.0
    return distinct + REPEATED * repeated + opening


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
    """A commit whose message holds words of a question; `authored_at` is aware, `score` as in `Passage`."""

    id: str
    author: str
    authored_at: datetime
    subject: str
    score: float


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
        kinds = (
            (self.unreadable, "file", " that git cannot read"),
            (self.lfs, "file", " whose text is in Git LFS only"),
            (self.submodules, "submodule", ""),
            (self.oversized, "file", " over 1 MB"),
            (self.history, "history", " that git cannot list"),
        )
        parts = [_named(paths, what, why) for paths, what, why in kinds if paths]
        if self.waiting:
            parts.insert(0, f"{self.waiting:,} of {self.total:,} files, because the index is not finished")
        return "; ".join(parts)

    def progress(self) -> str:
        """Return how far the index is; empty where it is finished.

        >>> IndexGaps(waiting=38_000, total=50_000).progress(), IndexGaps(total=50_000).progress()
        ('12,000 of 50,000 files indexed', '')
        """
        return f"{self.total - self.waiting:,} of {self.total:,} files indexed" if self.waiting else ""


NO_GAPS: Final = IndexGaps()


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
    gaps: IndexGaps = NO_GAPS


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
