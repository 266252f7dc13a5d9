"""Decides to which team something from Slack belongs: by what it names, else by its channel, else the first team.

A team's listeners see only their own team's data, so a wrong decision would end at "not on file", never at another
team's text. With one team everything is that team's, and nothing is looked up.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slack_bolt.kwargs_injection.args import Args

from bot.casework.approvers import Approvers
from bot.domain.events import is_direct, thread_key
from bot.intake.normalise import Identity, normalise
from bot.intake.watcher import Watcher
from handlers.buttons.decision_handler import Body, Listener, clicking_person
from handlers.commands.dispatcher import CommandDispatcher

_PARTS: Final = re.compile(r"[|!]")
NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,100}", re.ASCII)
"""What may be the id of something; `TeamListeners.owns` is asked of nothing else."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamListeners:
    """What listens for one team.

    `shortcuts`, `actions` and `views` are its message shortcuts, buttons and dialogues by id. `owns` says whether a
    thread, a session or a suggestion of that id is this team's, or a value that names the team; `has_card` whether a
    card of its stands at a ts of the ops channel; `owned` names the sessions that belong to a user.
    """

    team: str
    ops_channel: str
    watcher: Watcher
    approvers: Approvers
    commands: CommandDispatcher
    shortcuts: Mapping[str, Listener]
    actions: Mapping[str, Listener]
    views: Mapping[str, Listener]
    owns: Callable[[str], bool]
    has_card: Callable[[str], bool]
    owned: Callable[[str], frozenset[str]]


class TeamRouter:
    """The teams of the process; safe in several threads, and they may come and go."""

    def __init__(self, me: Identity) -> None:
        self._me, self.team_id = me, me.team_id
        self._teams: dict[str, TeamListeners] = {}
        self._lock = threading.Lock()

    def add(self, listeners: TeamListeners) -> None:
        """Listen for a team from now on."""
        with self._lock:
            self._teams = {**self._teams, listeners.team: listeners}

    def remove(self, team: str) -> None:
        """Listen for a team no more; whoever clicks on what is left of it hears that it is not on file."""
        with self._lock:
            self._teams = {name: one for name, one in self._teams.items() if name != team}

    def all(self) -> list[TeamListeners]:
        """Return every team, in the file's order."""
        return list(self._teams.values())

    def of_channel(self, channel: str) -> TeamListeners | None:
        """Return the team that watches a channel, or whose ops channel it is; the only one has them all."""
        teams = self.all()
        if len(teams) == 1:
            return teams[0]
        watching = (one for one in teams if one.watcher.watches(channel))
        return next(watching, None) or next((one for one in teams if one.ops_channel == channel), None)

    def of_message(self, body: Mapping[str, Any]) -> TeamListeners:
        """Return who gets a message: who has it, who works on its thread, whose channel it is, else as of the person.

        A person's own team counts in direct messages alone.
        """
        teams = self.all()
        if len(teams) == 1:
            return teams[0]
        event = body.get("event") or {}
        if (placed := self._of_place(body)) is not None or not is_direct(str(event.get("channel") or "")):
            return placed or teams[0]
        return self._of_person(str(event.get("user") or ""), self.team_id)

    def _of_person(self, user: str, workspace: str) -> TeamListeners:
        """Return the only team that somebody belongs to, or who owns a session; the first where there is no such."""
        teams = self.all()
        theirs = [one for one in teams if one.approvers.belongs(user, workspace)] or [
            one for one in teams if one.owned(user)
        ]
        return theirs[0] if len(theirs) == 1 else teams[0]

    def of_shortcut(self, body: Body) -> TeamListeners:
        """Return who gets a message that somebody wants worked on: as `of_message`, else the only team they are of."""
        teams = self.all()
        if len(teams) == 1:
            return teams[0]
        channel, message = body.get("channel") or {}, body.get("message") or {}
        event = {**message, "type": "message", "channel": channel.get("id")}
        if (placed := self._of_place({"team_id": self.team_id, "event": event})) is not None:
            return placed
        return self._of_person(*clicking_person(body))

    def _of_place(self, body: Mapping[str, Any]) -> TeamListeners | None:
        """Return who works on a message's thread, else whose channel it is in."""
        try:
            incoming = normalise(body, self._me)
        except ValueError:
            incoming = None
        if incoming is None:
            return None
        teams, event = self.all(), incoming.event
        if (heard := next((one for one in teams if one.watcher.has_heard(event)), None)) is not None:
            return heard  # delivered again, or read back: a channel may have changed hands meanwhile
        under = event.thread_id
        working = (one for one in teams if one.watcher.has_open(thread_key(event)) or one.watcher.is_under_alert(event))
        carded = (one for one in teams if under and one.ops_channel == event.chat_id and one.has_card(under))
        answered = (one for one in teams if one.watcher.follows(event))
        placed = next(working, None) or next(carded, None) or self.of_channel(event.chat_id)
        return placed or next(answered, None)

    def of_click(self, body: Body) -> TeamListeners:
        """Return whose a button or a dialogue is: whose what it names is, else whose channel it was clicked in."""
        teams = self.all()
        if len(teams) == 1:
            return teams[0]
        channel = (body.get("channel") or {}).get("id") or (body.get("container") or {}).get("channel_id")
        return _owner(body, teams) or (self.of_channel(str(channel)) if channel else None) or teams[0]

    def shortcut(self, callback_id: str) -> Listener:
        """Return the listener of a message shortcut, which is that of the team that gets the message."""
        return lambda args: call(self.of_shortcut(args.body).shortcuts[callback_id], args)

    def action(self, action_id: str) -> Listener:
        """Return the listener of a button, which is the team's whose it is."""
        return lambda args: call(self.of_click(args.body).actions[action_id], args)

    def view(self, callback_id: str) -> Listener:
        """Return the listener of a dialogue, which is the team's whose it is."""
        return lambda args: call(self.of_click(args.body).views[callback_id], args)


def call(listener: Listener, args: Args) -> None:
    """Call a listener with the arguments it names, as Bolt does."""
    names = inspect.signature(listener).parameters
    listener(**{name: getattr(args, name) for name in names})


def _owner(body: Body, teams: Sequence[TeamListeners]) -> TeamListeners | None:
    """Return the team to which something belongs that a button or a dialogue names."""
    return next((one for name in _names_in(body) for one in teams if one.owns(name)), None)


def _names_in(body: Body) -> Iterator[str]:
    """Yield what may be the id of something in the value of a button, an option or a dialogue; all of it is hostile."""
    view, actions = body.get("view"), body.get("actions")
    action: Any = actions[0] if isinstance(actions, list) and actions and isinstance(actions[0], dict) else {}
    option = action.get("selected_option")
    values = [(option if isinstance(option, dict) else action).get("value")]
    values += [view.get("private_metadata")] if isinstance(view, dict) else []
    for value in values:
        yield from filter(NAME.fullmatch, _PARTS.split(value) if isinstance(value, str) else ())
