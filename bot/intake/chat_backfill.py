"""Hears what was missed while the bot was not connected, of people and of listed bots alike, in direct messages too.

Opens a gap (bot/intake/gaps.py) before anything is heard on a new connection, and fills it at the next tick
or, in growing pauses, at a later one. Live messages continue meanwhile; a message that comes twice counts once. The ops
channel gets one line about each absence.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from bot.config.settings import Settings
from bot.config.team_settings import WatchedChat
from bot.domain.text.humanize import counted, duration, utc_text
from bot.domain.threads import ThreadState
from bot.errors import ProviderError, StoreError, Unavailable
from bot.intake.alerts import read_alert
from bot.intake.gaps import Gap, Gaps
from bot.intake.normalise import Body, is_edited_message
from bot.intake.watcher import Watcher, names_of
from bot.ports import ChatHistory, Clock, Message
from bot.ports.threads import Threads

log = logging.getLogger(__name__)


NOT_WORTH_A_LINE = timedelta(minutes=1)

FIRST_PAUSE_S = 5.0
MAX_PAUSE_S = 600.0

DIRECT = "direct messages"
"""The chat of the one hole that stands for everybody's direct messages: who wrote the first one is not known before."""

MAX_DIRECT = 100
"""How many of them are read back; those in which somebody wrote last come first. Each costs one request."""

THREAD_LOOKBACK = timedelta(hours=24)
"""How much older than the hole a root may be for its new replies to be found; Slack lists roots only."""


def _away_line(away: timedelta, picked_up: int, reach: timedelta) -> str | None:
    """Return what to tell the ops channel; None for a short absence in which nothing was said.

    `reach` is how far back the bot reads.

    >>> _away_line(timedelta(minutes=12), 3, timedelta(hours=24))
    'The bot was away 12 min: 3 missed messages picked up.'
    >>> _away_line(timedelta(), 1, timedelta(hours=24))
    '1 missed message picked up.'
    """
    if not picked_up and away < NOT_WORTH_A_LINE:
        return None
    line = f"The bot was away {duration(away)}: " if away >= timedelta(seconds=1) else ""
    line += f"{counted(picked_up, 'missed message')} picked up." if picked_up else "nothing was missed."
    return f"{line} What is older than {duration(reach)} was not read." if away > reach else line


def missed_messages(
    history: ChatHistory, chat_id: str, since: datetime, threads: Sequence[ThreadState]
) -> list[Message]:
    """Return what a chat would have delivered after `since`, oldest first; then what changed in its open `threads`.

    These as they stood before. A deletion is reported only after its whole thread was read.

    Raises:
        Unavailable: the chat is down; nothing may be concluded.
        ProviderError: the chat may not be read.
    """
    start = since.timestamp()
    roots = _by_ts(history.messages(chat_id, oldest=f"{start - THREAD_LOOKBACK.total_seconds():.6f}"))
    begins = {ts: start for ts, root in roots.items() if _at(root.get("latest_reply")) > start}
    begins |= {state.thread_ts: 0 for state in threads}
    replies = {ts: _by_ts(history.replies(chat_id, ts, oldest=f"{oldest:.6f}")) for ts, oldest in begins.items()}
    found = dict(roots)
    for thread in replies.values():
        found |= thread
    new = [found[ts] for ts in sorted(found, key=_at) if _at(ts) > start]
    return new + [change for state in threads for change in _changes(state, replies[state.thread_ts], roots)]


def _changes(state: ThreadState, replies: Mapping[str, Message], roots: Mapping[str, Message]) -> Iterator[Message]:
    """Yield what would have been delivered for a thread's messages that are gone or read otherwise now."""
    asked = replies.get(state.original_message_id)
    gone = [(word.message_id, word.sender_id) for word in state.followups if word.message_id not in replies]
    if asked is None or asked.get("subtype") == "tombstone":
        gone = [(state.original_message_id, state.original_sender_id)]
    else:  # the state of an alert is that of its newest message, which may have been edited
        shown = {**roots, **replies}.get(state.alert.message_ids[-1]) if state.alert else asked
        if shown is not None and _is_changed(state, shown):
            before = {"text": state.question}
            yield {"subtype": "message_changed", "message": dict(shown), "previous_message": before}
    for message_id, sender_id in gone:
        sender = "bot_id" if sender_id.startswith("B") else "user"
        previous = {sender: sender_id, "ts": message_id, "thread_ts": state.thread_ts}
        yield {"subtype": "message_deleted", "deleted_ts": message_id, "previous_message": previous}


