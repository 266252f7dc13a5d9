"""App Home: the answer to the last click, then a part for each team somebody belongs to; they share the room. Pure.

A part holds drafts with their buttons, watched repositories, the record of drafts and the day in numbers. Nobody
decides on what they have not read: a draft has buttons only where it is shown whole, as its card shows it. What Slack
has no room for (100 blocks, 250 kB) is a line with a link to its card. What one team's drafts leave is the other
teams', then the repositories'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from slack_sdk.models.blocks import Block, DividerBlock, HeaderBlock
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.draft_card import draft_fits
from blocks.elements import button
from blocks.text.message_size import fair_shares
from blocks.text.outgoing_text import answer_text, context, escape, local_time, quoted_line, section
from blocks.text.splitting import SECTION_CHARS, VIEW_BLOCKS, VIEW_BYTES, size_of, split, truncate
from blocks.views.answers import line_text
from blocks.views.report_views import draft_lines, trust_blocks
from bot.casework.reports.autonomy_metrics import AutonomyCase
from bot.casework.reports.status_overview import DayCounts, Overview, ThreadLine
from bot.domain.text.humanize import counted, time_ago
from bot.domain.threads import ThreadState
from bot.heartbeat.session_rows import SessionRow

MAX_SECTIONS: Final = 3
"""Enough for what somebody typed into a dialogue and gets back."""

ABOUT_CHARS: Final = 120

MAX_SESSIONS: Final = 20
SESSION_CHARS: Final = 600
BLOCKS_KEPT: Final = 2

DRAFT_BLOCKS: Final = 6
"""The least a draft needs: a line, its place, question, standing, words, buttons."""

MADE_IN_VAIN: Final = 10
"""After so many drafts that did not fit no further one is tried: a hundred long ones would take seconds to make."""

APPROVERS_ONLY: Final = "Only approvers can see them: `/triage approve-list`"

BYTES_KEPT: Final = 20_000
"""What the line and the list of the drafts that are not shown whole may need."""

MAX_PARTS: Final = 7
"""How many teams have a part of their own; the rest of somebody's teams are a line each."""

OF_NO_TEAM: Final = (
    "*You belong to no team of this triage*, so there is nothing to show here.\n"
    "You belong to one when you are among its approvers, or in its ops channel: ask somebody there to invite you. This "
    "page then shows its drafts and repositories.\nTo ask a question you need no team: mention me in a channel."
)
OWNER_ONLY: Final = "You own repositories of this team; its drafts and numbers are for its approvers and ops channel."


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """The answer to a click; `text` is plain but for mentions of users, which notify nobody on a page of one's own.

    `about` is the question that was decided on, as Slack delivered it; empty where there is none to name.
    """

    text: str
    at: datetime
    about: str = ""


def _notice_blocks(notice: Notice | None) -> list[Block]:
    """Return the answer and when it was given."""
    if notice is None:
        return []
    said = answer_text(notice.text).strip() or "Nothing happened."
    parts = split(f":speech_balloon: {said}", SECTION_CHARS)[:MAX_SECTIONS]
    asked = quoted_line(notice.about)
    about = f" · {truncate(asked, ABOUT_CHARS)}" if asked else ""
    when = context(f"your click {local_time(notice.at)}{about}")
    return [*map(section, parts), when, DividerBlock()]


@dataclass(frozen=True, kw_only=True, slots=True)
class HomeData:
    """All that one page shows; `drafts` are the threads behind the overview's, `card` makes their blocks."""

    overview: Overview
    today: DayCounts
    sessions: Sequence[SessionRow]
    now: datetime
    drafts: Mapping[str, ThreadState]
    card: Callable[[ThreadState], list[Block]]
    trust: AutonomyCase | None = None
    team: str = ""


@dataclass(slots=True)
class _Room:
    """What Slack still has room for on the page; `size` in bytes."""

    blocks: int
    size: int

    @classmethod
    def beside(cls, others: Sequence[Block]) -> _Room:
        """Return the room that the rest of the page leaves."""
        return cls(blocks=VIEW_BLOCKS - len(others), size=VIEW_BYTES - _bytes_of(others))

    def beside_lines(self) -> _Room:
        """Return the room for whole drafts: the line and the list of the others need some."""
        return _Room(blocks=self.blocks - BLOCKS_KEPT, size=self.size - BYTES_KEPT)

    def takes(self, blocks: Sequence[Block]) -> bool:
        """Whether there is room for these blocks together; then it is theirs."""
        if not self.holds(blocks):
            return False
        self.blocks -= len(blocks)
        self.size -= _bytes_of(blocks)
        return True

    def holds(self, blocks: Sequence[Block]) -> bool:
        """Whether there is room for these blocks together."""
        return len(blocks) <= self.blocks and _bytes_of(blocks) <= self.size


