"""Receives every message: checks whether it counts and is new, writes it to the journal, then classifies and queues it.

What is in events.ndjson and not in events-classified.ndjson, because of a crash or a full disk, is classified later.
One message makes one event, however often and in whatever form Slack delivers it.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from bot.config.settings import Settings
from bot.config.team_settings import WatchedChat
from bot.domain.events import Classification, Event, MessageType, delivery_names, is_direct, record_key, thread_key
from bot.domain.jobs import FollowUpArrived, QuestionAsked, Work
from bot.intake.alerts import alert_in
from bot.intake.classifier.classification import classify
from bot.intake.enqueue import MessageSorter, requeue_lost_jobs
from bot.intake.normalise import Body, Identity, Incoming, normalise
from bot.ports import Clock, JobQueue, Journal, SharedWrites
from bot.ports.storage import SortedMessage, Taken
from bot.ports.threads import Threads

log = logging.getLogger(__name__)

REMEMBERED_KEYS = 100_000
TAIL_BYTES = 16 * 1024 * 1024
SHARED_TAIL_BYTES = 1024 * 1024
"""How much of the journal is read where a database knows the messages: only each channel's last time is needed."""

SORTED_WITHIN = timedelta(minutes=1)
"""Where threads are there and nothing says what was classified: what is older than the newest message by this was."""

_CHANGES = frozenset({MessageType.EDIT, MessageType.DELETE})


class ForcedEnqueue(StrEnum):
    """What became of a message that somebody wants worked on."""

    QUEUED = "queued"
    UNDER_WAY = "under way"
    CLOSED = "closed"
    NOTHING = "nothing"
    """It is our own, or nothing that people wrote."""


def names_of(chats: Iterable[WatchedChat]) -> dict[str, str | None]:
    """Return what each watched channel is called, by its id."""
    return {chat.chat_id: chat.name for chat in chats}


class MessageLog(NamedTuple):
    """The journals that say what came and what it was.

    With `shared` other processes hear the same channels: each message is journaled and queued in one transaction, by
    whoever comes first.
    """

    events: Journal
    classified: Journal
    shared: SharedWrites | None = None


