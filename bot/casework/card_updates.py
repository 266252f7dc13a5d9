"""The cards of threads: shown one at a time, later what could not be shown now, and never in a channel all can read.

After a restart only cards that differ from what they last showed are shown again, and after those of new work.
Many changes of a card in a short time become few updates: what is noted is only *that* a card is behind, and whoever
shows it reads the state as it is by then. Whether the ops channel is private is asked of the chat before a new card or
draft, and believed for a minute; at an approval it is asked anew (bot/casework/freshness.py).
"""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager, suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from bot.agent.model_run import OnProgress, report_progress
from bot.casework.acknowledgements import Acknowledgements
from bot.casework.turns import Turns
from bot.domain.threads import CardShown, ThreadState, ThreadStatus
from bot.errors import ProviderError, StoreError, TriageError, Unavailable
from bot.ports import Clock, Messenger, Workspace
from bot.ports.collections import Collection
from bot.ports.threads import Threads

FINISH_WAIT_S: Final = 5.0


log = logging.getLogger(__name__)

BELIEVED_FOR: Final = timedelta(seconds=60)
PUBLIC: Final = (
    "This channel is no longer private, so new questions and drafts are not shown here. Questions wait; "
    "make the channel private again, or name another one as `ops_channel` and restart triage."
)


class OpsChannelGuard:
    """Watches one channel."""

    def __init__(self, channel: str, workspace: Workspace, messenger: Messenger, clock: Clock) -> None:
        self._channel, self._workspace, self._messenger, self._clock = channel, workspace, messenger, clock
        self._private_at: datetime | None = None
        self._told = False

    def require(self) -> None:
        """Return if the channel was private within the last minute.

        Raises:
            Unavailable: it is not private; the job waits in the queue until it is.
            ProviderError: the chat cannot say.
        """
        now = self._clock.now()
        if self._private_at is not None and timedelta() <= now - self._private_at < BELIEVED_FOR:
            return
        if self.is_private_now():
            return
        self._tell_once()
        raise Unavailable(f"The ops channel {self._channel} is not private; no card or draft was shown there.")

    def is_private_now(self) -> bool:
        """Return what the chat says at this moment; raises ProviderError if it cannot say."""
        private = self._workspace.channel(self._channel).is_private
        self._private_at = self._clock.now() if private else None
        if private:
            self._told = False
        return private

    def _tell_once(self) -> None:
        """Say so where the approvers look; that a channel is public is no secret in it."""
        if not self._told:
            self._told = True
            log.error("ops channel %s is not private: nothing is shown", self._channel, extra={"action": "ops_public"})
            with suppress(ProviderError):
                self._messenger.tell_ops(PUBLIC)


