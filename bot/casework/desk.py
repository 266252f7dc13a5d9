"""What every piece of casework has at hand: the ports, the settings, and the safe way to change a thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.threads import ThreadState
from bot.errors import Conflict, ProviderError, TriageError
from bot.ports import Clock, JobQueue, Journal, MemoryIndex, Messenger, ThreadStore, Workspace
from bot.settings import Settings

log = logging.getLogger(__name__)

Change = Callable[[ThreadState], ThreadState | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Desk:
    """The outside world as casework sees it."""

    settings: Settings
    store: ThreadStore
    jobs: JobQueue
    messenger: Messenger
    workspace: Workspace
    memory: MemoryIndex
    replies: Journal
    clock: Clock

    def amend(self, thread_id: str, change: Change) -> ThreadState | None:
        """Apply `change` to the thread as it is now, again if somebody else was faster.

        `change` gets the current state and returns the next one, or None to leave it alone (then, and when the thread
        is gone, the result is None). It may run more than once and must have no effects of its own.
        """
        while (state := self.store.get(thread_id)) is not None:
            changed = change(state)
            if changed is None:
                return None
            try:
                return self.store.put(changed)
            except Conflict:
                log.info(
                    "thread changed meanwhile, trying again", extra={"action": "amend_again", "thread_id": thread_id}
                )
        return None

    def show(self, thread_id: str) -> None:
        """Bring the card in line with the state; remembers where it stands."""
        state = self.store.get(thread_id)
        if state is None:
            return
        channel, ts = self.messenger.show_card(state)
        if (state.card_channel, state.card_ts) != (channel, ts):
            self.amend(thread_id, lambda now: now.evolve(card_channel=channel, card_ts=ts))

    def show_progress(self, thread_id: str, line: str) -> None:
        """Show how far the run of a thread is; a chat that cannot be reached is no reason to stop it."""
        state = self.store.get(thread_id)
        if state is None or not state.is_open or state.card_ts is None:
            return
        try:
            self.messenger.show_card(state, progress=line)
            self._show_newer(state)
        except TriageError:
            log.warning("progress not shown", extra={"action": "progress_unshown", "thread_id": thread_id})

    def _show_newer(self, shown: ThreadState) -> None:
        """Show the thread again if somebody changed it while its progress was being shown."""
        now = self.store.get(shown.thread_id) or self.store.last_closed(shown.thread_id)
        if now is not None and now.version != shown.version:
            self.messenger.show_card(now)

    def finish(self, thread_id: str) -> None:
        """Show the last state of a closed thread's card and move the thread to the archive."""
        self.show(thread_id)
        self.store.archive(thread_id)

    def try_to_finish(self, thread_id: str) -> bool:
        """Finish a closed thread, or leave it to `tidy` where its card cannot be updated now."""
        try:
            self.finish(thread_id)
        except ProviderError:
            log.warning("card not updated yet", extra={"action": "finish_later", "thread_id": thread_id}, exc_info=True)
            return False
        return True

    def tidy(self) -> None:
        """Finish the closed threads whose cards could not be updated when they closed."""
        for state in self.store.threads():
            if not state.is_open:
                self.try_to_finish(state.thread_id)

    def open_threads(self) -> list[ThreadState]:
        """Return the threads that are not closed, oldest first."""
        return [state for state in self.store.threads() if state.is_open]
