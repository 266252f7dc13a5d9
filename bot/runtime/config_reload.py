"""A changed triage.yml is taken over while the bot runs (SIGHUP): its sessions and watched channels, or nothing at all.

A file that cannot be used changes nothing; every problem is told to the ops channel and the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bot.config.settings import TAKEN_OVER, Settings
from bot.config.team_settings import WatchedChat
from bot.errors import ConfigError, StoreError
from bot.heartbeat.sessions.session_registry import SessionRegistry
from bot.intake.backfill.chat_backfill import Backfill
from bot.intake.watcher import Watcher


class ConfigReload:
    """Takes over what may change under way.

    `learn` is called when sessions have changed. `unreadable` says, for a new channel, why it cannot be read: None
    where it can.
    """

    def __init__(
        self,
        settings: Settings,
        sessions: SessionRegistry,
        watcher: Watcher,
        backfill: Backfill,
        *,
        say: Callable[[str], None],
        learn: Callable[[], None],
        unreadable: Callable[[WatchedChat], str | None],
    ) -> None:
        self._settings, self._sessions = settings, sessions
        self._watcher, self._backfill = watcher, backfill
        self._chats = settings.watched_chats
        self._say, self._learn, self._unreadable = say, learn, unreadable

    def __call__(self, load: Callable[[], Settings]) -> None:
        """Read the file anew with `load` and say what became of it; never raises ConfigError or StoreError."""
        try:
            settings = load()
            changed = self._watch(settings.watched_chats)
        except ConfigError as error:
            problems = "\n".join(f"- {problem}" for problem in error.problems)
            self._say(f"triage.yml was not loaded; the old settings stay in use. Fix this:\n{problems}")
            return
        except StoreError as error:
            self._say(f"triage.yml was not loaded; the old settings stay in use: {error}. Then reload again.")
            return
        self._sessions.replace(settings.sessions)
        self._learn()
        rest = "" if self._same_otherwise(settings) else " Other changes apply after a restart."
        self._say(f"triage.yml was read again; sessions: {', '.join(settings.sessions) or 'none'}.{changed}{rest}")

    def _watch(self, chats: tuple[WatchedChat, ...]) -> str:
        """Take over the watched channels; return what is said of it."""
        if chats == self._chats:
            return ""
        self._backfill.watch(chats)
        self._watcher.watch(chats)
        new, gone = _without(chats, self._chats), _without(self._chats, chats)
        self._chats = chats
        said = f" Watched from now on: {_named(new)}." if new else ""
        said += f" No longer watched: {_named(gone)}; open questions there stay open." if gone else ""
        problems = [problem for chat in new if (problem := self._unreadable(chat))]
        if problems:
            said += f" {'; '.join(problems)}: type /invite @triage there, or correct its id under watched_chats."
        return said

    def _same_otherwise(self, settings: Settings) -> bool:
        ours = {name: getattr(settings, name) for name in TAKEN_OVER}
        return self._settings.model_copy(update=ours) == settings


def _without(chats: Iterable[WatchedChat], others: Iterable[WatchedChat]) -> list[WatchedChat]:
    ids = {chat.chat_id for chat in others}
    return [chat for chat in chats if chat.chat_id not in ids]


def _named(chats: Sequence[WatchedChat]) -> str:
    return ", ".join(f"#{chat.name}" if chat.name else f"<#{chat.chat_id}>" for chat in chats)
