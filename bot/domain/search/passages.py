"""What a search over code and memory returns, and which lines of it are worth quoting. Pure.

Lines that would leave their code fence, alert a channel, or hold a credential are never chosen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.domain.search.index_gaps import NO_GAPS, IndexGaps
from bot.domain.search.tokens import shared_stems
from bot.domain.secrets import find_secrets

FIRST_LINE = 0.4
AFTER_BLANK = 0.2
REPEATED = 0.25

_IMPORT = re.compile(r"\s*(?:import\b|from\s+\S+\s+import\b|#include\b|use\s+[\w:]+::|(?:const|var)\s.*require\()")
_UNQUOTABLE = re.compile(r"```|@(?:channel|here|everyone)\b|<!|\[redacted\b", re.I)


def is_quotable(text: str) -> bool:
    """Whether a text may stand in a code fence of a reply.

    >>> is_quotable("return 1"), is_quotable("```"), is_quotable("print('@here')")
    (True, False, False)
    """
    return bool(text.strip()) and not _UNQUOTABLE.search(text) and not find_secrets(text)


def best_lines(lines: Sequence[str], stems: frozenset[str], size: int) -> tuple[int, int] | None:
    """Return the run of at most `size` lines (0-based, end excluded) that answers best; None if none does.

    >>> best_lines(["def a():", "    pass", "", "def retry():", "    wait()"], frozenset({"retr", "wait"}), 2)
    (3, 5)
    """
    found = [frozenset() if _IMPORT.match(line) else shared_stems(stems, line) for line in lines]
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
    while end > start + 1 and not lines[end - 1].strip():
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

    `caution` is what to know before relying on it, in words of ours, or empty; `doubt` the part of it that tells of
    changed lines. A lesson tells what people made of a
    draft; neither it nor a note whose lines of code have changed `is_settled`, that is counts as an answer.
    """

    ref: str
    title: str
    excerpt: str
    score: float
    caution: str = ""
    doubt: str = ""
    is_lesson: bool = False
    is_settled: bool = True
