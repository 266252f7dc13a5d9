"""What every piece of casework has at hand: the ports, the settings, and the safe way to change a thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final

from bot.agent.model_run import OnProgress
from bot.casework.card_updates import CardUpdates, OpsChannelGuard, report_progress
from bot.config.settings import Settings
from bot.domain.threads import ThreadState
from bot.errors import Conflict, ProviderError, StoreError, TriageError, Unavailable
from bot.ports import Clock, JobQueue, Journal, Messenger, NoteIndex, Workspace
from bot.ports.threads import Threads

log = logging.getLogger(__name__)

FINISH_WAIT_S: Final = 5.0

Change = Callable[[ThreadState], ThreadState | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadService:
    """The outside world as casework sees it."""

    settings: Settings
    store: Threads
    jobs: JobQueue
    messenger: Messenger
    workspace: Workspace
    memory: NoteIndex
    replies: Journal
    clock: Clock
    turns: CardUpdates = field(default_factory=CardUpdates)
    known_secrets: frozenset[str] = frozenset()
    chat_ahead: Callable[[], timedelta] = timedelta
    """How far `clock` is ahead of the chat's own."""
    privacy: OpsChannelGuard = field(init=False)

    def __post_init__(self) -> None:
        channel = self.settings.ops_channel
        object.__setattr__(self, "privacy", OpsChannelGuard(channel, self.workspace, self.messenger, self.clock))

    def amend(self, thread_id: str, change: Change) -> ThreadState | None:
        """Apply `change` to the thread as it is now, again if somebody else was faster.

        `change` gets the current state and returns the next one, or None to leave it alone (then, and when the thread
        is gone, the result is None). It may run more than once and must have no effects of its own.
        """
        while (state := self.store.get(thread_id)) is not None:
            changed = change(state)
            if changed is None:
                return None
            if (saved := self.put_if_newest(changed)) is not None:
                return saved
        return None

    def put_if_newest(self, state: ThreadState) -> ThreadState | None:
        """Store a state that was made of the newest one; None if somebody else was faster."""
        try:
            return self.store.put(state)
        except Conflict:
            log.info("thread changed meanwhile", extra={"action": "amend_again", "thread_id": state.thread_id})
            return None

    def show(self, thread_id: str) -> bool:
        """Bring the card in line with the state; False if the chat does not take it now, and `catch_up` will.

        Raises:
            ProviderError: there is no card yet and none could be posted, or the chat refuses this one for good.
        """
        with self.turns.exclusive(thread_id) as mine:
            if not mine:
                self.turns.postpone(thread_id, 0)
                return False
            try:
                self._bring_in_line(thread_id)
            except Unavailable as error:
                self._put_off(thread_id, error)
                return False
        return True

    def _bring_in_line(self, thread_id: str) -> None:
        """Show the state as it is now; remembers where the card stands."""
        self.turns.forget(thread_id)
        state = self.store.get(thread_id)
        if state is None:
            return
        if state.card_ts is None or (state.is_open and state.draft_pending):
            self.privacy.require()
        if state.card_ts is None:
            state = self._with_its_card(state)
        channel, ts = self.messenger.show_card(state)
        if (state.card_channel, state.card_ts) != (channel, ts):
            self.amend(thread_id, lambda now: now.evolve(card_channel=channel, card_ts=ts))

    def _with_its_card(self, state: ThreadState) -> ThreadState:
        """Return the thread with the card that was posted for it and is not on file, if there is one."""
        closed = self.store.last_closed(state.thread_id)
        place = self.messenger.find_card(state, after=closed.card_ts if closed else None)
        if place is None:
            return state
        return self.amend(state.thread_id, lambda now: now.evolve(card_channel=place[0], card_ts=place[1])) or state

    def _put_off(self, thread_id: str, error: Unavailable) -> None:
        """Leave an update to `catch_up`: no thread's work waits for one. A first card is no update, and waited for."""
        state = self.store.get(thread_id)
        if state is not None and state.card_ts is None:
            raise error
        log.info("card shown later: %s", error, extra={"action": "card_later", "thread_id": thread_id})
        self.turns.postpone(thread_id, error.retry_after_s)

    def progress_of(self, thread_id: str) -> AbstractContextManager[OnProgress]:
        """Return a context that yields what a run of the thread reports to; its card shows the latest."""
        return report_progress(partial(self.show_progress, thread_id))

    def show_progress(self, thread_id: str, line: str) -> None:
        """Show how far the run of a thread is; a chat that cannot be reached is no reason to stop it."""
        with self.turns.exclusive(thread_id) as mine:
            state = self.store.get(thread_id) if mine else None
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
        """Show the last state of a closed thread's card and move the thread to the archive, in this order.

        Raises:
            ProviderError: the card could not be updated; the thread stays where it is.
        """
        with self.turns.exclusive(thread_id, wait_s=FINISH_WAIT_S) as mine:
            if not mine:
                raise Unavailable("The card is being updated; trying again will do.", retry_after_s=1)
            self._bring_in_line(thread_id)
            self.store.archive(thread_id)

    def try_to_finish(self, thread_id: str) -> bool:
        """Finish a closed thread, or leave it to `catch_up` and `tidy` where chat or disk cannot do it now."""
        try:
            self.finish(thread_id)
        except (ProviderError, StoreError) as error:
            log.warning(
                "thread not finished yet", extra={"action": "finish_later", "thread_id": thread_id}, exc_info=True
            )
            if isinstance(error, Unavailable):
                self.turns.postpone(thread_id, error.retry_after_s)
            return False
        return True

    def catch_up(self, *, at_once: bool = False) -> None:
        """Show the cards that are behind, until the chat refuses one; `at_once`: before their time, at the end."""
        while (thread_id := self.turns.next(at_once=at_once)) is not None and self._caught_up(thread_id):
            pass

    def _caught_up(self, thread_id: str) -> bool:
        state = self.store.get(thread_id)
        if state is not None and not state.is_open:
            return self.try_to_finish(thread_id)
        try:
            return self.show(thread_id)
        except Unavailable as error:
            self.turns.postpone(thread_id, error.retry_after_s)
        except ProviderError:
            log.warning("card not shown", extra={"action": "card_refused", "thread_id": thread_id}, exc_info=True)
        return False

    def show_all_again(self) -> None:
        """Let every open card be shown anew: what the last run put off, it may have taken to its grave."""
        for state in self.open_threads():
            if state.card_ts is not None:
                self.turns.postpone(state.thread_id, 0)

    def tidy(self) -> None:
        """Finish the closed threads whose cards could not be updated when they closed, until the chat refuses one."""
        for state in self.store.threads():
            if not state.is_open:
                self.turns.postpone(state.thread_id, 0)
        self.catch_up()

    def open_threads(self) -> list[ThreadState]:
        """Return the threads that are not closed, oldest first."""
        return [state for state in self.store.threads() if state.is_open]
