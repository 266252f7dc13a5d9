"""Where people hear of a question: lines in the ops channel, and the direct messages it was asked in.

A line is sent later if the chat is down, and then begins with its time. The chat is asked whether the ops channel is
private before a new card or draft, at most once a minute, and again at each approval
(bot/casework/posting/freshness.py). In direct messages an approver gets the draft in place. Anybody else sees nothing
of it: they are told once who reads it first, and the reply comes there after the approval.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from bot.casework.approvers import Approvers
from bot.domain.events import Event, is_direct
from bot.domain.text.humanize import LATE, utc_text
from bot.domain.threads import ThreadState, reply_id_of
from bot.errors import ProviderError, Unavailable
from bot.ports import Clock, DirectChat, Messenger, Workspace

log = logging.getLogger(__name__)

MAX_WAITING = 100
BELIEVED_FOR: Final = timedelta(seconds=60)
PUBLIC: Final = (
    "This channel is no longer private, so new questions and drafts are not shown here. Questions wait; "
    "make the channel private again, or name another one as `ops_channel` and restart triage."
)


class OpsLines:
    """The newest lines that wait, each with the time it is of; they may be there before there is a way to say them."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.waiting: deque[tuple[datetime, str]] = deque(maxlen=MAX_WAITING)

    def append(self, text: str) -> None:
        """Keep a line of now."""
        self.waiting.append((self.clock.now(), text))

    def note(self, text: str) -> None:
        """Keep a line of now and log it; for whoever must not wait for the chat."""
        log.warning(text, extra={"action": "ops_noted"})
        self.append(text)


class ProcessLines:
    """Lines about the process: every team's ops channel is told of each, but of a codebase only where it is read."""

    def __init__(self, clock: Clock) -> None:
        self._early, self._teams = OpsLines(clock), list[tuple[OpsLines, Collection[str]]]()

    def append(self, text: str) -> None:
        """Keep a line of now, for each team that is there; before there is one, for those of the start."""
        log.warning(text, extra={"action": "ops_noted"})
        self.put(text)

    def put(self, text: str) -> None:
        """Keep it as `append` does, of which the log has it already."""
        for lines in [lines for lines, _ in self._teams] or [self._early]:
            lines.append(text)

    def append_of(self, codebase: str, text: str) -> None:
        """Keep a line of now for each team that reads a codebase."""
        log.warning(text, extra={"action": "ops_noted"})
        for lines, codebases in self._teams:
            if codebase in codebases:
                lines.append(text)

    def attach(self, lines: OpsLines, codebases: Collection[str]) -> None:
        """Have a team told from now on, and of what was kept before the first one came."""
        lines.waiting.extend(self._early.waiting)
        self._teams.append((lines, codebases))

    def end_start(self) -> None:
        """Keep no line of the start any longer: who comes from now on was not there."""
        self._early.waiting.clear()

    def detach(self, lines: OpsLines) -> None:
        """Have a team told no more."""
        self._teams = [team for team in self._teams if team[0] is not lines]


class OpsOutbox:
    """Says lines in order; what could not be said is tried again by `flush`. The log has every line at once."""

    def __init__(self, messenger: Messenger, lines: OpsLines) -> None:
        self._messenger, self.lines = messenger, lines
        self._saying = threading.Lock()

    def say(self, text: str) -> None:
        """Say a line now, or as soon as the chat takes it."""
        log.warning(text, extra={"action": "ops_told"})
        self.lines.append(text)
        self.flush()

    def flush(self) -> None:
        """Say what waits; the rest stays where the chat refuses. Nobody waits while somebody else is saying lines."""
        if not self._saying.acquire(blocking=False):
            return
        try:
            self._say_all()
        finally:
            self._saying.release()

    def _say_all(self) -> None:
        waiting = self.lines.waiting
        while waiting:
            line = waiting[0]
            try:
                self._messenger.tell_ops(_dated(*line, self.lines.clock.now()))
            except ProviderError:
                log.info("ops line waits", extra={"action": "ops_line_waits"}, exc_info=True)
                return
            if waiting[0] is line:  # else too many came meanwhile, and this one was pushed out
                waiting.popleft()


def _dated(at: datetime, text: str, now: datetime) -> str:
    return f"From {utc_text(at)}, sent late: {text}" if now - at >= LATE else text


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


SEEN_FIRST: Final = (
    "I am looking into it. The approvers{team} see your question and read the draft first; the reply comes here."
)

MEMBERS_ONLY: Final = (
    "Only members of this workspace can ask me, and you are a guest, so nothing was looked into. Ask a member to put "
    "your question to me: in a direct message, or in a channel that I watch."
)
TURNED_AWAY: Final = "guest"


@dataclass(frozen=True, kw_only=True, slots=True)
class DirectMessages:
    """Says in direct messages how a question stands; `team` is its name where there are several."""

    approvers: Approvers
    chat: DirectChat
    team: str = ""
    _working: set[str] = field(default_factory=set)

    def card_channel(self, event: Event) -> str | None:
        """Return where the card of a question stands: in the direct messages of an approver; None: the ops channel."""
        return event.chat_id if event.is_direct and self.approvers.allow(event.sender.id, event.team_id) else None

    def begin(self, state: ThreadState) -> None:
        """Tell who asked who reads the draft, once; raises Unavailable where the chat is away."""
        if is_direct(state.chat_id) and state.card_channel != state.chat_id:
            said = SEEN_FIRST.format(team=f" of {self.team}" if self.team else "")
            self.chat.tell(state.chat_id, state.thread_ts, said, about=reply_id_of(state))

    def turn_away(self, event: Event) -> None:
        """Tell a guest in direct messages who may ask, once a thread; elsewhere they hear nothing.

        Raises Unavailable where the chat is away.
        """
        log.info("ignored a guest's message", extra={"action": "guest_ignored"})
        if not event.is_direct:
            return
        try:
            self.chat.tell(event.chat_id, event.thread_id or event.message_id, MEMBERS_ONLY, about=TURNED_AWAY)
        except Unavailable:
            raise
        except ProviderError:
            log.warning("a guest was not answered", extra={"action": "answer_failed"}, exc_info=True)

    def follow(self, state: ThreadState) -> None:
        """Show natively whether somebody is on it; a chat that has no such sign shows none."""
        if not is_direct(state.chat_id) or state.is_at_work == (state.thread_id in self._working):
            return
        (self._working.add if state.is_at_work else self._working.discard)(state.thread_id)
        try:
            self.chat.show_working(state, is_working=state.is_at_work)
        except ProviderError:
            log.info("a native status is not shown", extra={"action": "status_unshown"}, exc_info=True)
