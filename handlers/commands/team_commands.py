"""`/triage` with several teams: for the team that is named, else that of the channel, else for all the person belongs
to.

Only who belongs to a team sees what its commands say; an owner of sessions has the commands for those. Help, and an
approver's `investigate`, need only being in a channel of the team. With one team nothing of this applies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

from slack_bolt import Ack, Respond

from blocks.text.message_size import fit_together
from blocks.text.outgoing_text import context, escape, section
from blocks.views.answers import message_blocks
from bot.domain.answers import WORD_CHARS
from bot.domain.command_specs import NOTHING, OF_TEAMS, manual, subcommands, typed_verb
from handlers.commands.dispatcher import HELP_WORDS, PATIENCE_S, Shown, TypedCommand, answer_in_time
from handlers.team_router import NAME, TeamListeners, TeamRouter

Body = dict[str, Any]

OF_NO_TEAM: Final = (
    "You belong to no team of this triage: you are no approver, and in no ops channel. Type it in a team's channel, or "
    "ask an approver to invite you. What there is: /triage help"
)
_SESSION_AT: Final = {"heartbeat": 2, "tiers": 1}
"""Which word names the session."""


class TeamCommands:
    """The listener of `/triage`; what takes longer than `patience_s` is answered with a word that it does, at first."""

    def __init__(self, teams: TeamRouter, *, patience_s: float = PATIENCE_S) -> None:
        self._teams, self._patience_s = teams, patience_s

    def __call__(self, ack: Ack, body: Body, respond: Respond) -> None:
        """Answer for the teams it is for."""
        teams = self._teams.all()
        if len(teams) == 1:
            teams[0].commands(ack, body, respond)
        else:
            answer_in_time(self._answer, TypedCommand.from_payload(body), ack, respond, self._patience_s)

    def _answer(self, typed: TypedCommand) -> Shown:
        teams, first = self._teams.all(), typed.line.word(0)
        named = None if first in manual() else next((one for one in teams if one.team == first), None)
        if named is not None:
            typed = dataclasses.replace(typed, line=typed.line.without_first())
        if _is_help(typed) or not teams[0].approvers.knows(*typed.who):
            return _with_note(teams[0].commands.answer(typed), typed)
        mine = [one for one in teams if _may(one, typed)]
        asked = named or self._teams.of_channel(typed.channel_id)
        if asked is not None:
            return _of_team(asked, typed) if asked in mine or _is_open(asked, typed) else _refusal(asked, mine, typed)
        return _of_all(_owning(mine, typed) or mine, typed)


def _is_help(typed: TypedCommand) -> bool:
    """Whether the answer is the manual's, which is the same for all teams."""
    word = typed.line.word(0)
    return word not in manual() or word == "help" or (typed.line.word(1) in HELP_WORDS and word != "investigate")


def _with_note(answer: Shown, typed: TypedCommand) -> Shown:
    """Return the list of all commands with a line on teams; anything else as it is."""
    is_list = typed.line.word(0) in ("", "help") and not typed.line.word(1)
    return Shown(blocks=[*answer.blocks, context(escape(OF_TEAMS))]) if is_list else answer


def _may(team: TeamListeners, typed: TypedCommand) -> bool:
    """Whether somebody may see what this command says of a team."""
    if team.approvers.belongs(*typed.who) or typed.channel_id == team.ops_channel:
        return True
    word, verb = typed.line.word(0), typed.line.word(1)
    if word not in (*_SESSION_AT, "pollinate") or (word, verb) == ("heartbeat", "list"):
        return False
    owned = team.owned(typed.user_id)
    return bool(owned) if word == "pollinate" else typed.line.word(_SESSION_AT[word]) in owned


def _is_open(team: TeamListeners, typed: TypedCommand) -> bool:
    """Whether the command needs no more than a channel of the team: it says nothing of it, and has its own guard."""
    return typed.line.word(0) == "investigate" and team.watcher.watches(typed.channel_id)


def _owning(teams: Sequence[TeamListeners], typed: TypedCommand) -> list[TeamListeners]:
    """Return the team whose session or suggestion the command names, if it names one."""
    names = [word.lower() for word in typed.line.words[1:3] if subcommands(typed.line.word(0)) and NAME.fullmatch(word)]
    return [one for one in teams if any(map(one.owns, names))][:1]


def _of_all(teams: Sequence[TeamListeners], typed: TypedCommand) -> Shown:
    """Return what each team says where nothing is changed by it; what acts needs one team."""
    if not teams:
        return _said(OF_NO_TEAM)
    if len(teams) == 1:
        return _of_team(teams[0], typed)
    if not _is_report(typed):
        line = f"{typed.line.word(0)[:WORD_CHARS]}{' …' if typed.line.words[1:] else ''}"
        ways = "\n".join(f"/triage {one.team} {line}" for one in teams)
        return _said(f"For which team? Nothing was done. Type it in the team's channel, or one of these:\n{ways}")
    return Shown(blocks=fit_together([_of_team(one, typed).blocks for one in teams]))


def _is_report(typed: TypedCommand) -> bool:
    """Whether a command changes nothing, whatever comes after its words."""
    word = typed.line.word(0)
    entry, unknown = typed_verb(typed.line) if word in manual() else (manual()["help"], "")
    return not unknown and (entry.changes == NOTHING or (bool(subcommands(word)) and not typed.line.word(1)))


def _of_team(team: TeamListeners, typed: TypedCommand) -> Shown:
    answer = team.commands.answer(typed)
    return dataclasses.replace(answer, blocks=[section(f"*Team {team.team}*"), *answer.blocks])


def _said(text: str) -> Shown:
    return Shown(blocks=message_blocks(text))


def _refusal(team: TeamListeners, mine: Sequence[TeamListeners], typed: TypedCommand) -> Shown:
    word = typed.line.word(0)
    own = "".join(f"\nOf yours: /triage {one.team} {word}" for one in mine)
    return _said(
        f"Only team {team.team} gets that: its approvers, and whoever is in its ops channel. Nothing was done.{own}"
    )
