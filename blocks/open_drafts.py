"""The drafts that wait for a decision, a line each with the way to its card; questions are for approvers' eyes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.parts import context, section
from blocks.text import SECTION_CHARS, inert
from bot.casework.overview import Overview, ThreadLine
from bot.domain.chat_links import link_beside
from bot.domain.distance import ago, span
from bot.domain.severity import SIGNS, WORDS, Severity

MAX_DRAFTS: Final = 15
MAX_REMINDED: Final = 10
ROOM: Final = 60
"""Kept free in the section for what says how many were left out."""


def open_blocks(seen: Overview, now: datetime, *, may_see_drafts: bool) -> list[Block]:
    """Return the answer to `/triage open`."""
    count = len(seen.drafts)
    if not count:
        return [section("No draft waits. Next: `/triage status`")]
    title = f"*{count}* draft{'s' * (count > 1)} wait{'s' * (count == 1)} for a decision"
    if not may_see_drafts:
        return [section(f"{title}. Who may approve sees them: `/triage approve-list`")]
    return [
        section(f"{title}, pages first, then the oldest"),
        section(draft_lines(seen.drafts, now)),
        context(_next(seen)),
    ]


def reminder_line(waiting: Sequence[ThreadLine]) -> str:
    """Return a reminder for notifications, which quotes nobody."""
    return f"{len(waiting)} card{'s' * (len(waiting) > 1)} wait{'s' * (len(waiting) == 1)} for a decision"


def reminder_blocks(waiting: Sequence[ThreadLine], now: datetime, *, expire_after: timedelta | None) -> list[Block]:
    """Return the reminder of cards that nobody touched."""
    ends = f" What nobody touches for {span(expire_after)} is closed, unposted." if expire_after else ""
    return [
        section(f"*{reminder_line(waiting)}*"),
        section(draft_lines(waiting, now, at_most=MAX_REMINDED)),
        context(f"Next: open a card and decide.{ends}"),
    ]


def draft_lines(drafts: Sequence[ThreadLine], now: datetime, *, at_most: int = MAX_DRAFTS) -> str:
    """Return a line for each draft, as many as one section holds; the last says how many are left out."""
    shown: list[str] = []
    for draft in drafts[:at_most]:
        line = _line(draft, now)
        if sum(map(len, shown)) + len(shown) + len(line) > SECTION_CHARS - ROOM:
            break
        shown.append(line)
    left = len(drafts) - len(shown)
    return "\n".join([*shown, f"… and {left} more" if left else ""]).rstrip()


def card_link(draft: ThreadLine) -> str | None:
    """Return the address of a thread's card, if it has one and links can be made."""
    return link_beside(draft.permalink, *draft.card) if draft.card else None


def _line(draft: ThreadLine, now: datetime) -> str:
    link = card_link(draft)
    card = f"<{link}|card>" if link else f"card in <#{draft.card[0]}>" if draft.card else "no card yet"
    page = f"{SIGNS[draft.severity]} *{WORDS[draft.severity]}* · " if draft.severity is Severity.PAGE else ""
    return f"• {page}{card} · {ago(now, draft.started_at)} · {draft.standing} · {asked(draft.question)}"


def asked(question: str) -> str:
    """Return a question on one line; a code fence in it would swallow the lines below."""
    return inert(question).replace("`", "'")


def _next(seen: Overview) -> str:
    others = f"{seen.running} more being investigated. " if seen.running else ""
    return f"{others}Next: open a card and decide, or `/triage status`"
