"""The process's one line to Slack: how it is, and what may have been missed on it.

Writes slack/connection.json, which bot/intake/presence.py reads. What may have been missed is noted before anything
later counts as heard, and tried again until it is stored.

Checks the shape of Slack's bodies before Bolt gets them.

Every field type that Bolt and the listeners rely on is checked, and no more. A body that does not fit is acknowledged
and dropped: Bolt fails on it before any middleware runs, and unacknowledged it would come again.
Source: https://docs.slack.dev/reference/interaction-payloads and slack_bolt 1.30 (read), request/internals.py.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from slack_bolt import App, BoltRequest, BoltResponse

from bot.domain.text.sanitize import is_deeper_than
from bot.errors import StoreError
from bot.intake.presence import Presence
from bot.ports import Clock
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

WRITE_EVERY: Final = timedelta(seconds=10)

OnGap = Callable[[datetime, timedelta], None]
"""Gets since when something may have been missed, and how long ago a new session was asked for, if that ended it."""


class Connection:
    """What every line has; this one has no more, for a process that only works.

    `on_gap` is told since when something may have been missed, and raises StoreError where that cannot be kept.
    `places` are where it writes; the first also says what was there before. `hears`: whether it is to hear Slack.
    """

    address: str | None = None
    """Where it listens, `host:port`, if it does."""

    def __init__(
        self,
        places: Sequence[SingleDocument],
        clock: Clock,
        on_gap: OnGap,
        *,
        hears: bool = True,
    ) -> None:
        self._places, self._clock, self._on_gap = places, clock, on_gap
        self._lock = threading.RLock()
        now = clock.now()
        self._now = self._written = Presence(
            pid=os.getpid(),
            host=socket.gethostname(),
            at=now,
            started_at=now,
            down_since=now if hears else None,
            hears=hears,
        )
        self._missed_since: datetime | None = _last_heard(places[0].read()) or now
        self._is_closed = False

    def open(self) -> None:
        """Begin to listen."""
        self._write()

    def check(self) -> None:
        """Look after the line, about once a second; write how it is if that changed, else every 10 s."""
        if self._is_closed:
            return
        self._look()
        with self._lock:
            unseen = {"last_event_at": self._written.last_event_at}  # else each event would be a write
            has_changed = self._now.model_copy(update=unseen) != self._written
            is_due = not timedelta() <= self._clock.now() - self._now.at < WRITE_EVERY  # a clock may go back
            if not self._is_closed and (has_changed or is_due):
                self._write()

    def note_clock(self, ahead: timedelta) -> None:
        """Note how far this machine's clock is ahead of Slack's; the next check writes it."""
        with self._lock:
            self._note(clock_ahead_s=round(ahead.total_seconds()))

    def close(self) -> None:
        """Hear nothing more, and say so."""
        with self._lock:
            self._is_closed = True
        self._end()
        with self._lock:
            self._write(stopped_at=self._clock.now())

    def _look(self) -> None:
        """Find out whether the line is up, and mend it."""

    def _end(self) -> None:
        """Listen no more."""

    def _heard(self) -> None:
        """Note that Slack sent something; raises StoreError where that must not count yet, for a gap before it."""
        with self._lock:
            self._note_gap()
            self._note(last_event_at=self._clock.now())

    def _refused(self) -> None:
        """Note that something could not be stored; Slack sends it again, but not for ever."""
        with self._lock:
            self._missed_since = self._missed_since or self._clock.now()

    def _note_gap(self, session_age: timedelta = timedelta()) -> None:
        if self._missed_since is not None:
            self._on_gap(self._missed_since, session_age)
            self._missed_since = None

    def _note_up(self) -> None:
        self._note(connected_since=self._clock.now(), down_since=None, problem=None)

    def _note_down(self, problem: str | None) -> None:
        """Note that nothing is heard, and why; from now on something may be missed."""
        self._missed_since = self._missed_since or self._clock.now()
        down_since = self._now.down_since or self._clock.now()
        self._note(connected_since=None, down_since=down_since, problem=problem)

    def _note(self, **changes: Any) -> None:
        self._now = self._now.model_copy(update=changes)

    def _write(self, **changes: Any) -> None:
        """Change how the process stands and write it; a disk that refuses is logged."""
        self._note(**changes, at=self._clock.now())
        self._written = self._now
        try:
            for place in self._places:
                place.update(self._now.model_dump(mode="json"))
        except StoreError:
            log.exception("the connection's state could not be written", extra={"action": "presence_lost"})


def _last_heard(document: Mapping[str, Any]) -> datetime | None:
    """Return when the process before this one last heard Slack; None if there was none."""
    for key in ("down_since", "stopped_at", "at"):
        with suppress(KeyError, TypeError, ValueError):
            return datetime.fromisoformat(document[key])
    return None


MAX_DEPTH: int = 60
"""Slack's own payloads stay below 20 levels; far deeper ones exhaust the stack of whoever prints them."""


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Named(_Shape):
    id: str | None = None


