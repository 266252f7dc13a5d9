"""What all casework shares: settings, stores and chat (`ThreadService`), and the updates of cards (`CardUpdates`).

Cards are shown one at a time, later if the chat does not take one now, and never in a channel that all can read. After
a restart only cards that differ from what they last showed are shown again, after those of new work. Many changes of a
card in a short time become few updates: only *that* a card is behind is recorded, and the update shows the state at
that moment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from bot.casework.acknowledgements import Acknowledgements, Turns
from bot.casework.ops_channel import DirectMessages, OpsChannelGuard
from bot.config.settings import Settings
from bot.config.team_settings import WatchedChat
from bot.domain.events import is_direct
from bot.domain.jobs import ContinueThread
from bot.domain.threads import CardShown, ThreadState, ThreadStatus
from bot.errors import ProviderError, StoreError, TriageError, Unavailable
from bot.ports import Attachments, Clock, JobQueue, Journal, Leases, LiveWork, Messenger, NoteIndex, Workspace
from bot.ports.collections import Collection
from bot.ports.threads import Threads

log = logging.getLogger(__name__)

FINISH_WAIT_S: Final = 5.0


class CardUpdates:
    """Shows threads on their cards; what the chat does not take now is shown later, by `catch_up`."""

    def __init__(self, service: ThreadService) -> None:
        self._service, self._store, self._messenger = service, service.store, service.messenger
        self._ops_channel = service.settings.ops_channel
        self._restored: set[str] = set()
        self.turns = Turns()
        self.guard = OpsChannelGuard(self._ops_channel, service.workspace, service.messenger, service.clock)

    def show_later(self, thread_id: str) -> None:
        """Have the card shown by the next `catch_up`, whatever it shows now."""
        self._restored.discard(thread_id)
        self.turns.postpone(thread_id, 0)

    def show_after_restart(self, thread_id: str) -> None:
        """Have a card of an earlier process shown if it differs or is gone, after the cards of what happens now.

        Raises:
            ProviderError: the chat cannot say whether a card that somebody has to decide on still stands.
        """
        state = self._store.get(thread_id)
        if state is None or state.card_ts is None:
            return
        is_same = state.is_open and not self.is_behind(state) and not self._stands_elsewhere(state)
        if is_same and (state.status is not ThreadStatus.PENDING_USER or self._messenger.has_card(state)):
            return
        self._restored.add(thread_id)
        self.turns.postpone(thread_id, 0)

    def is_behind(self, state: ThreadState) -> bool:
        """Whether an open thread's card last showed something else."""
        return self._service.shown.get(state.thread_id).digest != self._messenger.card_digest(state)

    def show_card(self, thread_id: str) -> bool:
        """Bring the card in line with the state; False if the chat does not take it now, and `catch_up` will.

        Raises:
            Unavailable: there is no card yet and none could be posted: a first card is waited for.
        """
        with self.turns.exclusive(thread_id) as mine:
            if not mine:
                self.turns.postpone(thread_id, 0)
                return False
            try:
                self._bring_in_line(thread_id)
            except Unavailable as error:
                state = self._store.get(thread_id)
                if state is not None and state.card_ts is None:
                    raise
                log.info("card shown later: %s", error, extra={"action": "card_later", "thread_id": thread_id})
                self.turns.postpone(thread_id, error.retry_after_s)
                return False
        return True

    def _bring_in_line(self, thread_id: str) -> None:
        """Show the state as it is now; remembers where the card stands.

        Raises:
            Unavailable: the chat cannot be reached, or refuses. What it says of a card's content is dealt with by the
                messenger, so this is about the channel or the token, and the same works once that is mended.
        """
        self.turns.forget(thread_id)
        state = self._store.get(thread_id)
        if state is None:
            return
        self._service.asker.follow(state)
        self._service.direct.follow(state)
        try:
            if state.twin_of is not None:  # it is shown on the card of the thread that is investigated for it
                self._without_card(state)
                self.show_later(state.twin_of)
            else:
                self._show(state)
        except Unavailable:
            raise
        except ProviderError as error:
            raise Unavailable(str(error), code=error.code) from error

    def _show(self, state: ThreadState) -> None:
        """Post or update the card, and write down what it shows; of a closed thread nothing is kept."""
        if self._stands_elsewhere(state):
            self.guard.require()
            state = self._without_card(state)
        if state.card_ts is None or (state.is_open and state.draft_pending):
            self.guard.require()
        closed = self._store.last_closed(state.thread_id) if state.card_ts is None else None
        channel, ts = self._messenger.show_card(state, after=closed.card_ts if closed else None)
        shown = state.evolve(card_channel=channel, card_ts=ts)
        if self._service.leases is not None:
            self._show_newer(shown)
        self._restored.discard(state.thread_id)
        digest = self._messenger.card_digest(shown) if state.is_open else ""
        self._service.shown.evolve(state.thread_id, digest=digest)
        if shown != state:
            self._store.evolve(state.thread_id, card_channel=channel, card_ts=ts)

    def _without_card(self, state: ThreadState) -> ThreadState:
        """Return the thread without its card, which is removed."""
        if state.card_ts is None:
            return state
        self._messenger.remove_card(state)
        return self._store.evolve(state.thread_id, card_channel=None, card_ts=None) or state

    def _stands_elsewhere(self, state: ThreadState) -> bool:
        """Whether an open thread's card stands in what was the ops channel once: others may read there now."""
        is_in_place = is_direct(state.chat_id) and state.card_channel == state.chat_id
        return state.is_open and not is_in_place and state.card_channel not in (None, self._ops_channel)

    def show_progress(self, thread_id: str, line: str) -> None:
        """Show how far the run of a thread is; a chat that cannot be reached is no reason to stop it."""
        with self.turns.exclusive(thread_id) as mine:
            state = self._store.get(thread_id) if mine else None
            if state is None or not state.is_open or state.card_ts is None or self._stands_elsewhere(state):
                return
            try:
                self._service.shown.evolve(thread_id, digest="")
                self._messenger.show_card(state, progress=line)
                self._show_newer(state)
            except TriageError as error:
                log.info("progress not shown: %s", error, extra={"action": "progress_unshown", "thread_id": thread_id})

    def _show_newer(self, shown: ThreadState) -> None:
        """Show the thread again if somebody changed it while it was being shown: an older state may have come last."""
        now = self._store.latest(shown.thread_id)
        if now is not None and now.version != shown.version:
            self._messenger.show_card(now.evolve(card_channel=shown.card_channel, card_ts=shown.card_ts))

    def finish(self, thread_id: str) -> None:
        """Show the last state of a closed thread's card and move the thread to the archive, in this order.

        Raises:
            Unavailable: the card could not be updated; the thread stays where it is.
        """
        with self.turns.exclusive(thread_id, wait_s=FINISH_WAIT_S) as mine:
            if not mine:
                raise Unavailable("The card is being updated; trying again will do.", retry_after_s=1)
            self._bring_in_line(thread_id)
            self._free_twins(thread_id)
            self._store.archive(thread_id)

    def _free_twins(self, thread_id: str) -> None:
        """Have those threads worked on that were to be answered with one that has ended, and are not."""
        state = self._store.get(thread_id)
        listed = dict.fromkeys(twin.thread_id for twin in state.twins) if state is not None else ()
        for twin in map(self._store.get, listed):
            if twin is not None and twin.is_open and twin.twin_of == thread_id and twin.post_intent is None:
                self._service.queue(twin.thread_id)

    def try_to_finish(self, thread_id: str) -> bool:
        """Finish a closed thread, or leave it to `catch_up` and `tidy` where chat or disk cannot do it now."""
        extra = {"action": "finish_later", "thread_id": thread_id}
        try:
            self.finish(thread_id)
        except Unavailable as error:
            log.info("thread finished later: %s", error, extra=extra)
            self.turns.postpone(thread_id, error.retry_after_s)
            return False
        except (ProviderError, StoreError):
            log.warning("thread not finished yet", extra=extra, exc_info=True)
            return False
        return True

    def catch_up(self, *, at_once: bool = False) -> None:
        """Show the cards that are behind, until the chat refuses one; `at_once`: before their time, at the end."""
        while (thread_id := self.turns.next(at_once=at_once, last=self._restored)) is not None:
            state = self._store.get(thread_id)
            try:
                is_over = state is not None and not state.is_open
                is_done = self.try_to_finish(thread_id) if is_over else self.show_card(thread_id)
            except Unavailable as error:
                self.turns.postpone(thread_id, error.retry_after_s)
                is_done = False
            if not is_done:
                return

    def show_all_again(self) -> None:
        """Let every open card be shown anew: what the last run put off, it may have taken to its grave."""
        for state in self._store.open_threads():
            if state.card_ts is not None:
                self.show_later(state.thread_id)

    def tidy(self) -> None:
        """Finish the closed threads whose cards could not be updated when they closed, until the chat refuses one."""
        for state in self._store.threads():
            if not state.is_open:
                self.show_later(state.thread_id)
        self.catch_up()


