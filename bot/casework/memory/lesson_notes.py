"""Stores a closed thread's lesson as a note, when an approver clicks, so that later investigations find it.

A closed thread gives one lesson: the note's name is made from the thread's ending, so a second attempt finds the name
taken, also after a crash. That a card must be shown again is stored before the note is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any, Final

from bot.casework.decisions import DraftClick
from bot.casework.memory.note_saving import note_head
from bot.casework.thread_service import ThreadService
from bot.domain.memory.lessons import MAX_WORDS_CHARS, Lesson, build_lesson, decided_by
from bot.domain.memory.notes import note_text
from bot.domain.secrets import find_secrets
from bot.domain.text.sanitize import check_whole, has_visible
from bot.domain.threads import ThreadState
from bot.errors import Conflict, InputError, ProviderError, Unavailable
from bot.ports import NoteStore
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

_BEHIND: Final = "cards_behind"
GONE: Final = "This thread is no longer stored, or was asked again; nothing was saved."


class LessonNotes:
    """What is offered on the card of a closed thread; raises InputError with a text for the one who clicked."""

    def __init__(self, service: ThreadService, notes: NoteStore, stored: SingleDocument) -> None:
        self._service, self._notes, self._stored = service, notes, stored
        self._lock = threading.Lock()

    def proposed(self, click: DraftClick) -> tuple[ThreadState, Lesson]:
        """Return the thread and the note it proposes; reads the disk only.

        Raises:
            InputError: there is no such lesson.
            Conflict: it was remembered already.
        """
        state = self._service.store.last_closed(click.thread_id)
        if state is None or (state.draft_version, state.draft_hash or "") != (click.version, click.draft_hash):
            raise InputError(GONE)
        lesson = build_lesson(state)
        if lesson is None:
            raise InputError("This thread has nothing to save.")
        if (ref := self._notes.find(lesson.name)) is not None:
            self._note(add=state.thread_id)
            raise Conflict(f"Somebody else has already saved this as {ref}.")
        return state, lesson

    def remember(self, click: DraftClick, typed: str | None, *, by: str) -> str:
        """Keep the lesson in the words of whoever read it, None for those proposed; returns its ref.

        Raises:
            InputError: as `proposed`, or the words must not be kept.
            StoreError: the disk refuses; nothing was kept.
        """
        state, lesson = self.proposed(click)
        words = lesson.words if typed is None else typed
        self.check_words(words)
        ended = state.closed_at.isoformat(timespec="seconds") if state.closed_at else None
        decided = {"decided_by": decided_by(state), "decided_at": ended}
        head = note_head(self._service, state, lesson.kind, by=by, at=self._service.clock.now(), **decided)
        self._note(add=state.thread_id)
        ref = self._notes.create(lesson.name, note_text(words, head))
        self._note(add=state.thread_id)  # a tick in between has shown the card as it was
        if ref is None:
            raise Conflict("Somebody else has already saved this.")
        return ref

    def check_words(self, words: str) -> None:
        """Refuse words that must not be kept, from the words alone; raises InputError."""
        if not has_visible(check_whole(words)):
            raise InputError("This is empty; write what the next investigation should know.")
        if len(words) > MAX_WORDS_CHARS:
            raise InputError(f"This has {len(words):,} characters; at most {MAX_WORDS_CHARS:,} are kept.")
        if kinds := find_secrets(words, self._service.known_secrets):
            raise InputError(f"This contains what looks like a secret ({', '.join(kinds)}); take it out.")

    def tick(self) -> None:
        """Bring the cards in line of which a lesson was remembered; what the chat refuses is tried again."""
        with self._lock:
            behind = list(self._stored.read().get(_BEHIND) or [])
        for thread_id in behind:
            try:
                self._show(str(thread_id))
            except ProviderError as error:
                log.info("a remembered card waits", extra={"action": "lesson_card_waits", "thread_id": thread_id})
                if isinstance(error, Unavailable):
                    return
                continue  # this one is refused for good; the others are not
            self._note(drop=str(thread_id))

    def _show(self, thread_id: str) -> None:
        state = self._service.store.last_closed(thread_id)
        if state is not None:
            self._service.show_closed(state)

    def _note(self, *, add: str = "", drop: str = "") -> None:
        """Have a card shown at the next tick, or no more."""

        def changed(stored: Mapping[str, Any]) -> Mapping[str, Any]:
            known = list(stored.get(_BEHIND) or [])
            return {**stored, _BEHIND: [one for one in known if one not in (add, drop)] + ([add] if add else [])}

        self._stored.change(changed)
