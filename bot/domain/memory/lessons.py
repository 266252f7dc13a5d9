"""What a closed thread teaches, as a note that a person reads and changes before it is kept. Pure.

A lesson is about a draft: what it said, and what people made of it. It says so in its first words, so that nobody takes
the draft's words for an answer; what others wrote stands behind a mark on every line, so that it can forge nothing.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.memory.notes import NoteKind, safe_name
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.domain.threads import Resolution, ThreadState

MAX_WORDS: Final = 300
"""Of each text; what lies behind is not compared. Comparing takes 0.4 s at worst, and a dialogue waits for it."""

MAX_CHANGES: Final = 6
SIDE_CHARS: Final = 160
CONTEXT: Final = 2
REWRITTEN: Final = 0.35
"""The share of words in common below which a list of changes would say nothing."""

_WORD: Final = re.compile(r"\S+")


MAX_WORDS_CHARS: Final = 3_000
"""Of a lesson's words: what Slack's text input holds."""

TITLE_CHARS: Final = 100
QUESTION_CHARS: Final = 400
REASON_CHARS: Final = 500
DRAFT_CHARS: Final = 600
REPLY_CHARS: Final = 900
SLUG_CHARS: Final = 36
_NAMES: Final = {NoteKind.DISMISSAL: "dismissed", NoteKind.CORRECTION: "corrected"}


def word_changes(before: str, after: str) -> list[str]:
    """Return a line for each place that changed, with two words around it; none where nearly all is new, or nothing.

    >>> word_changes("The gateway is retried five times, then we give up.", "The gateway is retried three times.")
    ['“is retried five times, then we give up.” became “is retried three times.”']
    """
    old, new = _WORD.findall(before)[:MAX_WORDS], _WORD.findall(after)[:MAX_WORDS]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < REWRITTEN:
        return []
    places = [
        _change(old[group[0][1] : group[-1][2]], new[group[0][3] : group[-1][4]])
        for group in matcher.get_grouped_opcodes(CONTEXT)
    ]
    more = [f"{len(places) - MAX_CHANGES} more places changed"] if len(places) > MAX_CHANGES else []
    return [*places[:MAX_CHANGES], *more]


def _change(old: Sequence[str], new: Sequence[str]) -> str:
    return f"“{_cut(old)}” became “{_cut(new)}”"


def _cut(words: Sequence[str]) -> str:
    text = " ".join(words)
    return text if len(text) <= SIDE_CHARS else f"{text[: SIDE_CHARS - 1].rstrip()}…"


@dataclass(frozen=True, kw_only=True, slots=True)
class Lesson:
    """A note that is proposed: `name` is bound to how the thread ended, so that one ending teaches once."""

    kind: NoteKind
    name: str
    words: str


def build_lesson(state: ThreadState) -> Lesson | None:
    """Return what a thread teaches: it was dismissed for a reason, or people changed its draft before it was posted."""
    if state.is_open or state.closed_at is None:
        return None
    if state.resolution is Resolution.DISMISSED and (state.dismiss_reason or "").strip():
        return _lesson(state, NoteKind.DISMISSAL, _dismissal(state))
    if state.resolution is Resolution.EDITED and (state.draft_pending or "").strip():
        return _lesson(state, NoteKind.CORRECTION, _correction(state))
    return None


def decided_by(state: ThreadState) -> str | None:
    """Return who dismissed the thread, or posted its reply."""
    return state.approved_by or (state.status_history[-1].by if state.status_history else None)


def _lesson(state: ThreadState, kind: NoteKind, parts: Iterator[str]) -> Lesson:
    word = _NAMES[kind]
    ending = hashlib.sha256(f"{state.thread_id}|{state.closed_at}".encode()).hexdigest()[:8]
    name = f"{word}-{safe_name(state.question)[:SLUG_CHARS].rstrip('-')}-{ending}"
    title = f"# {word.capitalize()}: {one_line(state.question, TITLE_CHARS)}"
    asked = [f"The question:\n\n{_quoted(state.question, QUESTION_CHARS)}"] if _is_long(state.question) else []
    return Lesson(kind=kind, name=name, words=_fitting("\n\n".join([title, *parts, *asked])))


def _dismissal(state: ThreadState) -> Iterator[str]:
    draft, day = _draft_of(state), f"{state.closed_at:%Y-%m-%d}"
    what = "A draft that answered this" if draft else "This question"
    yield f"{what} was dismissed on {day}: {one_line(state.dismiss_reason or '', REASON_CHARS)}"
    if draft:
        yield f"The dismissed draft said, and it is not to be repeated:\n\n{_quoted(draft, DRAFT_CHARS)}"


def _correction(state: ThreadState) -> Iterator[str]:
    draft, reply, day = _draft_of(state), state.draft_pending or "", f"{state.closed_at:%Y-%m-%d}"
    what = "People changed the draft before it was posted" if draft else "There was no draft; people answered"
    yield f"{what} on {day}. What they posted:\n\n{_quoted(reply, REPLY_CHARS)}"
    if not draft:
        return
    if changes := word_changes(draft, reply):
        yield "What they changed:\n\n" + "\n".join(f"> - {one_line(change, 400)}" for change in changes)
    else:
        yield f"The draft they replaced said, and it is not to be repeated:\n\n{_quoted(draft, DRAFT_CHARS)}"


def _draft_of(state: ThreadState) -> str:
    """Return what the investigator proposed, before anybody changed it."""
    return state.investigator_return.draft_reply.strip() if state.investigator_return else ""


def _is_long(question: str) -> bool:
    return " ".join(question.split()) != one_line(question, TITLE_CHARS)


def _fitting(words: str) -> str:
    """Return as many whole lines as the dialogue's input holds."""
    return words if len(words) <= MAX_WORDS_CHARS else words[: MAX_WORDS_CHARS - 2].rpartition("\n")[0] + "\n…"


def _quoted(text: str, limit: int) -> str:
    clean = strip_hidden(text)[0].strip()
    cut = clean if len(clean) <= limit else f"{clean[: limit - 1].rstrip()}…"
    return "\n".join(f"> {line}".rstrip() for line in cut.split("\n"))
