"""Hears what was missed while the bot was not connected, of people and of listed bots alike.

Opens a gap (bot/intake/backfill/gaps.py) before anything is heard on a new connection, fills it on a thread of its
own, and tries again, at growing intervals, until it is filled. Live messages continue meanwhile; a message that comes
twice counts once. The ops channel gets one line about each absence.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from bot.config.settings import Settings
from bot.config.team_settings import WatchedChat
from bot.domain.text.humanize import counted, duration, utc_text
from bot.domain.threads import ThreadState
from bot.errors import ProviderError, StoreError, TriageError, Unavailable
from bot.intake.alerts import read_alert
from bot.intake.backfill.gaps import Gap, Gaps
from bot.intake.normalise import Body, is_edited_message
from bot.intake.watcher import Watcher, names_of
from bot.ports import ChatHistory, Clock, Message, Page
from bot.ports.threads import Threads

log = logging.getLogger(__name__)

NOT_WORTH_A_LINE = timedelta(minutes=1)

FIRST_PAUSE_S = 5.0
MAX_PAUSE_S = 600.0
LOOK_EVERY_S = 5.0
"""How often replicas look for what others missed."""

THREAD_LOOKBACK = timedelta(hours=24)
"""How much older than the hole a root may be for its new replies to be found; Slack lists roots only."""

RATE_RETRIES = 5
"""How often one page is asked for again because Slack asked for patience."""

Wait = Callable[[float], bool]
"""Waits so many seconds; True if the bot stops meanwhile."""


@dataclass(slots=True)
class Absence:
    """One absence: since when, until when, what was picked up since, and whether some of it is too old to be read."""

    since: datetime
    until: datetime
    questions: int = 0
    others: int = 0
    capped: bool = False


def _away_line(away: Absence, reach: timedelta) -> str | None:
    """Return what to tell the ops channel; None for a short absence in which nothing was said.

    `reach` is how far back the bot reads.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> _away_line(Absence(noon, noon + timedelta(minutes=12), questions=3), timedelta(hours=24))
    'The bot was away 12 min: 3 questions picked up.'
    >>> _away_line(Absence(noon, noon + timedelta(seconds=40)), timedelta(hours=24)) is None
    True
    """
    counts = {"question": away.questions, "other message" if away.questions else "message": away.others}
    found = " and ".join(counted(number, what) for what, number in counts.items() if number)
    time = away.until - away.since
    if not found and time < NOT_WORTH_A_LINE:
        return None
    line = f"The bot was away {duration(time)}: " + (f"{found} picked up." if found else "nothing was missed.")
    return f"{line} What is older than {duration(reach)} was not read." if away.capped else line


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatToReadBack:
    """The chat that is read back; `clock` is its own, which `set_clock` compares once more, or raises ProviderError.

    `wait` takes seconds and returns whether to stop; by default it waits for `Backfill.stop`.
    """

    history: ChatHistory
    team_id: str
    clock: Clock
    set_clock: Callable[[], None] = lambda: None
    wait: Wait | None = None


class MissedMessages:
    """Reads chats back page by page, as slowly as Slack asks; writes nothing."""

    def __init__(self, history: ChatHistory, *, team_id: str, wait: Wait) -> None:
        self._history, self._team_id, self._wait = history, team_id, wait

    def bodies(self, chat_id: str, since: datetime, threads: list[ThreadState]) -> list[Body]:
        """Return what to hear again after `since` as Slack would have delivered it, oldest first; then the changes.

        `threads` are the chat's open ones, as they stood before this. A deletion is reported only after its whole
        thread was read.

        Raises:
            Unavailable: the chat is down, or the bot stops; nothing may be concluded.
            ProviderError: the chat may not be read.
        """
        start = since.timestamp()
        listed = f"{start - THREAD_LOOKBACK.total_seconds():.6f}"
        roots = self._read(partial(self._history.messages, chat_id, oldest=listed))
        found, changes = dict(roots), list[Body]()
        for state in threads:
            replies = self._read(partial(self._history.replies, chat_id, state.thread_ts, oldest="0"))
            changes += self._changes(state, replies, roots)
            found |= replies
        mine = {state.thread_ts for state in threads}
        for ts, root in roots.items():
            if ts not in mine and _at(root.get("latest_reply")) > start:
                found |= self._read(partial(self._history.replies, chat_id, ts, oldest=f"{start:.6f}"))
        new = sorted((ts for ts in found if _at(ts) > start), key=_at)
        return [self._body(chat_id, found[ts]) for ts in new] + changes

    def _read(self, ask: Callable[..., Page]) -> dict[str, Message]:
        """Return all messages of a chat or thread by their ts."""
        found: dict[str, Message] = {}
        cursor: str | None = None
        while True:
            page = self._patiently(ask, cursor)
            found |= {message["ts"]: message for message in page.messages if _at(message.get("ts")) > 0}
            if page.cursor is None or page.cursor == cursor:
                return found
            cursor = page.cursor

    def _patiently(self, ask: Callable[..., Page], cursor: str | None) -> Page:
        """Ask for one page, waiting where Slack says for how long; raises Unavailable when told to stop."""
        for _ in range(RATE_RETRIES):
            if self._wait(0):
                raise Unavailable("the bot stops; what was missed is read at the next start")
            try:
                return ask(cursor=cursor)
            except Unavailable as error:
                if error.retry_after_s is None or self._wait(error.retry_after_s):
                    raise
        return ask(cursor=cursor)

    def _changes(
        self, state: ThreadState, replies: Mapping[str, Message], roots: Mapping[str, Message]
    ) -> Iterator[Body]:
        """Yield what would have been delivered for a thread's messages that are gone or read otherwise now."""
        asked = replies.get(state.original_message_id)
        if asked is None or asked.get("subtype") == "tombstone":
            yield self._deletion(state, state.original_message_id, state.original_sender_id)
            return
        if state.alert is None and is_edited_message(asked, state.question):
            yield self._edit(state, asked)
        if state.alert is not None:  # its state is that of its newest message, which may have been edited
            newest = {**roots, **replies}.get(state.alert.message_ids[-1], {})
            said = read_alert(newest)
            if said is not None and said.state is not state.alert.state:
                yield self._edit(state, newest)
        for followup in state.followups:
            if followup.message_id not in replies:
                yield self._deletion(state, followup.message_id, followup.sender_id)

    def _edit(self, state: ThreadState, message: Message) -> Body:
        change = {"message": dict(message), "previous_message": {"text": state.question}}
        return self._body(state.chat_id, {"subtype": "message_changed", **change})

    def _deletion(self, state: ThreadState, message_id: str, sender_id: str) -> Body:
        sender = "bot_id" if sender_id.startswith("B") else "user"
        previous = {sender: sender_id, "ts": message_id, "thread_ts": state.thread_ts}
        gone = {"subtype": "message_deleted", "deleted_ts": message_id, "previous_message": previous}
        return self._body(state.chat_id, gone)

    def _body(self, chat_id: str, event: Message) -> Body:
        return {"team_id": self._team_id, "event": {**event, "type": "message", "channel": chat_id}}


