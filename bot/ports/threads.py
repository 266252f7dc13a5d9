"""Reads and changes the documents of open threads, and finds closed ones."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

from bot.domain.threads import ThreadState, check_thread_id, reply_id_of
from bot.errors import Conflict, InputError
from bot.ports.collections import THREADS, Collection
from bot.ports.storage import DamagedDocument, Documents

log = logging.getLogger(__name__)

Change = Callable[[ThreadState], ThreadState | None]


class Threads:
    """Every thread; what cannot be read is set aside when this is made, and named by `damaged`."""

    def __init__(self, documents: Documents) -> None:
        self._documents, self._open = documents, Collection(documents, THREADS)
        self._open.by_id()

    def damaged(self) -> list[DamagedDocument]:
        """Return every record that was set aside, at this start or an earlier one, oldest first."""
        return list(self._documents.damaged(THREADS.name))

    def get(self, thread_id: str) -> ThreadState | None:
        """Return the open thread, or one that is closed and not archived; else None."""
        try:
            return self._open.find(thread_id)
        except InputError:
            return None

    def put(self, state: ThreadState) -> ThreadState:
        """Compare-and-set: store `state` if its `version` is still the stored one (0 for a new thread).

        Returns the stored state, its version one higher. Raises Conflict when somebody else was faster,
        StoreError when the disk refuses; in both cases nothing is changed.
        """
        before = self._open.find(state.thread_id)
        self._open.put(state.thread_id, state, version=state.version)
        stored = state.evolve(version=state.version + 1)
        _log_step(before, stored)
        return stored

    def amend(self, thread_id: str, change: Change) -> ThreadState | None:
        """Apply `change` to the thread as it is now, again if somebody else was faster.

        `change` gets the current state and returns the next one, or None to leave it alone (then, and when the thread
        is gone, the result is None); the very state it got is returned and not written again. It may run more than
        once and must have no effects of its own.
        """
        while (state := self.get(thread_id)) is not None:
            changed = change(state)
            if changed is None or changed is state:
                return changed
            if (saved := self.put_if_newest(changed)) is not None:
                return saved
        return None

    def evolve(self, thread_id: str, **changes: Any) -> ThreadState | None:
        """Replace fields of the thread as it is now; None where it is gone. Steps are taken through `amend`."""
        return self.amend(thread_id, lambda now: now.evolve(**changes))

    def put_if_newest(self, state: ThreadState) -> ThreadState | None:
        """Store a state that was made of the newest one; None if somebody else was faster."""
        try:
            return self.put(state)
        except Conflict:
            log.info("thread changed meanwhile", extra={"action": "amend_again", "thread_id": state.thread_id})
            return None

    def threads(self) -> list[ThreadState]:
        """Return every thread that is not archived, oldest first."""
        return self._open.all()

    def where(self, field: str, value: str) -> list[ThreadState]:
        """Return the threads that are not archived and hold this text in a field of their own, oldest first."""
        return self._open.where(field, value)

    def open_threads(self) -> list[ThreadState]:
        """Return the threads that are not closed, oldest first."""
        return [state for state in self.threads() if state.is_open]

    def last_closed(self, thread_id: str) -> ThreadState | None:
        """Return how the thread last ended, or None if it never did; raises InputError for what is no id."""
        return next((state for state in self._endings(thread_id) if not state.is_open), None)

    def with_reply(self, thread_id: str, reply_id: str) -> ThreadState | None:
        """Return a thread as it was when this reply was posted, however often it was opened since; None if it is gone.

        Raises as `last_closed`.
        """
        found = (state for state in self._endings(thread_id) if state.posted_message_id or state.post_intent)
        return next((state for state in found if reply_id_of(state) == reply_id), None)

    def _endings(self, thread_id: str) -> Iterator[ThreadState]:
        """Yield a thread as it stands, then as it ended, the latest first."""
        current = self.get(check_thread_id(thread_id))
        if current is not None:
            yield current
        archived = self._documents.archived(THREADS.name, thread_id)
        yield from filter(None, map(self._open.parse_archived, archived))

    def latest(self, thread_id: str) -> ThreadState | None:
        """Return a thread as it stands, else as it ended last; None where it never was. Raises as `last_closed`."""
        return self.get(thread_id) or self.last_closed(thread_id)

    def ids(self) -> Iterator[str]:
        """Yield the id of every thread: the open ones, then the archived, the newest first; an id may come twice."""
        yield from (document.id for document in self._documents.list(THREADS.name))
        yield from (one.doc_id for one in self._documents.archived(THREADS.name))

    def archive(self, thread_id: str) -> None:
        """Move a closed thread to the archive; doing it twice is harmless.

        It never lies there before an earlier ending of the same thread, whose clock may have been ahead.
        """
        state = self.get(thread_id)
        if state is not None and state.closed_at is not None:
            earlier = (one.at for one in self._documents.archived(THREADS.name, thread_id))
            self._documents.archive(THREADS.name, thread_id, at=max([state.closed_at, *earlier]))


def _log_step(before: ThreadState | None, now: ThreadState) -> None:
    """Log that a thread was opened or took a step; what people or models wrote stays out of the log."""
    if before is None:
        says = "a question is taken up"
    elif len(now.status_history) > len(before.status_history):
        reason = now.resolution or now.pending_reason
        says = f"{before.status} → {now.status}" + (f" ({reason})" if reason else "")
    else:
        return
    log.info("%s", says, extra={"action": "thread_step", "thread_id": now.thread_id})
