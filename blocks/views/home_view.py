"""App Home: the answer to the last click, drafts with their buttons, sessions, the day in numbers, health. Pure.

Nobody decides on what they have not read: a draft has buttons only where it is shown whole, as its card shows it. What
Slack has no room for (100 blocks, 250 kB) is a line with a link to its card.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from slack_sdk.models.blocks import Block, DividerBlock, HeaderBlock
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.draft_card import draft_fits
from blocks.elements import button
from blocks.text.outgoing_text import answer_text, context, escape, local_time, quoted_line, section
from blocks.text.splitting import SECTION_CHARS, VIEW_BLOCKS, VIEW_BYTES, size_of, split, truncate
from blocks.views.answers import line_text
from blocks.views.brief_view import draft_lines
from blocks.views.trust_view import trust_blocks
from bot.casework.reports.autonomy_metrics import AutonomyCase
from bot.casework.reports.status_overview import DayCounts, Overview, ThreadLine
from bot.domain.text.humanize import counted, time_ago
from bot.domain.threads import ThreadState
from bot.heartbeat.schedule.session_rows import SessionRow

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """The answer to a click; `text` is plain but for mentions of users, which notify nobody on a page of one's own.

    `about` is the question that was decided on, as Slack delivered it; empty where there is none to name.
    """

    text: str
    at: datetime
    about: str = ""


def notice_blocks(notice: Notice | None) -> list[Block]:
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
class Room:
    """What Slack still has room for on the page; `size` in bytes."""

    blocks: int
    size: int

    @classmethod
    def beside(cls, others: Sequence[Block]) -> Room:
        """Return the room that the rest of the page leaves."""
        return cls(blocks=VIEW_BLOCKS - len(others), size=VIEW_BYTES - bytes_of(others))

    def beside_lines(self) -> Room:
        """Return the room for whole drafts: the line and the list of the others need some."""
        return Room(blocks=self.blocks - BLOCKS_KEPT, size=self.size - BYTES_KEPT)

    def takes(self, blocks: Sequence[Block]) -> bool:
        """Whether there is room for these blocks together; then it is theirs."""
        if not self.holds(blocks):
            return False
        self.blocks -= len(blocks)
        self.size -= bytes_of(blocks)
        return True

    def holds(self, blocks: Sequence[Block]) -> bool:
        """Whether there is room for these blocks together."""
        return len(blocks) <= self.blocks and bytes_of(blocks) <= self.size


def bytes_of(blocks: Sequence[Block]) -> int:
    """Return what blocks take of a view."""
    return size_of([block.to_dict() for block in blocks])


def home_view(home: HomeData, *, user: str, may_approve: bool, notice: Notice | None = None) -> View:
    """Return somebody's page of one team."""
    return View(type="home", blocks=home_blocks(home, user=user, may_approve=may_approve, notice=notice))


def home_blocks(home: HomeData, *, user: str, may_approve: bool, notice: Notice | None) -> list[Block]:
    """Return the page's blocks."""
    above = [*notice_blocks(notice), *pause_blocks(home.overview), *_title(home, may_approve)]
    below = [
        DividerBlock(),
        *_sessions(home, user, may_approve),
        DividerBlock(),
        *trust_blocks(home.trust, team=home.team, may_approve=may_approve),
        HeaderBlock(text="Today (UTC)"),
        section(numbers_text(home.today, home.overview)),
        HeaderBlock(text="Health"),
        section(_health(home.overview)),
        context("Next: `/triage status`, `/triage help`"),
    ]
    return [*above, *(drafts_whole(home, Room.beside([*above, *below])) if may_approve else []), *below]


def pause_blocks(seen: Overview) -> list[Block]:
    """Return who stopped all work, if somebody did."""
    return [section(f":double_vertical_bar: *{escape(seen.paused)}* · `/triage resume`")] if seen.paused else []


def _title(home: HomeData, may_approve: bool) -> list[Block]:
    parts: list[Block] = [HeaderBlock(text="Drafts"), section(waiting_text(home.overview, may_approve=may_approve))]
    return parts if may_approve else [*parts, context(APPROVERS_ONLY)]


def waiting_text(seen: Overview, *, may_approve: bool) -> str:
    """Return how many drafts wait, and how much is being investigated."""
    order = ", pages, then oldest first" if may_approve and len(seen.drafts) > 1 else ""
    return f"*{len(seen.drafts)}* waiting for a decision{order} · {seen.running} being investigated"


def drafts_whole(home: HomeData, room: Room) -> list[Block]:
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
        context(f"{count}, not shown whole here, so without buttons: decide on the card"),
        section(draft_lines(lines, now)),
    ]


def _sessions(home: HomeData, user: str, may_approve: bool) -> list[Block]:
    parts: list[Block] = [HeaderBlock(text="Sessions")]
    if not home.sessions:
        return [*parts, section("None. Add one under `sessions:` in triage.yml.")]
    parts += session_rows(home, user, may_approve)
    left = len(home.sessions) - MAX_SESSIONS
    return [*parts, context(f"{left} more: `triage heartbeat list` on the terminal")] if left > 0 else parts


def session_rows(home: HomeData, user: str, may_approve: bool) -> list[Block]:
    """Return a block for each session, as many as a page holds at most."""
    shown = home.sessions[:MAX_SESSIONS]
    return [_session(row, home.now, may_run=may_approve or user == row.session.owner) for row in shown]


def _session(row: SessionRow, now: datetime, *, may_run: bool) -> Block:
    name, runs = row.session.id, may_run and row.next_at is not None
    run = button("Run now", ids.RUN_SESSION, name) if runs else None
    return section(line_text(row.line(now)), block_id=ids.session_block_id(name), accessory=run, limit=SESSION_CHARS)


def numbers_text(day: DayCounts, seen: Overview) -> str:
    """Return the day in numbers."""
    cost = "cost unknown" if day.cost_usd is None else f"${day.cost_usd:.2f}"
    runs = f"{counted(day.model_runs, 'model run')}, {cost}" if day.model_runs else "no model run, $0.00"
    heard = f"{counted(day.messages, 'message')} read, {day.actionable} actionable"
    posted = f"{seen.posted_today} repl{'y' if seen.posted_today == 1 else 'ies'} posted"
    return f"{heard} · {posted}\n{runs}"


def _health(seen: Overview) -> str:
    return f"{escape(seen.connection)}\n{queue_text(seen)}"


def queue_text(seen: Overview) -> str:
    """Return what was heard last and how the queue stands."""
    damage = f"\n:warning: {len(seen.unreadable)} records cannot be read: `triage status`" if seen.unreadable else ""
    given_up = f":warning: {seen.failed} failed" if seen.failed else "0 failed"
    return f"{escape(seen.last_event)} · {seen.queued} queued · {given_up}{damage}"
