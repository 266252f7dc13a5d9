"""Earlier answers: approved notes in memory/ and posted replies, nearest first.

Reads `memory/**/*.md` and the journal of replies; adds notes and never replaces one. There are few of them, so they
are compared word by word in memory; notes are read again when one of them changes.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.files import create_file, make_folder
from bot.domain.notes import note_words
from bot.domain.passages import MemoryHit
from bot.domain.ranking import rarity
from bot.domain.tokens import question_stems, text_stems
from bot.errors import StoreError
from bot.ports import Journal

MAX_NOTE_BYTES = 1_000_000
MAX_REPLIES = 2_000
REPLIES_BYTES = 8 * 1024 * 1024
"""How far back the log is read for every question, however long it has become."""
MAX_SAME_NAME = 100
EXCERPT_CHARS = 300
TITLE_CHARS = 120
MIN_SCORE = 0.35
MIN_WORDS = 2

_Signature = tuple[tuple[Path, int, int], ...]


@dataclass(frozen=True, slots=True)
class _Note:
    """One earlier answer and the stems of its words."""

    ref: str
    title: str
    text: str
    stems: frozenset[str]


class MemoryNotes:
    """Port MemoryIndex; a hit's score is the share of the question's words it holds, rare ones weighing more."""

    def __init__(self, memory: Path, replies: Journal) -> None:
        self._memory = memory
        self._replies = replies
        self._lock = threading.Lock()
        self._signature: _Signature | None = None
        self._notes: list[_Note] = []

    def search(self, question: str, *, limit: int = 3) -> list[MemoryHit]:
        """Return the notes and replies nearest to a question, best first; empty when none holds enough of it.

        Raises:
            StoreError: the journal cannot be read.
        """
        stems = question_stems(question)
        notes = [*self._current_notes(), *self._posted()]
        weigh = _weights(stems, notes)
        hits = [
            MemoryHit(ref=note.ref, title=note.title, excerpt=_excerpt(note.text, stems), score=round(score, 4))
            for note in notes
            if (score := weigh(note.stems)) >= MIN_SCORE and len(stems & note.stems) >= min(MIN_WORDS, len(stems))
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.ref))[:limit]

    def add(self, name: str, text: str) -> str:
        """Keep a note under a name nobody has; returns its ref. The same text under the same name is kept once.

        Raises:
            StoreError: the disk refuses, or there are too many notes of that name.
        """
        for number in range(1, MAX_SAME_NAME):
            path = self._memory / (f"{name}.md" if number == 1 else f"{name}-{number}.md")
            try:
                make_folder(self._memory)
                if create_file(path, text) or _holds(path, text):
                    return f"memory/{path.name}"
            except OSError as error:
                raise StoreError(f"cannot save the note {path}: {error.strerror}") from error
        raise StoreError(f"there are too many notes called {name}; tidy memory/ up")

    def _current_notes(self) -> list[_Note]:
        files = sorted(_note_files(self._memory))
        signature = tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in ((p, p.stat()) for p in files))
        with self._lock:
            if signature != self._signature:
                self._notes = [_read(path, self._memory) for path in files]
                self._signature = signature
            return self._notes

    def _posted(self) -> Iterator[_Note]:
        for record in deque(self._replies.records(last_bytes=REPLIES_BYTES), MAX_REPLIES):
            reply, question = str(record.get("reply_text") or ""), str(record.get("question") or "")
            if reply and record.get("thread_id"):
                title = _first_line(question) or _first_line(reply)
                yield _Note(f"reply/{record['thread_id']}", title, reply, text_stems(f"{question} {reply}"))


def _note_files(memory: Path) -> Iterator[Path]:
    """Yield the notes that are plain files below `memory`; links are not followed, very large files not read."""
    for path in memory.rglob("*.md"):
        if path.is_file() and path.resolve().is_relative_to(memory.resolve()) and path.stat().st_size <= MAX_NOTE_BYTES:
            yield path


def _read(path: Path, memory: Path) -> _Note:
    text = note_words(path.read_text(encoding="utf-8", errors="replace"))
    heading = re.search(r"^#+ +(.+)$", text, re.M)
    title = heading[1].strip() if heading else path.stem.replace("-", " ").replace("_", " ")
    ref = f"memory/{path.relative_to(memory).as_posix()}"
    return _Note(ref, title[:TITLE_CHARS], text, text_stems(f"{path.stem} {text}"))


def _holds(path: Path, text: str) -> bool:
    """Whether a note is that very text; a link stands for what lies elsewhere."""
    return not path.is_symlink() and path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text


def _weights(stems: frozenset[str], notes: Sequence[_Note]) -> Callable[[frozenset[str]], float]:
    """Return what tells the share of the question a note's stems cover; a word no note holds weighs most."""
    weights = {stem: 1 + rarity(sum(stem in note.stems for note in notes), len(notes)) for stem in stems}
    whole = sum(weights.values()) or 1.0
    return lambda held: sum(weights[stem] for stem in stems & held) / whole


def _excerpt(text: str, stems: frozenset[str]) -> str:
    """Return the paragraph that holds the most of the question, verbatim, cut at EXCERPT_CHARS."""
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip() and not part.startswith("#")]
    best = max(paragraphs, key=lambda part: len(stems & text_stems(part)), default=text.strip())
    return best[:EXCERPT_CHARS].rstrip()


def _first_line(text: str) -> str:
    return next((line.strip()[:TITLE_CHARS] for line in text.splitlines() if line.strip()), "")
