"""App Home of several teams: a part for each team somebody belongs to; they share the room of the page. Pure.

Drafts come first: what one team's leave is the other teams', then the sessions'. What has no room is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from slack_sdk.models.blocks import Block, DividerBlock, HeaderBlock
from slack_sdk.models.views import View

from blocks.text.message_size import fair_shares
from blocks.text.outgoing_text import context, escape, section
from blocks.views.home_view import (
    APPROVERS_ONLY,
    HomeData,
    Notice,
    Room,
    bytes_of,
    drafts_whole,
    notice_blocks,
    numbers_text,
    pause_blocks,
    queue_text,
    session_rows,
    waiting_text,
)
from blocks.views.trust_view import trust_blocks
from bot.domain.text.humanize import counted

MAX_PARTS: Final = 7
"""How many teams have a part of their own; the rest of somebody's teams are a line each."""

OF_NO_TEAM: Final = (
    "*You belong to no team of this triage*, so there is nothing to show here.\n"
    "You belong to one when you are among its approvers, or in its ops channel: ask somebody there to invite you. This "
    "page then shows its drafts and sessions.\nTo ask a question you need no team: mention me in a channel."
)
OWNER_ONLY: Final = "You own sessions of this team; its drafts and numbers are for its approvers and its ops channel."


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamHome:
    """What somebody sees of one team: who may not approve sees counts, and no question, draft or link to a card.

    `home` is None where it cannot be read now. `only` are the sessions of somebody who belongs to the team by those
    alone, and sees nothing else of it; None of a member.
    """

    name: str
    home: HomeData | None
    may_approve: bool
    only: frozenset[str] | None = None


@dataclass(kw_only=True, slots=True)
class _Part:
    """One team's part; `above` its drafts stand its name and counts, `below` its sessions its numbers."""

    name: str
    home: HomeData
    above: list[Block]
    below: list[Block]
    drafts: list[Block]
    sessions: list[Block]

    def title(self) -> list[Block]:
        """Return how many sessions there are, and how many of them are shown."""
        count, shown = len(self.home.sessions), len(self.sessions)
        more = "" if shown == count else f", {shown} of them here; all: `/triage {self.name} heartbeat list`"
        return [context(f"*{counted(count, 'session')}*{more}")] if count else []

    def blocks(self) -> list[Block]:
        """Return the part."""
        return [*self.above, *self.drafts, *self.title(), *self.sessions, *self.below]


def teams_home_view(teams: Sequence[TeamHome], *, user: str, notice: Notice | None = None) -> View:
    """Return somebody's page."""
    if not teams:
        return View(type="home", blocks=[*notice_blocks(notice), section(OF_NO_TEAM)])
    shown = [(team, _part(team, team.home)) for team in teams[:MAX_PARTS] if team.home is not None]
    parts, head, foot = [part for _, part in shown], notice_blocks(notice), _foot(teams)
    _share_among_drafts([part for team, part in shown if team.may_approve], _left(parts, [*head, *foot]))
    _share_among_sessions(shown, user, _left(parts, [*head, *foot]))
    return View(type="home", blocks=[*head, *[block for part in parts for block in part.blocks()], *foot])


def _part(team: TeamHome, home: HomeData) -> _Part:
    name = HeaderBlock(text=f"Team {team.name}")
    if team.only is not None:
        home = replace(home, sessions=[row for row in home.sessions if row.session.id in team.only])
        return _Part(
            name=team.name, home=home, above=[name, context(OWNER_ONLY)], below=[DividerBlock()], drafts=[], sessions=[]
        )
    waiting = section(waiting_text(home.overview, may_approve=team.may_approve))
    numbers = f"Today (UTC): {numbers_text(home.today, home.overview)}\n{queue_text(home.overview)}"
    closed = [] if team.may_approve else [context(APPROVERS_ONLY)]
    return _Part(
        name=team.name,
        home=home,
        above=[name, *pause_blocks(home.overview), waiting, *closed],
        below=[
            *trust_blocks(home.trust, team=home.team, may_approve=team.may_approve),
            section(numbers),
            DividerBlock(),
        ],
        drafts=[],
        sessions=[],
    )


def _foot(teams: Sequence[TeamHome]) -> list[Block]:
    """Return what has no part of its own, and what is said once for all teams."""
    lines = [
        f"*{team.name}*: {waiting_text(team.home.overview, may_approve=False)}"
        for team in teams[MAX_PARTS:]
        if team.home is not None and team.only is None
    ]
    lines += [
        f":warning: Team {team.name} cannot be read now; the bot's log says why." for team in teams if not team.home
    ]
    connection = next((escape(team.home.overview.connection) for team in teams if team.home), "")
    others = [section("\n".join(lines))] if lines else []
    return [*others, context("\n".join([*filter(None, [connection]), "Next: `/triage status`, `/triage help`"]))]


def _left(parts: Sequence[_Part], others: Sequence[Block]) -> Room:
    """Return the room that the page has left beside what it holds already."""
    return Room.beside([*others, *[block for part in parts for block in part.blocks()]])


def _share_among_drafts(parts: Sequence[_Part], room: Room) -> None:
    """Give each team its share of the room: whole drafts, then lines for those that have none."""
    wanted = [drafts_whole(part.home, room) for part in parts]
    for part, drafts, share in zip(parts, wanted, _shares(wanted, room), strict=True):
        part.drafts = drafts if share.holds(drafts) else drafts_whole(part.home, share)


def _share_among_sessions(shown: Sequence[tuple[TeamHome, _Part]], user: str, room: Room) -> None:
    wanted = [session_rows(part.home, user, team.may_approve) for team, part in shown]
    for (_, part), rows, share in zip(shown, wanted, _shares(wanted, room), strict=True):
        part.sessions = [row for row in rows if share.takes([row])]


def _shares(wanted: Sequence[Sequence[Block]], room: Room) -> list[Room]:
    blocks = _all_of(room.blocks, [len(one) for one in wanted])
    sizes = _all_of(room.size, [bytes_of(one) for one in wanted])
    return [Room(blocks=count, size=size) for count, size in zip(blocks, sizes, strict=True)]


def _all_of(room: int, wanted: Sequence[int]) -> list[int]:
    """Return fair shares, and with each an equal part of what nobody wanted."""
    shares = fair_shares(wanted, room)
    return [share + (room - sum(shares)) // len(shares) for share in shares]
