"""App Home: drafts that wait, sessions, the day in numbers, health. Pure; at most 100 blocks, as Slack allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from slack_sdk.models.blocks import Block, ContextBlock, DividerBlock, HeaderBlock, MarkdownTextObject, SectionBlock
from slack_sdk.models.views import View

from blocks.heartbeat_list import row_text
from blocks.open_drafts import draft_lines
from blocks.text import escape
from bot.casework.overview import Overview
from bot.casework.today import Today
from bot.heartbeat.overview import Row

MAX_SESSIONS: Final = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """All that one page shows."""

    overview: Overview
    today: Today
    sessions: Sequence[Row]
    now: datetime


def home_view(home: Home, *, may_see_drafts: bool) -> View:
    """Return the page; who may not approve sees counts, and no question, draft or link to a card."""
    return View(type="home", blocks=home_blocks(home, may_see_drafts=may_see_drafts))


def home_blocks(home: Home, *, may_see_drafts: bool) -> list[Block]:
    """Return the page's blocks."""
    return [
        *_pause(home.overview),
        *_drafts(home, may_see_drafts),
        DividerBlock(),
        *_sessions(home),
        DividerBlock(),
        HeaderBlock(text="Today (UTC)"),
        _section(_numbers(home.today, home.overview)),
        HeaderBlock(text="Health"),
        _section(_health(home.overview)),
        _context("Next: `/triage status`, `/triage help`"),
    ]


def _pause(seen: Overview) -> list[Block]:
    return [_section(f":double_vertical_bar: *{escape(seen.paused)}* · `/triage resume`")] if seen.paused else []


def _drafts(home: Home, may_see_drafts: bool) -> list[Block]:
    seen = home.overview
    count = len(seen.drafts)
    running = f"{seen.running} being investigated"
    parts: list[Block] = [HeaderBlock(text="Drafts"), _section(f"*{count}* waiting for a decision · {running}")]
    if not may_see_drafts:
        return [*parts, _context("Who may approve sees them: `/triage approve-list`")]
    return [*parts, _section(draft_lines(seen.drafts, home.now))] if count else parts


def _sessions(home: Home) -> list[Block]:
    parts: list[Block] = [HeaderBlock(text="Sessions")]
    if not home.sessions:
        return [*parts, _section("None. Add one under `sessions:` in triage.yml.")]
    parts += [_section(row_text(row, home.now)) for row in home.sessions[:MAX_SESSIONS]]
    left = len(home.sessions) - MAX_SESSIONS
    return [*parts, _context(f"{left} more: `triage heartbeat list` on the terminal")] if left > 0 else parts


def _numbers(day: Today, seen: Overview) -> str:
    cost = "cost unknown" if day.cost_usd is None else f"${day.cost_usd:.2f}"
    runs = (
        f"{day.model_runs} model run{'s' * (day.model_runs != 1)}, {cost}" if day.model_runs else "no model run, $0.00"
    )
    heard = f"{day.messages} message{'s' * (day.messages != 1)} heard, {day.actionable} of them work"
    return f"{heard} · {seen.posted_today} replies posted\n{runs}"


def _health(seen: Overview) -> str:
    damage = f"\n:warning: {len(seen.unreadable)} records cannot be read: `triage status`" if seen.unreadable else ""
    given_up = f":warning: {seen.failed} given up" if seen.failed else "none given up"
    return f"{escape(seen.connection)}\n{escape(seen.last_event)} · {seen.queued} queued · {given_up}{damage}"


def _section(text: str) -> Block:
    return SectionBlock(text=MarkdownTextObject(text=text))


def _context(text: str) -> Block:
    return ContextBlock(elements=[MarkdownTextObject(text=text)])
