"""Reads what was missed in one chat: messages, replies, and questions that were edited or deleted meanwhile.

Reads the chat's history and its threads; writes nothing. Returns bodies as Slack would have delivered them, oldest
first, for the watcher. A deletion is reported only after its whole thread was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.domain.threads import ThreadState
from bot.errors import Unavailable
from bot.intake.normalise import Body, is_edited_message
from bot.ports import ChatHistory, Message, Page

THREAD_LOOKBACK = timedelta(hours=24)
"""How much older than the hole a root may be for its new replies to be found; Slack lists roots only."""

RATE_RETRIES = 5
"""How often one page is asked for again because Slack asked for patience."""

Wait = Callable[[float], bool]
"""Waits so many seconds; True if the bot stops meanwhile."""


class MissedMessages:
    """Reads chats back page by page, as slowly as Slack asks."""

    def __init__(self, history: ChatHistory, *, team_id: str, wait: Wait) -> None:
        self._history, self._team_id, self._wait = history, team_id, wait

    def bodies(self, chat_id: str, since: datetime, threads: list[ThreadState]) -> list[Body]:
        """Return what to hear again after `since`; `threads` are the chat's open ones, as they stood before this.

        Raises:
            Unavailable: the chat is down, or the bot stops; nothing may be concluded.
            ProviderError: the chat may not be read.
        """
        roots = self._roots(chat_id, since - THREAD_LOOKBACK)
        listed = {ts: message for message in roots if (ts := _ts(message))}
        found = _after(since, listed)
        changes: list[Body] = []
        for state in threads:
            replies = self._thread(chat_id, state.thread_ts, oldest="0")
            changes += self._changes(state, replies, {**listed, **replies})
            found |= _after(since, replies)
        mine = {state.thread_ts for state in threads}
        for message in roots:
            ts, latest = _ts(message), str(message.get("latest_reply") or "0")
            if ts and ts not in mine and _at(latest) > since.timestamp():
                found |= _after(since, self._thread(chat_id, ts, oldest=f"{since.timestamp():.6f}"))
        said = [self._body({**found[ts], "type": "message", "channel": chat_id}) for ts in sorted(found, key=_at)]
        return said + changes

    def _roots(self, chat_id: str, since: datetime) -> list[Message]:
        oldest = f"{since.timestamp():.6f}"
        return list(self._all(lambda cursor: self._history.messages(chat_id, oldest=oldest, cursor=cursor)))

    def _thread(self, chat_id: str, thread_ts: str, *, oldest: str) -> dict[str, Message]:
        def ask(cursor: str | None) -> Page:
            return self._history.replies(chat_id, thread_ts, oldest=oldest, cursor=cursor)

        return {ts: message for message in self._all(ask) if (ts := _ts(message))}

    def _all(self, ask: Callable[[str | None], Page]) -> Iterator[Message]:
        cursor: str | None = None
        while True:
            page = self._patiently(ask, cursor)
            yield from page.messages
            if page.cursor is None or page.cursor == cursor:
                return
            cursor = page.cursor

    def _patiently(self, ask: Callable[[str | None], Page], cursor: str | None) -> Page:
        """Ask for one page, waiting where Slack says for how long; raises Unavailable when told to stop."""
        for _ in range(RATE_RETRIES):
            if self._wait(0):
                raise Unavailable("the bot stops; what was missed is read at the next start")
            try:
                return ask(cursor)
            except Unavailable as error:
                if error.retry_after_s is None or self._wait(error.retry_after_s):
                    raise
        return ask(cursor)

    def _changes(
        self, state: ThreadState, replies: Mapping[str, Message], said: Mapping[str, Message]
    ) -> Iterator[Body]:
        """Yield what would have been delivered for a thread's messages that are gone or read otherwise now."""
        asked = replies.get(state.original_message_id)
        if asked is None or asked.get("subtype") == "tombstone":
            yield self._deletion(state, state.original_message_id, state.original_sender_id)
            return
        if state.alert is None and is_edited_message(asked, state.question):
            yield self._edit(state, asked)
        newest = said.get(state.alert.message_ids[-1]) if state.alert is not None else None
        if newest is not None:  # the state of an alert is that of its newest message, which may have been edited
            yield self._edit(state, newest)
        for followup in state.followups:
            if followup.message_id not in replies:
                yield self._deletion(state, followup.message_id, followup.sender_id)

    def _edit(self, state: ThreadState, message: Message) -> Body:
        change = {"message": dict(message), "previous_message": {"text": state.question}}
        return self._body({"type": "message", "subtype": "message_changed", "channel": state.chat_id, **change})

    def _deletion(self, state: ThreadState, message_id: str, sender_id: str) -> Body:
        sender = "bot_id" if sender_id.startswith("B") else "user"
        previous = {sender: sender_id, "ts": message_id, "thread_ts": state.thread_ts}
        return self._body(
            {
                "type": "message",
                "subtype": "message_deleted",
                "channel": state.chat_id,
                "deleted_ts": message_id,
                "previous_message": previous,
            }
        )

    def _body(self, event: dict[str, Any]) -> Body:
        return {"team_id": self._team_id, "event": event}


def _after(since: datetime, messages: Mapping[str, Message]) -> dict[str, Message]:
    return {ts: message for ts, message in messages.items() if _at(ts) > since.timestamp()}


def _ts(message: Message) -> str | None:
    """Return a message's ts if it is one."""
    ts = message.get("ts")
    return ts if isinstance(ts, str) and _at(ts) > 0 else None


def _at(ts: str) -> float:
    try:
        return float(ts)
    except ValueError:
        return 0.0
