"""`/triage` of several teams: for the team of the channel it is typed in, elsewhere for those one belongs to."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, Respond

from handlers.commands.typed_command import TypedCommand
from handlers.team_router import TeamRouter

Body = dict[str, Any]


class TeamCommands:
    """The listener of `/triage`."""

    def __init__(self, teams: TeamRouter) -> None:
        self._teams = teams

    def __call__(self, ack: Ack, body: Body, respond: Respond) -> None:
        """Have the team's commands answer."""
        typed = TypedCommand.from_payload(body)
        there = self._teams.of_channel(str(body.get("channel_id") or ""))
        of = there or next(iter(self._teams.of_user(*typed.who)), None)
        if of is None:
            ack(response_type="ephemeral", text="You belong to no team of this triage. Type it in a team's channel.")
        else:
            of.commands(ack, body, respond)
