"""Shows the asker that their question is being worked on: a reaction that follows the thread's status, or one line.

Which reaction stands on a question is a document apart from its thread, because a thread is archived whether or not
Slack takes the reaction. Nothing here delays an investigation or shows a draft. `Turns` lets one thread at a time
change what the chat shows for an id (cards use it too) and remembers what to show later; it is in memory only, and
after a restart the documents say what is behind.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from bot.domain.acknowledgement import (
    Acknowledgement,
    AcknowledgeMode,
    Reaction,
    acknowledgement_id,
    may_be_told,
    wanted_reaction,
)
from bot.domain.threads import ThreadState
from bot.errors import ProviderError, StoreError, Unavailable
from bot.ports import AskerChat, Clock
from bot.ports.collections import Collection
from bot.ports.threads import Threads

log = logging.getLogger(__name__)

RETRY_S: Final = 5.0
LONGEST_S: Final = 60.0

LOOKING: Final = "I am looking into this; a person checks the answer before it is posted."
NO_SCOPE: Final = (
    "Askers see no reaction on their questions: the app has no permission for it (scope `reactions:write`). Paste "
    "manifest.yml on the app's page, reinstall the app and restart triage; or set `acknowledge: ephemeral` or `none` "
    "in triage.yml. All else works."
)


class Turns:
    """Which items are being shown now, and which wait to be shown, each with the earliest time of its next try."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._busy: set[str] = set()
        self._behind: dict[str, float] = {}
        self._changed = threading.Condition()

    @contextmanager
    def exclusive(self, item_id: str, *, wait_s: float = 0.0) -> Iterator[bool]:
        """Yield whether it is ours to show now; False after `wait_s` if somebody else still shows it."""
        with self._changed:
            mine = self._changed.wait_for(lambda: item_id not in self._busy, timeout=wait_s)
            if mine:
                self._busy.add(item_id)
        try:
            yield mine
        finally:
            if mine:
                with self._changed:
                    self._busy.discard(item_id)
                    self._changed.notify_all()

    def postpone(self, item_id: str, after_s: float | None = None) -> None:
        """Note that something is behind and may be tried after so long (at most a minute)."""
        with self._changed:
            self._behind[item_id] = self._monotonic() + min(RETRY_S if after_s is None else after_s, LONGEST_S)

    def forget(self, item_id: str) -> None:
        """Note that something is about to be shown as it is now, so what was put off before need not be."""
        with self._changed:
            self._behind.pop(item_id, None)

    def next(self, *, at_once: bool = False, last: Container[str] = ()) -> str | None:
        """Return what may be tried by now, longest past first, and forget it.

        `at_once`: or what may not be tried yet; `last` is what comes after all else.
        """
        with self._changed:
            now = self._monotonic()
            due = [(item_id in last, at, item_id) for item_id, at in self._behind.items() if at_once or at <= now]
            if not due:
                return None
            item_id = min(due)[2]
            del self._behind[item_id]
            return item_id


