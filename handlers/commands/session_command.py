"""`/triage heartbeat …`, `/triage tiers …` and `/triage pollinate …`: who types, then what the bot answers them.

What each answers and who may ask stands in bot/heartbeat, the same for Slack and for the terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.casework.approvers import Approvers
from bot.domain.answers import Answer
from bot.domain.commands.command_line import CommandLine
from bot.heartbeat.session_registry import Asker, Owners, Session
from handlers.commands.dispatcher import TypedCommand


class SlackAsker(Asker):
    """A user of Slack; the chat is asked now whether they may."""

    def __init__(self, typed: TypedCommand, owners: Owners, approvers: Approvers) -> None:
        super().__init__(typed.user_id, typed.user_name)
        self._team, self._owners, self._approvers = typed.team_id, owners, approvers

    def require(self, refusal: str, session: Session | None = None, *, next_step: str = "") -> None:
        """Return if they are an approver or own the session; raises InputError."""
        owner = self._owners.claim(session, self.id) if session else ""
        self._approvers.require(self.id, self._team, refusal, owner=owner, next_step=next_step)


@dataclass(frozen=True, slots=True)
class SessionCommand:
    """One of the three commands; a Command of handlers/commands."""

    answers: Callable[[CommandLine, Asker], Answer]
    owners: Owners
    approvers: Approvers

    def __call__(self, typed: TypedCommand) -> Answer:
        """Return the answer; raises TriageError for what cannot be done."""
        return self.answers(typed.line, SlackAsker(typed, self.owners, self.approvers))
