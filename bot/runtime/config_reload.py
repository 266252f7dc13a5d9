"""Takes over a changed triage.yml while the bot runs (SIGHUP): teams, codebases, sessions, channels and approvers.

A file that cannot be used changes nothing. `bot/teams.py` reads it and has each team take it over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from bot.config.environment import TEAMS
from bot.config.settings import TAKEN_OVER, Settings
from bot.config.team_settings import WatchedChat
from bot.heartbeat.sessions.session_registry import SessionRegistry


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
        self._settings, self._sessions, self._listeners = settings, sessions, listeners
        self._chats = settings.watched_chats
        self._codebases, self._folders = settings.all_codebases, _folders(settings)
        self.shared: Collection[str] = settings.share
        """What other teams get to see, as the file says now."""
        self._approvers = settings.approvers
        self._learn, self._see, self._go_by, self._unreadable = learn, see, go_by, unreadable

    @property
    def ops_channel(self) -> str:
        """The team's ops channel, which stays the same until a restart."""
        return self._settings.ops_channel

    def gains(self, settings: Settings) -> bool:
        """Whether a channel is new to the team."""
        return bool(_without(settings.watched_chats, self._chats))

    def take_over(self, settings: Settings) -> str:
        """Take over a team's new settings and return what is said of it; raises StoreError and changes nothing."""
        changed = self._watch(settings.watched_chats)
        changed += self._look_at(settings)
        changed += self._share(settings)
        changed += self._have_approve(settings)
        self._sessions.replace(settings.sessions)
        self._learn()
        waiting = [f"`{name}`" for name in self._changed_otherwise(settings)]
        rest = f" After a restart only: {', '.join(waiting)}." if waiting else ""
        return f"sessions: {', '.join(settings.sessions) or 'none'}.{changed}{rest}"

    def _look_at(self, settings: Settings) -> str:
        """Take over the codebases and the sessions' folders; return what is said of it."""
        wanted, folders = settings.all_codebases, _folders(settings)
        is_same = wanted == self._codebases
        if is_same and folders == self._folders:
            return ""
        self._see(settings)
        self._codebases, self._folders = wanted, folders
        if is_same:
            return ""
        return f" Codebases now: {', '.join(name or str(one.path) for name, one in wanted.items())}."

    def _share(self, settings: Settings) -> str:
        """Take over what is shared; return what is said of it."""
        before, self.shared = self.shared, settings.share
        return "" if before == self.shared else f" Shared with other teams now: {', '.join(self.shared) or 'nothing'}."

    def _have_approve(self, settings: Settings) -> str:
        """Take over who may approve; return what is said of it."""
        if (wanted := settings.approvers) == self._approvers:
            return ""
        self._go_by(wanted)
        self._approvers = wanted
        listed = ", ".join(f"`{one}`" for one in wanted or ())  # no mention, which would ring
        people = "everybody in this channel" if wanted is None else listed or "nobody"
        return f" Approvers now: {people}."

    def _watch(self, chats: tuple[WatchedChat, ...]) -> str:
        """Take over the watched channels; return what is said of it."""
        if chats == self._chats:
            return ""
        for listener in self._listeners:
            listener.watch(chats)
        new, gone, picks = _without(chats, self._chats), _without(self._chats, chats), _picks(chats, self._chats)
        self._chats = chats
        said = f" Watched from now on: {_named(new)}." if new else ""
        said += f" No longer watched: {_named(gone)}; open questions there stay open." if gone else ""
        said += "".join(f" Questions in {where} are about {what} from now on." for where, what in picks)
        problems = [problem for chat in new if (problem := self._unreadable(chat))]
        if problems:
            said += f" {'; '.join(problems)}: type /invite @triage there, or correct its id in triage.yml."
        return said

    def _changed_otherwise(self, settings: Settings) -> list[str]:
        """Return the keys whose values wait for a restart."""
        names = Settings.model_fields.keys() - TAKEN_OVER
        return sorted(name for name in names if getattr(self._settings, name) != getattr(settings, name))


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


def _without(chats: Iterable[WatchedChat], others: Iterable[WatchedChat]) -> list[WatchedChat]:
    ids = {chat.chat_id for chat in others}
    return [chat for chat in chats if chat.chat_id not in ids]


def _picks(chats: Iterable[WatchedChat], before: Iterable[WatchedChat]) -> list[tuple[str, str]]:
    """Return which channels of before pick other codebases now, and which these are."""
    picked = {chat.chat_id: chat.codebases for chat in before}
    changed = [chat for chat in chats if chat.codebases != picked.get(chat.chat_id, chat.codebases)]
    return [(_named([chat]), ", ".join(chat.codebases or ()) or "all codebases of the team") for chat in changed]


def _named(chats: Sequence[WatchedChat]) -> str:
    return ", ".join(f"#{chat.name}" if chat.name else f"<#{chat.chat_id}>" for chat in chats)