class _Level(_Shape):
    """A level of a body at which Bolt looks for ids."""

    type: str | None = None
    team: str | _Named | None = None
    channel: str | _Named | None = None
    enterprise: str | _Named | None = None
    message: _Part | None = None
    previous_message: _Part | None = None
    item: _Part | None = None
    assistant_thread: _Part | None = None
    authorizations: list[_Part] | None = None
    response_urls: list[dict[str, Any]] = []


class _Part(_Level):
    user: str | _Named | None = None


class _Event(_Part):
    type: str


class _Person(_Shape):
    id: str
    team_id: str | None = None


class _Option(_Shape):
    value: str


class _Action(_Shape):
    action_id: str
    value: str | None = None
    selected_option: _Option | None = None


class _Input(_Shape):
    value: str | None = None
    selected_options: list[Any] | None = None


class _State(_Shape):
    values: dict[str, dict[str, _Input]] = {}


class _View(_Shape):
    type: Literal["modal", "home"]
    callback_id: str
    private_metadata: str = ""
    state: _State = _State()


class _EventBody(_Part):
    event: _Event


class _Command(_Part):
    command: str
    user_id: str
    team_id: str | None = None
    text: str = ""


class _Interaction(_Level):
    user: _Person
    channel: _Named | None = None


class _Click(_Interaction):
    trigger_id: str
    container: dict[str, Any] = {}
    actions: Annotated[list[_Action], Field(min_length=1)]


class _Dialogue(_Interaction):
    view: _View


class _Shortcut(_Interaction):
    callback_id: str
    trigger_id: str


class _Place(_Named):
    id: str


class _MessageShortcut(_Shortcut):
    message: _Part
    channel: _Place


class _Suggestion(_Interaction):
    action_id: str


class _Challenge(_Shape):
    challenge: str


_SHAPES: Mapping[str, type[_Shape]] = {
    "url_verification": _Challenge,
    "event_callback": _EventBody,
    "block_actions": _Click,
    "view_submission": _Dialogue,
    "view_closed": _Dialogue,
    "shortcut": _Shortcut,
    "message_action": _MessageShortcut,
    "block_suggestion": _Suggestion,
}


def dispatch(app: App, body: object, request: Mapping[str, Any]) -> BoltResponse:
    """Return Bolt's answer to a request, which is made of these arguments if its body has the right shape."""
    if is_well_shaped(body):
        return app.dispatch(BoltRequest(**request))
    log.warning("ignored a payload of the wrong shape", extra={"action": "payload_misshapen"})
    return BoltResponse(status=200, body="")


def is_well_shaped(body: object) -> bool:
    """Whether a body is of a kind this app takes and every part that is relied on has its type.

    >>> is_well_shaped({"type": "event_callback", "event": {"type": "message", "user": "U1"}})
    True
    >>> is_well_shaped({"type": "event_callback", "event": {"type": "message", "user": ["U1"]}})
    False
    """
    if not isinstance(body, dict) or is_deeper_than(body, MAX_DEPTH):
        return False
    kind = body.get("type")
    shape = _Command if "command" in body else _SHAPES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        return False
    try:
        shape.model_validate(body)
    except ValidationError:
        return False
    return True