class ChannelCodebases:
    """Which of the team's codebases the questions of each channel are about, by their ids."""

    def __init__(self, chats: Iterable[WatchedChat]) -> None:
        self.watch(chats)

    def watch(self, chats: Iterable[WatchedChat]) -> None:
        """Take over what these channels pick; an investigation under way keeps what it began with."""
        self._picked = {chat.chat_id: chat.codebases or () for chat in chats}

    def picked(self, state: ThreadState) -> tuple[str, ...]:
        """Return what a question is about, which its channel picks where it says nothing; none: all of the team's."""
        return state.codebases or self._picked.get(state.chat_id, ())


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadService:
    """The outside world as casework sees it."""

    settings: Settings
    store: Threads
    jobs: JobQueue
    messenger: Messenger
    workspace: Workspace
    attachments: Attachments
    memory: NoteIndex
    replies: Journal
    codebases: ChannelCodebases
    clock: Clock
    asker: Acknowledgements
    direct: DirectMessages
    shown: Collection[CardShown]
    live: LiveWork | None = None
    """Where the steps of a run are shown as they happen; None: nowhere."""
    leases: Leases | None = None
    """Where other replicas work on the same threads; None where no other process does."""
    known_secrets: frozenset[str] = frozenset()
    chat_ahead: Callable[[], timedelta] = timedelta
    """How far `clock` is ahead of the chat's own."""
    cards: CardUpdates = field(init=False)

    def queue(self, thread_id: str, *, unless_queued: bool = False) -> None:
        """Have a worker go on with a thread; raises StoreError."""
        if not (unless_queued and self.jobs.holds(thread_id)):
            self.jobs.put(ContinueThread(thread_id=thread_id))

    def show_closed(self, state: ThreadState) -> None:
        """Show the card of a thread that has ended, where it has one; raises ProviderError."""
        if state.card_ts is not None:
            self.cards.guard.require()
            self.messenger.show_card(state)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", CardUpdates(self))