class Watcher:
    """Receives chat events on any thread and sorts them on one of its own.

    `on_follow_up` gets what may belong to an open thread, once it is queued.
    """

    def __init__(
        self,
        settings: Settings,
        me: Identity,
        *,
        sorter: MessageSorter,
        journals: MessageLog,
        threads: Threads,
        jobs: JobQueue,
        clock: Clock,
        on_follow_up: Callable[[FollowUpArrived], object],
    ) -> None:
        self._settings, self._me, self._sorter = settings, me, sorter
        self._events, self._classified, self._shared = journals
        self._store, self._jobs, self._clock, self._on_follow_up = threads, jobs, clock, on_follow_up
        self._names = names_of(settings.watched_chats)
        self._seen: OrderedDict[tuple[str, ...], None] = OrderedDict()
        self._heard: dict[str, datetime] = {}
        self._lock, self._settling = threading.Lock(), threading.Lock()
        self._sorting = ThreadPoolExecutor(1, "watcher")
        self._unsorted: deque[Event] = deque()
        self._queued: Event | None = None
        self._recall()

    def watch(self, chats: Sequence[WatchedChat]) -> None:
        """Listen to these channels from now on, and to no others; the threads that are open stay open."""
        self._names = names_of(chats)

    def watches(self, chat_id: str) -> bool:
        """Whether every message of a channel is read."""
        return chat_id in self._names

    def has_heard(self, event: Event) -> bool:
        """Whether this very message was journaled here, as far back as is remembered."""
        with self._lock:
            return any(key in self._seen for key in delivery_names(event))

    def requeue_lost(self, since_ms: int) -> int:
        """Queue again what was sorted since then and is not on file; returns how many. Raises StoreError."""
        return requeue_lost_jobs(self._classified, self._store, self._jobs, self._sorter, since_ms=since_ms)

    def is_under_alert(self, event: Event) -> bool:
        """Whether a message stands in the thread under an alert of the team's heartbeats."""
        return self._sorter.is_under_alert(event)

    def follows(self, event: Event) -> bool:
        """Whether a message stands in a thread that is open, or that was answered here: a question opens it again."""
        key = thread_key(event)
        if self.has_open(key):
            return True
        closed = self._store.last_closed(key) if event.thread_id is not None else None
        return closed is not None and closed.posted_message_id is not None

    def has_open(self, thread_id: str) -> bool:
        """Whether a thread is open, or about to be."""
        state = self._store.get(thread_id)
        return (state is not None and state.is_open) or self._jobs.holds(thread_id)

    def receive(self, body: Body) -> bool:
        """Journal a delivered event if it counts, and have it sorted soon; True if it was new, and once it is on disk.

        Raises:
            StoreError: the journal could not be written; Slack must not be told that we have it.
        """
        incoming = self._read(body)
        return incoming is not None and self._counts(incoming) and self._journal_once(incoming.event)

    def settle(self) -> None:
        """Classify what was journaled and not classified, in order, and queue what deserves work.

        Raises:
            StoreError: the disk refuses; nothing is passed over, and an event is queued once however often it does.
        """
        with self._settling:
            while self._unsorted:
                event = self._unsorted[0]
                found, work = self._decide(event, inflight=self.has_open(thread_key(event)))
                if work is not None and event is not self._queued:
                    self._jobs.put(work)
                    self._queued = event
                    self._hand_over(work)
                self._classified.append(_classified(event, found))
                self._unsorted.popleft()

    def _journal_once(self, event: Event) -> bool:
        """Journal an event and have it sorted soon; False if it was known."""
        with self._lock:
            keys = delivery_names(event)
            if any(key in self._seen for key in keys):
                return False
            if self._shared is not None:
                return self._take_first(self._shared, event, keys)
            self._events.append(event.model_dump(mode="json"))
            self._remember(event, keys)
            self._unsorted.append(event)
        self._sorting.submit(self.settle)  # what the disk refuses now the next call takes up
        return True

    def _take_first(self, shared: SharedWrites, event: Event, keys: list[tuple[str, ...]]) -> bool:
        """Journal and queue an event together, unless another process has; False where it has."""
        for is_in_flight in (False, True):
            found, work = self._decide(event, inflight=is_in_flight)
            message = SortedMessage(
                thread_id=thread_key(event),
                event=event.model_dump(mode="json"),
                names=keys,
                classified=_classified(event, found),
                work=work,
                at=self._clock.now(),
            )
            taken = shared.take(message, is_in_flight=is_in_flight)
            if taken is not Taken.IN_FLIGHT:
                break
        self._remember(event, keys)
        if taken is Taken.FIRST:
            self._hand_over(work)
        return taken is Taken.FIRST

    def _hand_over(self, work: Work | None) -> None:
        if isinstance(work, FollowUpArrived):
            self._on_follow_up(work)

    def force_enqueue(self, body: Body) -> ForcedEnqueue:
        """Queue a message that somebody wants worked on, whatever the rules say of it; journaled first unless it was.

        Raises:
            StoreError: the disk refuses it; nothing will be done.
        """
        incoming = self._read(body)
        if incoming is None or incoming.event.msg_type in _CHANGES:
            return ForcedEnqueue.NOTHING
        event = incoming.event
        if self.has_open(thread_key(event)):
            return ForcedEnqueue.UNDER_WAY
        closed = self._store.last_closed(thread_key(event))
        if closed is not None and closed.original_message_id == event.message_id:
            return ForcedEnqueue.CLOSED
        self._journal_once(event)
        self._jobs.put(self._sorter.sort_question(QuestionAsked(event=event)))
        return ForcedEnqueue.QUEUED

    def last_seen(self, chat_id: str | None = None) -> datetime | None:
        """Return when the newest message of a chat, or of all, was written, by the chat's clock; None if none is known.

        The journal's last 16 MiB are known.
        """
        with self._lock:
            return max(self._heard.values(), default=None) if chat_id is None else self._heard.get(chat_id)

    def direct_chats(self) -> list[str]:
        """Return the direct messages in which people wrote, as far back as `last_seen` knows, the latest first."""
        with self._lock:
            return sorted(filter(is_direct, self._heard), key=self._heard.__getitem__, reverse=True)

    def _read(self, body: Body) -> Incoming | None:
        """Return what was delivered with its channel's name and the alert of a listed bot; None for what is none."""
        try:
            incoming = normalise(body, self._me)
        except ValueError as error:
            log.warning("ignored a malformed event: %s", error, extra={"action": "event_malformed"})
            return None
        if incoming is None:
            return None
        event, alert = incoming.event, alert_in(incoming, self._settings.watcher)
        known = {"chat_name": self._names.get(event.chat_id), "alert": alert}
        event = event.model_copy(update=known)
        if self._is_for_us(event) and self._me.user_id not in event.mentions:
            event = event.model_copy(update={"mentions": (*event.mentions, self._me.user_id)})
        return replace(incoming, event=event)

    def _is_for_us(self, event: Event) -> bool:
        """Whether it is new in somebody's direct messages with the bot, which is as good as a mention of it."""
        return event.is_direct and event.msg_type not in _CHANGES and not self.is_under_alert(event)

    def _counts(self, incoming: Incoming) -> bool:
        """Whether the settings want this message at all; of a bot, alerts alone, and what becomes of a question."""
        watch, event = self._settings.watcher, incoming.event
        is_change = event.msg_type in _CHANGES
        if event.sender.type == "bot" and event.alert is None:  # somebody had it worked on, whatever is listed
            state = self._store.get(thread_key(event)) if is_change else None
            return state is not None and state.is_open and state.original_message_id == event.message_id
        if incoming.is_foreign and not watch.allow_external:
            return False
        if event.chat_id in self._names or self.is_under_alert(event) or self._is_for_us(event):
            return True
        may_mention = watch.mentions_anywhere or event.chat_id == self._settings.ops_channel
        if may_mention and self._me.user_id in event.mentions and not is_change:
            return True
        if is_change:
            return self.has_open(thread_key(event))
        return event.thread_id is not None and self.follows(event)

    def _decide(self, event: Event, *, inflight: bool) -> tuple[Classification, Work | None]:
        """Return the class of an event, and its job if it deserves one."""
        found = classify(event, self._sorter.rules, inflight=inflight)
        return found.model_copy(update={"classified_at": self._clock.now()}), self._sorter.sort(event, found)

    def _recall(self) -> None:
        """Rebuild the memory of what was seen, and take up what was journaled but not classified.

        Where one of the two journals is gone the other tells as much.
        """
        last = next(map(record_key, self._classified.newest_first()), None)
        known = self._classified if next(self._events.newest_first(), None) is None else self._events
        for record in known.records(last_bytes=TAIL_BYTES if self._shared is None else SHARED_TAIL_BYTES):
            with suppress(ValueError):
                event = Event.model_validate(record)
                self._remember(event, delivery_names(event))
                self._unsorted.append(event)
            if record_key(record) == last or self._shared is not None:
                self._unsorted.clear()
        if last is None and self._unsorted and next(self._store.ids(), None) is not None:
            newest = max(event.create_time for event in self._unsorted)
            self._unsorted = deque(each for each in self._unsorted if newest - each.create_time < SORTED_WITHIN)

    def _remember(self, event: Event, keys: list[tuple[str, ...]]) -> None:
        self._heard[event.chat_id] = max(event.create_time, self._heard.get(event.chat_id, event.create_time))
        for key in keys:
            self._seen[key] = None
        while len(self._seen) > REMEMBERED_KEYS:
            self._seen.popitem(last=False)


def _classified(event: Event, found: Classification) -> dict[str, Any]:
    """Return what is journaled of a class."""
    return {**event.model_dump(mode="json"), **found.model_dump(mode="json")}
