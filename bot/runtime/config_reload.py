"""Takes over a changed triage.yml while the bot runs (SIGHUP): teams, codebases, sessions, channels and approvers.

A file that cannot be used changes nothing. `bot/teams.py` reads it and has each team take it over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from bot.config.environment import TEAMS
from bot.config.settings import TAKEN_OVER, Settings
from bot.config.team_settings import WatchedChat
from bot.heartbeat.session_registry import SessionRegistry


class ChannelListener(Protocol):
    """Something of a team that goes by the channels it watches."""

    def watch(self, chats: Sequence[WatchedChat]) -> None:
        """Go by these from now on; raises StoreError and changes nothing."""


class TeamReload:
    """Takes over what may change of one team under way.

    Of the `listeners` the first alone may refuse channels. `learn` is called when sessions have changed, `see` where
    the team's codebases have, which are open by then, and `go_by` where the approvers have. `unreadable` says, for a
    new channel, why it cannot be read: None where it can.
    """

    def __init__(
        self,
        settings: Settings,
        sessions: SessionRegistry,
        listeners: Sequence[ChannelListener],
        *,
        learn: Callable[[], None],
        see: Callable[[Settings], None],
        go_by: Callable[[tuple[str, ...] | None], None],
        unreadable: Callable[[WatchedChat], str | None],
    ) -> None:
        self._at_start = self.now = settings
        self._sessions, self._listeners = sessions, listeners
        self._learn, self._see, self._go_by, self._unreadable = learn, see, go_by, unreadable

    @property
    def ops_channel(self) -> str:
        """The team's ops channel, which stays the same until a restart."""
        return self._at_start.ops_channel

    def gains(self, settings: Settings) -> bool:
        """Whether a channel is new to the team."""
        return bool(_new_chats(settings, self.now))

    def take_over(self, settings: Settings) -> str:
        """Take over a team's new settings and return what is said of it; raises StoreError and changes nothing."""
        before, chats = self.now, settings.watched_chats
        if chats != before.watched_chats:
            for listener in self._listeners:
                listener.watch(chats)
        self.now = settings
        if (settings.all_codebases, _folders(settings)) != (before.all_codebases, _folders(before)):
            self._see(settings)
        if settings.approvers != before.approvers:
            self._go_by(settings.approvers)
        self._sessions.replace(settings.sessions)
        self._learn()
        known = _listed(before)
        said = "".join(
            f" `{key}` now: {', '.join(names) or 'none'}."
            for key, names in _listed(settings).items()
            if names != known[key]
        )
        if problems := [problem for chat in _new_chats(settings, before) if (problem := self._unreadable(chat))]:
            said += f" {'; '.join(problems)}: type /invite @triage there, or correct its id in triage.yml."
        waiting = ", ".join(f"`{name}`" for name in self._changed_otherwise(settings))
        rest = f" After a restart only: {waiting}." if waiting else ""
        return f"sessions: {', '.join(settings.sessions) or 'none'}.{said}{rest}"

    def _changed_otherwise(self, settings: Settings) -> list[str]:
        """Return the keys whose values wait for a restart."""
        names = Settings.model_fields.keys() - TAKEN_OVER
        return sorted(name for name in names if getattr(self._at_start, name) != getattr(settings, name))


def rename_refused(old: str, new: str) -> str:
    """Return why a team is not taken over under another name, and what to do instead.

    >>> print(rename_refused("pay", "cash"))
    teams.cash: it has the ops channel of pay, which is gone. To rename pay and keep its threads, notes and sessions: \
stop triage, `mv teams/pay teams/cash` in the data directory, start triage. To begin anew: take pay out, reload, and \
then add cash
    """
    return (
        f"teams.{new}: it has the ops channel of {old}, which is gone. To rename {old} and keep its threads, notes and"
        f" sessions: stop triage, `mv {TEAMS}/{old} {TEAMS}/{new}` in the data directory, start triage. To begin anew:"
        f" take {old} out, reload, and then add {new}"
    )


def ops_channels_taken(running: Mapping[str, str], wanted: Mapping[str, Settings]) -> Iterator[str]:
    """Yield why the file cannot be taken over under way: an ops channel stays its team's until a restart.

    `running` has the ops channel of each team that runs. Until then nobody else may have it, or watch it.
    """
    for old, channel in running.items():
        if old not in wanted or wanted[old].ops_channel == channel:
            continue
        for name, settings in wanted.items():
            is_own = name not in running and settings.ops_channel == channel
            if is_own or any(chat.chat_id == channel for chat in settings.watched_chats):
                yield (
                    f"teams.{name}: {channel} stays the ops channel of {old} until a restart; stop triage and start it"
                )


def _folders(settings: Settings) -> dict[str, Path]:
    return {name: one.cwd for name, one in settings.sessions.items()}


def _listed(settings: Settings) -> dict[str, list[str]]:
    """Return what people are told of the keys that may change under way."""
    approvers = settings.approvers
    return {
        "watched_chats": [
            _named(chat) + (f" (about {', '.join(chat.codebases)})" if chat.codebases else "")
            for chat in settings.watched_chats
        ],
        "codebases": [name or str(one.path) for name, one in settings.all_codebases.items()],
        "share": list(settings.share),
        # no mention, which would ring
        "approvers": ["everybody in this channel"] if approvers is None else [f"`{one}`" for one in approvers],
    }


def _new_chats(settings: Settings, before: Settings) -> list[WatchedChat]:
    known = {chat.chat_id for chat in before.watched_chats}
    return [chat for chat in settings.watched_chats if chat.chat_id not in known]


def _named(chat: WatchedChat) -> str:
    return f"#{chat.name}" if chat.name else f"<#{chat.chat_id}>"