class CardUpdates:
    """Shows threads on their cards; what the chat does not take now is shown later, by `catch_up`."""

    def __init__(
        self,
        store: Threads,
        messenger: Messenger,
        workspace: Workspace,
        clock: Clock,
        *,
        ops_channel: str,
        asker: Acknowledgements,
        shown: Collection[CardShown],
        is_shared: bool = False,
    ) -> None:
        self._store, self._messenger, self._asker, self._shown = store, messenger, asker, shown
        self._restored: set[str] = set()
        self._is_shared = is_shared
        self.turns, self.guard = Turns(), OpsChannelGuard(ops_channel, workspace, messenger, clock)

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
        is_same = state.is_open and not self.is_behind(state)
        if is_same and (state.status is not ThreadStatus.PENDING_USER or self._messenger.has_card(state)):
            return
        self._restored.add(thread_id)
        self.turns.postpone(thread_id, 0)

    def is_behind(self, state: ThreadState) -> bool:
        """Whether an open thread's card last showed something else."""
        return self._shown.get(state.thread_id).digest != self._messenger.card_digest(state)

    def show_card(self, thread_id: str) -> bool:
        """Bring the card in line with the state; False if the chat does not take it now, and `catch_up` will.

        Raises:
            ProviderError: there is no card yet and none could be posted, or the chat refuses this one for good.
        """
        self._restored.discard(thread_id)
        return self._show(thread_id)

    def _show(self, thread_id: str) -> bool:
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
        state = self._store.get(thread_id)
        if state is None:
            return
        self._asker.follow(state)
        if state.twin_of is not None:  # it is shown on the card of the thread that is investigated for it
            self.show_later(state.twin_of)
            return
        if state.card_ts is None or (state.is_open and state.draft_pending):
            self.guard.require()
        if state.card_ts is None:
            state = self._with_its_card(state)
        channel, ts = self._messenger.show_card(state)
        if self._is_shared:
            self._show_newer(state.evolve(card_channel=channel, card_ts=ts))
        self._note_shown(state.evolve(card_channel=channel, card_ts=ts))
        if (state.card_channel, state.card_ts) != (channel, ts):
            self._store.amend(thread_id, lambda now: now.evolve(card_channel=channel, card_ts=ts))

    def _note_shown(self, state: ThreadState) -> None:
        """Write down what an open thread's card shows; of a closed one nothing is kept."""
        digest = self._messenger.card_digest(state) if state.is_open else ""
        self._restored.discard(state.thread_id)
        self._shown.change(state.thread_id, lambda known: known.evolve(digest=digest))

    def _with_its_card(self, state: ThreadState) -> ThreadState:
        """Return the thread with the card that was posted for it and is not on file, if there is one."""
        closed = self._store.last_closed(state.thread_id)
        place = self._messenger.find_card(state, after=closed.card_ts if closed else None)
        if place is None:
            return state
        return (
            self._store.amend(state.thread_id, lambda now: now.evolve(card_channel=place[0], card_ts=place[1])) or state
        )

    def _put_off(self, thread_id: str, error: Unavailable) -> None:
        """Leave an update to `catch_up`: no thread's work waits for one. A first card is no update, and waited for."""
        state = self._store.get(thread_id)
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
            state = self._store.get(thread_id) if mine else None
            if state is None or not state.is_open or state.card_ts is None:
                return
            try:
                self._shown.change(thread_id, lambda known: known.evolve(digest=""))
                self._messenger.show_card(state, progress=line)
                self._show_newer(state)
            except TriageError:
                log.warning("progress not shown", extra={"action": "progress_unshown", "thread_id": thread_id})

    def _show_newer(self, shown: ThreadState) -> None:
        """Show the thread again if somebody changed it while it was being shown: an older state may have come last."""
        now = self._store.get(shown.thread_id) or self._store.last_closed(shown.thread_id)
        if now is not None and now.version != shown.version:
            self._messenger.show_card(now.evolve(card_channel=shown.card_channel, card_ts=shown.card_ts))

    def finish(self, thread_id: str) -> None:
        """Show the last state of a closed thread's card and move the thread to the archive, in this order.

        Raises:
            ProviderError: the card could not be updated; the thread stays where it is.
        """
        with self.turns.exclusive(thread_id, wait_s=FINISH_WAIT_S) as mine:
            if not mine:
                raise Unavailable("The card is being updated; trying again will do.", retry_after_s=1)
            self._bring_in_line(thread_id)
            self._store.archive(thread_id)

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
        while (thread_id := self.turns.next(at_once=at_once, last=self._restored)) is not None:
            if not self._caught_up(thread_id):
                return

    def _caught_up(self, thread_id: str) -> bool:
        state = self._store.get(thread_id)
        if state is not None and not state.is_open:
            return self.try_to_finish(thread_id)
        try:
            return self._show(thread_id)
        except Unavailable as error:
            self.turns.postpone(thread_id, error.retry_after_s)
        except ProviderError:
            log.warning("card not shown", extra={"action": "card_refused", "thread_id": thread_id}, exc_info=True)
        return False

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