def _is_changed(state: ThreadState, shown: Message) -> bool:
    """Whether a message says something else than is known of it: of an alert its state, of a question its words."""
    if state.alert is None:
        return is_edited_message(shown, state.question)
    said = read_alert(shown)
    return said is not None and said.state is not state.alert.state


def _by_ts(messages: Iterable[Message]) -> dict[str, Message]:
    return {message["ts"]: message for message in messages if _at(message.get("ts")) > 0}


def _at(ts: Any) -> float:
    """Return a ts in seconds; 0 for what is none."""
    try:
        return float(ts) if isinstance(ts, str) else 0.0
    except ValueError:
        return 0.0


@contextmanager
def _skips_refused(chat_id: str) -> Iterator[None]:
    """Go on where the chat refuses to show one of many; one that is away raises Unavailable."""
    try:
        yield
    except Unavailable:
        raise
    except ProviderError:
        log.warning("%s may not be read back", chat_id, extra={"action": "backfill_refused"}, exc_info=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatToReadBack:
    """The chat that is read back; `clock` is its own, which `set_clock` compares once more, or raises ProviderError.

    `hear` takes what is read. `also` names the chats beside the watched ones in whose threads something may have been
    answered.
    """

    history: ChatHistory
    team_id: str
    clock: Clock
    hear: Callable[[Body], bool]
    also: Callable[[], Collection[str]] = frozenset
    set_clock: Callable[[], None] = lambda: None


class Backfill:
    """Makes up for absences.

    Where replicas share the gaps, `may_read` says whether this one reads back now. Once `stop` is set nothing more is
    read; what is not filled stays open for the next start.
    """

    def __init__(
        self,
        settings: Settings,
        watcher: Watcher,
        chat: ChatToReadBack,
        *,
        store: Threads,
        gaps: Gaps,
        say: Callable[[str], None],
        may_read: Callable[[], bool] = lambda: True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._watched = names_of(settings.watched_chats)
        self._reach = settings.watcher.backfill_max
        self._watcher, self._chat, self._clock = watcher, chat, chat.clock
        self._store, self._gaps, self._say = store, gaps, say
        self._may_read, self._monotonic = may_read, monotonic
        self._connected = self._clock.now()
        """What is written later is heard live, whoever reads it first, and was not missed."""
        self._began: datetime | None = self._connected
        """When a first start began to watch; None once it is on disk: what cannot be kept until then was missed."""
        self._away, self._picked_up = timedelta(), 0
        """What is not told yet: the longest absence, by our own clock, and how many messages were picked up."""
        self._lock = threading.Lock()
        self._refused: set[str] = set()
        self._pause_s, self._try_at = FIRST_PAUSE_S, 0.0
        self.stop = threading.Event()

    def open(self, away_since: datetime | None, session_age: timedelta = timedelta(), *, is_told: bool = False) -> None:
        """Note that something may have been missed until now; call before anything is heard on a new connection.

        That one was asked for `session_age` ago: what was written since may be delivered as well.
        With `is_told` people know that nothing was heard, and only of what was picked up they are told.

        Raises:
            StoreError: that cannot be written down; what comes now must not be heard, or the hole would be forgotten.
        """
        now = self._clock.now()
        chats = [*self._watched, *(state.chat_id for state in self._store.open_threads())]
        heard = {chat_id: self._watcher.last_seen(chat_id) for chat_id in chats}
        deaf_since = self._deaf_since(away_since)
        heard |= {chat_id: self._watcher.last_seen(chat_id) or deaf_since for chat_id in self._chat.also()}
        heard[DIRECT] = deaf_since
        self._gaps.open(heard, watched=self._watched, at=min(self._began or now, now), deaf_since=deaf_since)
        self._began, self._connected = None, now - session_age
        away = now - (away_since or now)
        if not is_told or away > self._reach:
            with self._lock:
                self._away = max(self._away, away)
        self._pause_s, self._try_at = FIRST_PAUSE_S, 0.0  # the chat was reached just now

    def _deaf_since(self, away_since: datetime | None) -> datetime | None:
        """Return when anything was heard last, as far as is known: by the newest message where nothing else tells."""
        newest = self._watcher.last_seen()
        return min(away_since or newest, newest) if newest else away_since

    def watch(self, chats: Sequence[WatchedChat]) -> None:
        """Read these channels and no others from now on; a new one from this moment, not further back.

        Call before anything is heard of a new one. Raises StoreError, and then nothing has changed.
        """
        watched = names_of(chats)
        new = watched.keys() - self._watched.keys()
        self._gaps.open(dict.fromkeys(new), watched=watched, at=self._clock.now())
        self._watched = watched

    def tick(self) -> None:
        """Try to fill every open hole, and tell of the absence; nothing until a pause is over, or where others read.

        Raises:
            Unavailable, StoreError: something could not be read or written; it is tried again after a pause.
        """
        if not self._may_read():
            self._away = timedelta()  # others were there, and one of them reads back what this one missed
        elif self._monotonic() >= self._try_at:
            failed = [error for gap in self._gaps.pending() if (error := self._try_to_fill(gap))]
            self._pause(failed)
            for error in failed:
                if isinstance(error, Unavailable | StoreError):
                    raise error
            self._report()

    def _try_to_fill(self, gap: Gap) -> ProviderError | StoreError | None:
        """Fill a hole, or return why it cannot be; people are told once which chat may not be read."""
        try:
            self._chat.set_clock()
            self._fill(gap)
        except (Unavailable, StoreError) as error:
            return error
        except ProviderError as error:
            if gap.chat_id not in self._refused:
                self._refused.add(gap.chat_id)
                name = self._watched.get(gap.chat_id)
                self._say(
                    f"Messages in {f'#{name} ({gap.chat_id})' if name else gap.chat_id} from {utc_text(gap.since)} on "
                    f"may have been missed: {error}. It is tried again by itself."
                )
            return error
        self._refused.discard(gap.chat_id)
        return None

    def _fill(self, gap: Gap) -> None:
        """Read what a hole is in from where it begins and hear it all; raises what reading or journaling raises."""
        now = self._clock.now()
        since = max(min(gap.since, now), now - self._reach)
        if gap.chat_id == DIRECT:
            for chat_id in self._direct_chats():
                with _skips_refused(chat_id):
                    self._read_back(chat_id, since)
        elif self._threads_in(gap.chat_id) or gap.chat_id in (
            *self._watched,
            *self._chat.also(),
        ):  # else nobody's business
            self._read_back(gap.chat_id, since)
        self._gaps.close(gap)

    def _direct_chats(self) -> list[str]:
        """Return the direct messages to read back; those known from the journal, where the app may list no others."""
        found = dict.fromkeys(self._watcher.direct_chats())
        with _skips_refused(DIRECT):
            found |= dict.fromkeys(islice(self._chat.history.direct_chats(), MAX_DIRECT))
        return list(found)[:MAX_DIRECT]

    def _threads_in(self, chat_id: str) -> list[ThreadState]:
        return [state for state in self._store.open_threads() if state.chat_id == chat_id]

    def _read_back(self, chat_id: str, since: datetime) -> None:
        for message in missed_messages(self._chat.history, chat_id, since, self._threads_in(chat_id)):
            if self.stop.is_set():
                raise Unavailable("the bot stops; what was missed is read at the next start")
            event = {**message, "type": "message", "channel": chat_id}
            is_new = self._chat.hear({"team_id": self._chat.team_id, "event": event})
            self._picked_up += is_new and _at(message.get("ts")) <= self._connected.timestamp()
        log.info("read %s back to %s", chat_id, utc_text(since), extra={"action": "backfilled"})

    def _pause(self, failed: Sequence[ProviderError | StoreError]) -> None:
        """Let the next try wait, longer each time, and as long as the chat asks."""
        if not failed:
            self._pause_s = FIRST_PAUSE_S
            return
        advised_s = [error.retry_after_s or 0 for error in failed if isinstance(error, ProviderError)]
        self._try_at = self._monotonic() + max([self._pause_s, *advised_s])
        self._pause_s = min(MAX_PAUSE_S, 2 * self._pause_s)

    def _report(self) -> None:
        with self._lock:
            away, self._away = self._away, timedelta()
        picked_up, self._picked_up = self._picked_up, 0
        if line := _away_line(away, picked_up, self._reach):
            self._say(line)