def _bytes_of(blocks: Sequence[Block]) -> int:
    """Return what blocks take of a view."""
    return size_of([block.to_dict() for block in blocks])


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamHome:
    """What somebody sees of one team: who may not approve sees counts, and no question, draft or link to a card.

    `name` is empty where there is one team only. `home` is None where it cannot be read now. `only` are the sessions of
    somebody who belongs to the team by those alone, and sees nothing else of it; None of a member.
    """

    name: str
    home: HomeData | None
    may_approve: bool
    only: frozenset[str] | None = None


@dataclass(kw_only=True, slots=True)
class _Part:
    """One team's part; the drafts and the repositories get their room later."""

    team: TeamHome
    home: HomeData
    drafts: list[Block] = field(default_factory=list)
    sessions: list[Block] = field(default_factory=list)

    def blocks(self) -> list[Block]:
        """Return the part."""
        return [*self._above(), *self.drafts, *self._title(), *self.sessions, *self._below()]

    def _above(self) -> list[Block]:
        name = HeaderBlock(text=f"Team {self.team.name}" if self.team.name else "Drafts")
        if self.team.only is not None:
            return [name, context(OWNER_ONLY)]
        seen, may_approve = self.home.overview, self.team.may_approve
        pause = [section(f":double_vertical_bar: *{escape(seen.paused)}* · `/triage resume`")] if seen.paused else []
        closed = [] if may_approve else [context(APPROVERS_ONLY)]
        return [name, *pause, section(_waiting_text(seen, may_approve=may_approve)), *closed]

    def _title(self) -> list[Block]:
        """Return how many repositories there are, and how many of them are shown."""
        count, shown = len(self.home.sessions), len(self.sessions)
        if not count:
            return [DividerBlock(), context("No repository is watched: add one under `sessions:` in triage.yml")]
        name = f"{self.team.name} " if self.team.name else ""
        more = "" if shown == count else f", {shown} of them here; all: `/triage {name}heartbeat list`"
        return [DividerBlock(), context(f"*{count} watched repositor{'y' if count == 1 else 'ies'}*{more}")]

    def _below(self) -> list[Block]:
        if self.team.only is not None:
            return [DividerBlock()]
        home = self.home
        numbers = f"*Today (UTC)*: {_numbers_text(home.today, home.overview)}\n{_queue_text(home.overview)}"
        trust = trust_blocks(home.trust, team=home.team, may_approve=self.team.may_approve)
        return [DividerBlock(), *trust, section(numbers), DividerBlock()]


def home_view(teams: Sequence[TeamHome], *, user: str, notice: Notice | None = None) -> View:
    """Return somebody's page."""
    if not teams:
        return View(type="home", blocks=[*_notice_blocks(notice), section(OF_NO_TEAM)])
    parts = [_Part(team=team, home=_seen_of(team, team.home)) for team in teams[:MAX_PARTS] if team.home is not None]
    others = [*_notice_blocks(notice), *_foot(teams)]
    _share_among_drafts([part for part in parts if part.team.may_approve], _left(parts, others))
    _share_among_sessions(parts, user, _left(parts, others))
    shown = [block for part in parts for block in part.blocks()]
    return View(type="home", blocks=[*_notice_blocks(notice), *shown, *_foot(teams)])


def _seen_of(team: TeamHome, home: HomeData) -> HomeData:
    """Return a team's data with the sessions that somebody may see."""
    if team.only is None:
        return home
    return replace(home, sessions=[row for row in home.sessions if row.session.id in team.only])


def _waiting_text(seen: Overview, *, may_approve: bool) -> str:
    """Return how many drafts wait, and how much is being investigated."""
    order = ", pages first, then the oldest" if may_approve and len(seen.drafts) > 1 else ""
    return f"*{len(seen.drafts)}* waiting for a decision{order} · {seen.running} being investigated"


def _drafts_whole(home: HomeData, room: _Room) -> list[Block]:
    """Return the drafts, each whole with its buttons as long as there is room, then a line for each of the others."""
    parts: list[Block] = []
    lines: list[ThreadLine] = []
    in_vain, room = 0, room.beside_lines()
    for place, line in enumerate(home.overview.drafts, 1):
        state = home.drafts.get(line.thread_id)
        is_tried = state is not None and draft_fits(state) and room.blocks >= DRAFT_BLOCKS and in_vain < MADE_IN_VAIN
        blocks = _draft(place, line, state, home) if state and is_tried else []
        if blocks and room.takes(blocks):
            parts += blocks
        else:
            lines.append(line)
            in_vain += is_tried
    return [*parts, *_lines(lines, home.now)]


