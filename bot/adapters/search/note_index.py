"""Earlier answers: approved notes in memory/ and posted replies, nearest first.

Reads the notes and the journal of replies. There are few of them, so they are compared word by word in memory. What
comes back is looked up in the codebase first: a note or reply whose lines have changed says so, and comes after its
equals.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from bot.domain.notes import TITLE_CHARS, NoteCitation, StaleCitations, cites_of, paragraphs, stale_lines_notice
from bot.domain.returns import evidence_in
from bot.domain.search.passages import MemoryHit
from bot.domain.search.tokens import question_stems, rarity, text_stems
from bot.errors import StoreError, TriageError
from bot.ports import Journal, NoteStore

MAX_REPLIES = 2_000
MAX_SAME_NAME = 100
REPLIES_BYTES = 8 * 1024 * 1024
"""How far back the log is read for every question, however long it has become."""

EXCERPT_CHARS = 300
MIN_SCORE = 0.35
MIN_WORDS = 2
STALE_WEIGHT = 0.5
SPARE = 5
"""How many more hits are looked up than asked for, since some fall behind."""

Stale = Callable[[Sequence[NoteCitation]], StaleCitations]
"""Returns those citations whose lines do not stand; raises TriageError where nobody can tell."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One earlier answer and the stems of its words."""

    ref: str
    title: str
    text: str
    stems: frozenset[str]
    kept_cites: tuple[NoteCitation, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    """A reply's line in the log; its citations are read only once it is near enough."""

    @property
    def cites(self) -> tuple[NoteCitation, ...]:
        """The lines of code that the answer rests on."""
        return self.kept_cites or cites_of(evidence_in(self.record))


class WordNoteIndex:
    """Port NoteIndex; a hit's score is the share of the question's words it holds, rare ones weighing more."""

    def __init__(self, notes: NoteStore, replies: Journal, stale: Stale) -> None:
        self._notes, self._replies, self._stale = notes, replies, stale
        self._known: tuple[Sequence[object], list[_Entry]] = ((), [])

    def search(self, question: str, *, limit: int = 3) -> list[MemoryHit]:
        """Return the notes and replies nearest to a question, best first; empty when none holds enough of it.

        Raises:
            StoreError: the journal cannot be read.
        """
        stems = question_stems(question)
        entries = [*self._kept(), *self._posted()]
        weigh = _weights(stems, entries)
        near = [
            (score, entry)
            for entry in entries
            if (score := weigh(entry.stems)) >= MIN_SCORE and len(stems & entry.stems) >= min(MIN_WORDS, len(stems))
        ]
        nearest = sorted(near, key=lambda one: (-one[0], one[1].ref))[: limit + SPARE]
        hits = [self._checked(entry, score, stems) for score, entry in nearest]
        return sorted(hits, key=lambda hit: (-hit.score, hit.ref))[:limit]

    def add(self, name: str, text: str) -> str:
        """Keep a note under a name nobody has; returns its ref. The same text under the same name is kept once.

        Raises:
            StoreError: the disk refuses, or there are too many notes of that name.
        """
        for number in range(1, MAX_SAME_NAME):
            free = name if number == 1 else f"{name}-{number}"
            if (ref := self._notes.create(free, text)) is not None:
                return ref
            if any((note.ref, note.whole) == (f"memory/{free}.md", text) for note in self._notes.all()):
                return f"memory/{free}.md"
        raise StoreError(f"there are too many notes called {name}; tidy memory/ up")

    def _checked(self, entry: _Entry, score: float, stems: frozenset[str]) -> MemoryHit:
        """Return a hit with what is to be said before anybody relies on it."""
        try:
            stale: StaleCitations | None = self._stale(entry.cites)
        except TriageError:
            stale = None
        stands = stale is None or stale.is_empty
        hit = MemoryHit(
            ref=entry.ref,
            title=entry.title,
            excerpt=_excerpt(entry, stems),
            score=round(score, 4),
            caution=stale_lines_notice(stale),
            is_settled=stands,
        )
        return hit if stands else replace(hit, score=round(score * STALE_WEIGHT, 4))

    def _kept(self) -> list[_Entry]:
        notes = self._notes.all()
        if notes is not self._known[0]:
            stems = [text_stems(f"{PurePosixPath(note.ref).stem} {note.text}") for note in notes]
            entries = [_Entry(n.ref, n.title, n.text, s, n.cites) for n, s in zip(notes, stems, strict=True)]
            self._known = (notes, entries)
        return self._known[1]

    def _posted(self) -> Iterator[_Entry]:
        for record in deque(self._replies.records(last_bytes=REPLIES_BYTES), MAX_REPLIES):
            reply, question = str(record.get("reply_text") or ""), str(record.get("question") or "")
            if reply and record.get("thread_id") and not record.get("auto"):  # what nobody approved is no evidence
                title = _first_line(question) or _first_line(reply)
                stems = text_stems(f"{question} {reply}")
                yield _Entry(f"reply/{record['thread_id']}", title, reply, stems, record=record)


def _weights(stems: frozenset[str], entries: Sequence[_Entry]) -> Callable[[frozenset[str]], float]:
    """Return what tells the share of the question an entry's stems cover; a word no entry holds weighs most."""
    weights = {stem: 1 + rarity(sum(stem in entry.stems for entry in entries), len(entries)) for stem in stems}
    whole = sum(weights.values()) or 1.0
    return lambda held: sum(weights[stem] for stem in stems & held) / whole


def _excerpt(entry: _Entry, stems: frozenset[str]) -> str:
    """Return the paragraph that holds the most of the question, verbatim: its whole lines within EXCERPT_CHARS.

    A first line that is longer ends behind a word. What a note quotes, a dismissed draft say, comes last.
    """
    best = max(
        paragraphs(entry.text),
        key=lambda part: (part[:1] != ">", len(stems & text_stems(part))),
        default=entry.text.strip(),
    )
    return _whole_lines(best)


def _whole_lines(text: str) -> str:
    if len(text) <= EXCERPT_CHARS:
        return text.rstrip()
    whole, _, _ = text[: EXCERPT_CHARS + 1].rpartition("\n")
    return (whole or text[: EXCERPT_CHARS + 1].rpartition(" ")[0] or text[:EXCERPT_CHARS]).rstrip()


def _first_line(text: str) -> str:
    return next((line.strip()[:TITLE_CHARS] for line in text.splitlines() if line.strip()), "")
