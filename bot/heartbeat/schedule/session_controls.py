"""What people may do to sessions by command: switch, pace, start; each answers with one sentence and what to type next.

Who may is asked before (see handlers/commands/heartbeat_command.py). `wake` is the scheduler's, or on the terminal
leaves a wake for the bot; `cancel` stops a running beat and says whether there was one.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import ChangedBy, EnabledOverride, IntervalOverride, SessionOverride
from bot.domain.intervals import format_interval, parse_interval
from bot.errors import ConfigError, InputError
from bot.heartbeat.sessions.session_registry import SessionRegistry
from bot.ports.collections import Collection

SHORTEST: Final = timedelta(minutes=1)
LONGEST: Final = timedelta(days=366)
DEFAULT: Final = "default"


class SessionControls:
    """Switches of all sessions; every method raises InputError for an unknown session, with the near names."""

    def __init__(
        self,
        sessions: SessionRegistry,
        overrides: Collection[SessionOverride],
        wake: Callable[[str, Wake], str],
        cancel: Callable[[str], bool],
    ) -> None:
        self._sessions, self._overrides, self._wake, self._cancel = sessions, overrides, wake, cancel

    def switch(self, session_id: str, by: ChangedBy, *, on: bool) -> str:
        """Switch a session's heartbeat on or off; it stays so across restarts, whatever triage.yml says.

        Off also stops the running beat, if it runs in this process.
        """
        session = self._sessions.get(session_id)
        configured = self._sessions.configured(session.id).heartbeat.enabled
        switch = EnabledOverride(value=on, by=by) if on != configured else None
        self._overrides.change(session.id, lambda override: _with(override, enabled=switch))
        if on:
            return f"{session.id} is on. To beat now: /triage heartbeat run {session.id}"
        stopped = " The beat under way is being stopped." if self._cancel(session.id) else ""
        return (
            f"{session.id} is off; nothing starts a beat.{stopped} To switch it on: /triage heartbeat on {session.id}"
        )

    def pace(self, session_id: str, interval: str, by: ChangedBy) -> str:
        """Set how often a session beats; `default` gives the word back to triage.yml.

        Raises:
            InputError: the interval is none, shorter than a minute or longer than a year.
        """
        session = self._sessions.get(session_id)
        configured = self._sessions.configured(session.id).heartbeat.every
        every = configured if interval == DEFAULT else _interval(interval, session.id)
        pace = IntervalOverride(value=every, by=by) if every != configured else None
        self._overrides.change(session.id, lambda override: _with(override, every=pace))
        back = f" To go back: /triage heartbeat every {session.id} {DEFAULT}" if pace else ""
        return f"{session.id} beats every {format_interval(every)}{'' if pace else ', as triage.yml says'}.{back}"

    def run(self, session_id: str, wake: Wake = Wake.ON_DEMAND) -> str:
        """Ask for a beat now."""
        return self._wake(self._sessions.get(session_id).id, wake)


def _with(override: SessionOverride, **changes: EnabledOverride | IntervalOverride | None) -> SessionOverride:
    return override.model_copy(update=changes)


def _interval(text: str, session_id: str) -> timedelta:
    try:
        every = parse_interval(text)
    except ConfigError as error:
        raise InputError(f"{error};", next_step=f"type /triage heartbeat every {session_id} 30m") from error
    if not SHORTEST <= every <= LONGEST:
        raise InputError(
            f"{text} is not between 1m and 366d;", next_step=f"to stop the beats: /triage heartbeat off {session_id}"
        )
    return every