def _draft(place: int, line: ThreadLine, state: ThreadState, home: HomeData) -> list[Block]:
    link = line.card_link
    card = f" · <{link}|card>" if link else ""
    return [
        DividerBlock(),
        context(f"*{place} of {len(home.overview.drafts)}* · asked {time_ago(home.now, line.started_at)}{card}"),
        *home.card(state),
    ]


def _lines(lines: Sequence[ThreadLine], now: datetime) -> list[Block]:
    if not lines:
        return []
    count = f"{len(lines)} more wait{'s' * (len(lines) == 1)}"
    return [
        context(f"{count}, too long to be shown here: decide on the card"),
        section(draft_lines(lines, now)),
    ]


def _session_rows(home: HomeData, user: str, may_approve: bool) -> list[Block]:
    """Return a block for each session, as many as a page holds at most."""
    shown = home.sessions[:MAX_SESSIONS]
    return [_session(row, home.now, may_run=may_approve or user == row.session.owner) for row in shown]


def _session(row: SessionRow, now: datetime, *, may_run: bool) -> Block:
    name, runs = row.session.id, may_run and row.next_at is not None
    run = button("Run now", ids.RUN_SESSION, name) if runs else None
    return section(line_text(row.line(now)), block_id=ids.session_block_id(name), accessory=run, limit=SESSION_CHARS)


def _numbers_text(day: DayCounts, seen: Overview) -> str:
    """Return the day in numbers."""
    cost = "cost unknown" if day.cost_usd is None else f"${day.cost_usd:.2f}"
    runs = f"{counted(day.model_runs, 'model run')}, {cost}" if day.model_runs else "no model run, $0.00"
    heard = f"{counted(day.messages, 'message')} read, {day.actionable} looked into"
    posted = f"{seen.posted_today} repl{'y' if seen.posted_today == 1 else 'ies'} posted"
    return f"{heard} · {posted}\n{runs}"


def _queue_text(seen: Overview) -> str:
    """Return what was heard last and how the queue stands."""
    damage = f"\n:warning: {len(seen.unreadable)} records cannot be read: `triage status`" if seen.unreadable else ""
    given_up = f":warning: {seen.failed} failed" if seen.failed else "0 failed"
    return f"{escape(seen.last_event)} · {seen.queued} queued · {given_up}{damage}"


def _foot(teams: Sequence[TeamHome]) -> list[Block]:
    """Return what has no part of its own, and what is said once for all teams."""
    lines = [
        f"*{team.name}*: {_waiting_text(team.home.overview, may_approve=False)}"
        for team in teams[MAX_PARTS:]
        if team.home is not None and team.only is None
    ]
    lines += [
        f":warning: Team {team.name} cannot be read now; the bot's log says why." for team in teams if not team.home
    ]
    connection = next((escape(team.home.overview.connection) for team in teams if team.home), "")
    others = [section("\n".join(lines))] if lines else []
    return [*others, context("\n".join([*filter(None, [connection]), "Next: `/triage status`, `/triage help`"]))]


def _left(parts: Sequence[_Part], others: Sequence[Block]) -> _Room:
    """Return the room that the page has left beside what it holds already."""
    return _Room.beside([*others, *[block for part in parts for block in part.blocks()]])


def _share_among_drafts(parts: Sequence[_Part], room: _Room) -> None:
    """Give each team its share of the room: whole drafts, then lines for those that have none."""
    wanted = [_drafts_whole(part.home, room) for part in parts]
    for part, drafts, share in zip(parts, wanted, _shares(wanted, room), strict=True):
        part.drafts = drafts if share.holds(drafts) else _drafts_whole(part.home, share)


def _share_among_sessions(parts: Sequence[_Part], user: str, room: _Room) -> None:
    wanted = [_session_rows(part.home, user, part.team.may_approve) for part in parts]
    for part, rows, share in zip(parts, wanted, _shares(wanted, room), strict=True):
        part.sessions = [row for row in rows if share.takes([row])]


def _shares(wanted: Sequence[Sequence[Block]], room: _Room) -> list[_Room]:
    blocks = _all_of(room.blocks, [len(one) for one in wanted])
    sizes = _all_of(room.size, [_bytes_of(one) for one in wanted])
    return [_Room(blocks=count, size=size) for count, size in zip(blocks, sizes, strict=True)]


def _all_of(room: int, wanted: Sequence[int]) -> list[int]:
    """Return fair shares, and with each an equal part of what nobody wanted."""
    shares = fair_shares(wanted, room)
    return [share + (room - sum(shares)) // len(shares) for share in shares]
