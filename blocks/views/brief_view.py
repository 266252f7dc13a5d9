"""Reminders of cards that wait, and the lines of drafts, which App Home shows, too. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.outgoing_text import context, mention, quoted_line, section
from blocks.text.splitting import lines_that_fit
from bot.casework.reports.status_overview import ThreadLine
from bot.domain.paging import Paging
from bot.domain.severity import SIGNS, WORDS, Severity
from bot.domain.text.humanize import counted, duration, time_ago

MAX_DRAFTS: Final = 15
MAX_REMINDED: Final = 10


def reminder_line(waiting: Sequence[ThreadLine]) -> str:
    """Return a reminder for notifications, which quotes nobody."""
    return f"{counted(len(waiting), 'card')} wait{'s' * (len(waiting) == 1)} for a decision"


def reminder_blocks(waiting: Sequence[ThreadLine], now: datetime, *, expire_after: timedelta | None) -> list[Block]:
    """Return the reminder of cards that nobody touched."""
    ends = f" Cards without activity for {duration(expire_after)} are closed and not posted." if expire_after else ""
    return [
        section(f"*{reminder_line(waiting)}*"),
        section(draft_lines(waiting, now, at_most=MAX_REMINDED)),
        context(f"Next: open a card and decide.{ends}"),
    ]


def draft_lines(drafts: Sequence[ThreadLine], now: datetime, *, at_most: int = MAX_DRAFTS) -> str:
    """Return a line for each draft, as many as one section holds; the last says how many are left out."""
    return lines_that_fit([_line(draft, now) for draft in drafts], at_most)


def _line(draft: ThreadLine, now: datetime) -> str:
    link = draft.card_link
    card = f"<{link}|card>" if link else f"card in <#{draft.card[0]}>" if draft.card else "no card yet"
    page = f"{_page(draft.paging)} · " if draft.severity is Severity.PAGE else ""
    return f"• {page}{card} · {time_ago(now, draft.started_at)} · {draft.standing} · {quoted_line(draft.question)}"


def _page(paging: Paging) -> str:
    """Return the word of a page, how often it rang again, and who has it or, if nobody, was told next."""
    rang = f"rang {counted(paging.rings, 'time')} more" if paging.rings else ""
    told = f"escalated to {mention(paging.escalated_to)}" if paging.escalated_to else ""
    now = f"<@{paging.acknowledged_by}> acknowledged it" if paging.acknowledged_by else told
    return " · ".join(filter(None, (f"{SIGNS[Severity.PAGE]} *{WORDS[Severity.PAGE]}*", rang, now)))