class Acknowledgements:
    """What askers see; `say` says a line in the ops channel and returns at once."""

    def __init__(
        self,
        threads: Threads,
        kept: Collection[Acknowledgement],
        chat: AskerChat,
        clock: Clock,
        *,
        mode: AcknowledgeMode,
        say: Callable[[str], None],
    ) -> None:
        self._threads, self._kept, self._chat, self._clock = threads, kept, chat, clock
        self._mode, self._say = mode, say
        self._turns = Turns()
        self._may_react = True

    def begin(self, state: ThreadState) -> None:
        """Acknowledge a question whose investigation begins now; harmless where that was done already."""
        doc_id = acknowledgement_id(state)
        try:
            if self._mode == "ephemeral":
                self._tell_once(doc_id, state)
            elif self._mode == "reaction" and self._may_react:
                self._kept.evolve(doc_id, thread_id=state.thread_id)
                self._bring_in_line(doc_id)
        except StoreError:
            log.warning("a question is not acknowledged", extra=_extra(doc_id), exc_info=True)

    def follow(self, state: ThreadState) -> None:
        """Have the reaction follow a thread that may have changed, at the next tick."""
        self._turns.postpone(acknowledgement_id(state), 0)

    def recall(self) -> None:
        """Have every reaction looked at that another process left: where it differs, or its thread has ended."""
        threads = {acknowledgement_id(state): state for state in self._threads.open_threads()}
        for doc_id, known in self._kept.by_id().items():
            state = threads.get(doc_id)
            if state is None or not _is_in_line(known, self._wanted(state)):
                self._turns.postpone(doc_id, 0)

    def tick(self, *, at_once: bool = False) -> None:
        """Bring the reactions in line whose threads changed, until Slack asks for patience; `at_once`: at the end."""
        while (doc_id := self._turns.next(at_once=at_once)) is not None and self._bring_in_line(doc_id):
            pass

    def _tell_once(self, doc_id: str, state: ThreadState) -> None:
        now = self._clock.now()
        known = self._kept.get(doc_id)
        if known.told_at is not None or not may_be_told(state, now):
            return
        self._kept.evolve(doc_id, thread_id=state.thread_id, told_at=now)
        try:
            self._chat.tell_asker(state, LOOKING)
        except ProviderError:
            log.warning("an asker was not told", extra=_extra(doc_id), exc_info=True)

    def _bring_in_line(self, doc_id: str) -> bool:
        """Set and remove what differs; False where Slack asks for patience or is at it, and the rest is tried later."""
        with self._turns.exclusive(doc_id) as mine:
            if not mine:  # at the end there is no later, and asking again at once would go on until Slack answers
                self._turns.postpone(doc_id)
                return False
            try:
                self._settle(doc_id)
            except Unavailable as error:
                log.info("reaction set later: %s", error, extra=_extra(doc_id))
                self._turns.postpone(doc_id, error.retry_after_s)
                return False
            except StoreError:
                self._turns.postpone(doc_id)
                raise
        return True

    def _settle(self, doc_id: str) -> None:
        known = self._kept.get(doc_id)
        if not known.thread_id:
            return
        state = self._thread_of(doc_id, known.thread_id)
        known = self._with_reaction(doc_id, known, self._wanted(state))
        if state is None or not state.is_open:
            self._forget_done(doc_id, known)

    def _wanted(self, state: ThreadState | None) -> Reaction | None:
        return wanted_reaction(state) if state is not None and self._mode == "reaction" else None

    def _with_reaction(self, doc_id: str, known: Acknowledgement, wanted: Reaction | None) -> Acknowledgement:
        """Return what is on file once `wanted` stands and nothing else, as far as Slack allows it.

        Raises Unavailable, also where another replica was at it: what both did is looked through later.
        """
        if not self._may_react or _is_in_line(known, wanted):
            return known
        stands = known.stands if known.stands is wanted else None
        if wanted is not None and stands is None and not known.is_refused:
            known = self._kept.change(doc_id, partial(_in_doubt, of=known, may_stand=(wanted,)))
            stands = wanted if self._is_done(self._chat.add_reaction, doc_id, wanted) else None
        for other in known.may_stand:
            if other is not wanted:
                self._is_done(self._chat.remove_reaction, doc_id, other)
        if not self._may_react:  # nothing is known of what stands; after a new start it is tried again
            return known
        refused = wanted is not None and stands is None
        may_stand = (stands,) if stands else ()
        settled = known.model_copy(update={"may_stand": may_stand, "stands": stands, "is_refused": refused})
        doubted = partial(_in_doubt, of=known, may_stand=known.may_stand)
        if self._kept.change(doc_id, lambda now: settled if now == known else doubted(now)) != settled:
            raise Unavailable("another replica changed it meanwhile")
        return settled

    def _is_done(self, call: Callable[[str, str, Reaction], None], doc_id: str, reaction: Reaction) -> bool:
        """Ask Slack for one change; False where it is refused for good. Raises Unavailable."""
        _, chat_id, message_id = doc_id.split(".", 2)
        try:
            call(chat_id, message_id, reaction)
        except Unavailable:
            raise
        except ProviderError as error:
            log.info("reaction refused: %s", error.code, extra=_extra(doc_id))
            if error.code == "missing_scope" and self._may_react:
                self._may_react = False
                self._say(NO_SCOPE)
            return False
        return True

    def _thread_of(self, doc_id: str, thread_id: str) -> ThreadState | None:
        """Return the thread of a question, open or as it ended; None where another question came after it."""
        for state in (self._threads.get(thread_id), self._threads.last_closed(thread_id)):
            if state is not None and acknowledgement_id(state) == doc_id:
                return state
        return None

    def _forget_done(self, doc_id: str, known: Acknowledgement) -> None:
        """Forget a question whose thread has ended; where a permission is missing, nothing was left standing."""
        self._kept.change(doc_id, lambda now: Acknowledgement() if now == known else now)


def _is_in_line(known: Acknowledgement, wanted: Reaction | None) -> bool:
    return known.stands is wanted and all(one is wanted for one in known.may_stand)


def _in_doubt(now: Acknowledgement, *, of: Acknowledgement, may_stand: tuple[Reaction, ...]) -> Acknowledgement:
    """Return what is on file, which another replica may have changed or forgotten, with what may stand as well."""
    begun = tuple(dict.fromkeys((*now.may_stand, *may_stand)))
    return now.model_copy(update={"thread_id": of.thread_id, "may_stand": begun, "stands": None})


def _extra(doc_id: str) -> dict[str, str]:
    return {"action": "acknowledge", "question": doc_id}
