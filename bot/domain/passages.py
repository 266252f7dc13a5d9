"""What a search over code and memory returns."""

from __future__ import annotations

from dataclasses import dataclass


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
    """What a refresh of the index did; `skipped` counts binary, oversized and undecodable files."""

    commit: str
    files: int
    read: int
    skipped: int
    seconds: float


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
