"""A changed triage.yml is taken over while the bot runs (SIGHUP): its heartbeat parts, or nothing at all.

A file that cannot be used changes nothing; every problem is told to the ops channel and the log.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.config.settings import TAKEN_OVER, Settings
from bot.errors import ConfigError
from bot.heartbeat.sessions.session_registry import SessionRegistry


class ConfigReload:
    """Takes over what may change under way; `learn` is called when it has."""

    def __init__(
        self,
        settings: Settings,
        sessions: SessionRegistry,
        *,
        say: Callable[[str], None],
        learn: Callable[[], None],
    ) -> None:
        self._settings, self._sessions = settings, sessions
        self._say, self._learn = say, learn

    def __call__(self, load: Callable[[], Settings]) -> None:
        """Read the file anew with `load` and say what became of it; never raises ConfigError."""
        try:
            settings = load()
        except ConfigError as error:
            problems = "\n".join(f"- {problem}" for problem in error.problems)
            self._say(f"triage.yml was not loaded; the old settings stay in use. Fix this:\n{problems}")
            return
        self._sessions.replace(settings.sessions)
        self._learn()
        rest = "" if self._same_otherwise(settings) else " Other changes apply after a restart."
        self._say(f"triage.yml was read again; sessions: {', '.join(settings.sessions) or 'none'}.{rest}")

    def _same_otherwise(self, settings: Settings) -> bool:
        ours = {name: getattr(settings, name) for name in TAKEN_OVER}
        return self._settings.model_copy(update=ours) == settings