def _at(ts: Any) -> float:
    """Return a ts in seconds; 0 for what is none."""
    try:
        return float(ts) if isinstance(ts, str) else 0.0
    except ValueError:
        return 0.0


class Backfill:
    """Makes up for absences; `hear` takes what is read back, else `watcher` does.

    Where replicas share the gaps, `may_read` says whether this one reads back now, and each looks for what others
    opened.
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
        hear: Callable[[Body], bool] | None = None,
        may_read: Callable[[], bool] | None = None,
    ) -> None:
        self._watched = names_of(settings.watched_chats)
        self._reach = settings.watcher.backfill_max
        self._watcher, self._store, self._gaps, self._clock, self._say = watcher, store, gaps, chat.clock, say
        self._stopping, self._wake = threading.Event(), threading.Event()
        self._missed = MissedMessages(chat.history, team_id=chat.team_id, wait=chat.wait or self._stopping.wait)
        self._set_clock, self._hear = chat.set_clock, hear or watcher.receive
        self._may_read = may_read
        self._began: datetime | None = self._clock.now()
        """When a first start began to watch; None once it is on disk: what cannot be kept until then was missed."""
        self._absence: Absence | None = None
        self._lock = threading.Lock()
        self._refused: set[str] = set()
        self._failures = 0
        self._thread = threading.Thread(target=self._run, name="backfill", daemon=True)

    def start(self) -> None:
        """Begin to fill what is open, now and whenever `open` says so."""
        self._thread.start()

    def stop(self) -> None:
        """Stop reading; what is not filled stays open and is filled after the next start."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2)

    def open(self, away_since: datetime | None) -> None:
        """Note that something may have been missed until now; call before anything is heard on a new connection.

        Raises:
            StoreError: that cannot be written down; what comes now must not be heard, or the hole would be forgotten.
        """
        now = self._clock.now()
        chats = [*self._watched, *(state.chat_id for state in self._store.threads() if state.is_open)]
        heard = {chat_id: self._watcher.last_seen(chat_id) for chat_id in chats}
        self._gaps.open(heard, watched=self._watched, at=min(self._began or now, now))
        self._began = None
        with self._lock:
            if self._absence is None:  # by our own clock, which may be ahead of the chat's
                self._absence = Absence(since=min(away_since or now, now), until=now)
            self._absence.until = now
        self._failures = 0  # the chat was reached just now
        self._wake.set()

    def watch(self, chats: Sequence[WatchedChat]) -> None:
        """Read these channels and no others from now on; a new one from this moment, not further back.

        Call before anything is heard of a new one. Raises StoreError, and then nothing has changed.
        """
        watched = names_of(chats)
        new = watched.keys() - self._watched.keys()
        self._gaps.open(dict.fromkeys(new), watched=watched, at=self._clock.now())
        self._watched = watched
        self._wake.set()

    def catch_up(self) -> float | None:
        """Try to fill every open hole; return after how many seconds to try again, None when none is open."""
        failed: TriageError | None = None
        for gap in self._gaps.pending():
            if self._stopping.is_set():
                return None
            try:
                self._set_clock()
                self._fill(gap)
            except (ProviderError, StoreError) as error:
                failed = error
                self._note_refusal(gap, error)
        if failed is None and self._gaps.pending():
            return 0.0  # a new hole was opened while the old one was read
        if not isinstance(failed, Unavailable | StoreError):
            self._report()
        if failed is None:
            self._failures = 0
            return None
        self._failures += 1
        advised = failed.retry_after_s if isinstance(failed, ProviderError) else None
        return max(advised or 0, min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (self._failures - 1)))

    def _run(self) -> None:
        pause_s: float | None = None
        while not self._stopping.is_set():
            self._wake.wait(pause_s)
            self._wake.clear()
            if not self._stopping.is_set():
                pause_s = self._take_turn()

    def _take_turn(self) -> float | None:
        """Fill what any replica opened, if this one does it; return when to look again, in seconds, None for never."""
        idle_s = LOOK_EVERY_S if self._may_read else None
        try:
            if self._may_read is None or self._may_read():
                pause_s = self.catch_up()
                return idle_s if pause_s is None else pause_s
            with self._lock:
                self._absence = None  # others were there, and one of them reads back what this one missed
        except StoreError as error:
            log.warning("what was missed waits: %s", error, extra={"action": "backfill_waits"})
            return LOOK_EVERY_S
        return idle_s

    def _fill(self, gap: Gap) -> None:
        """Read one chat from where its hole begins and hear it all; raises what reading or journaling raises."""
        threads = [state for state in self._store.threads() if state.is_open and state.chat_id == gap.chat_id]
        if gap.chat_id not in self._watched and not threads:
            self._gaps.close(gap)  # nobody's business any more
            return
        now = self._clock.now()
        earliest = now - self._reach
        since = max(min(gap.since, now), earliest)
        new = 0
        for body in self._missed.bodies(gap.chat_id, since, threads):
            if self._hear(body):
                new += 1
                self._count(gap, is_question=self._watcher.deserves_work(body))
        self._refused.discard(gap.chat_id)
        self._gaps.close(gap)
        with self._lock:
            if self._absence is not None:
                self._absence.capped |= self._absence.since < earliest
        found = {"action": "backfilled", "chat_id": gap.chat_id, "new": new}
        log.info("read %s back to %s: %d new", gap.chat_id, utc_text(since), new, extra=found)

    def _count(self, gap: Gap, *, is_question: bool) -> None:
        with self._lock:
            if self._absence is None:  # told already, when this chat could not be read
                self._absence = Absence(since=gap.since, until=self._clock.now())
            self._absence.questions += is_question
            self._absence.others += not is_question

    def _note_refusal(self, gap: Gap, error: TriageError) -> None:
        """Tell people once which chat cannot be read and why; an outage only the log."""
        log.warning("what was missed could not be read yet: %s", error, extra={"action": "backfill_waits"})
        if isinstance(error, Unavailable | StoreError) or gap.chat_id in self._refused:
            return
        self._refused.add(gap.chat_id)
        self._say(
            f"Messages in {self._name(gap.chat_id)} from {utc_text(gap.since)} on may have been missed: "
            f"{error}. It is tried again by itself."
        )

    def _report(self) -> None:
        with self._lock:
            absence, self._absence = self._absence, None
        if absence is not None and (line := _away_line(absence, self._reach)):
            self._say(line)

    def _name(self, chat_id: str) -> str:
        name = self._watched.get(chat_id)
        return f"#{name} ({chat_id})" if name else chat_id
