"""Trust on App Home: what became of the drafts of each type of question, and the switch of automatic replies. Pure.

Reminders of cards that wait, and the lines of drafts, which App Home shows, too. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from slack_sdk.models.blocks import Block, DividerBlock, HeaderBlock, Option, StaticSelectElement

from blocks import ids
from blocks.elements import menu
from blocks.text.outgoing_text import context, escape, mention, quoted_line, section
from blocks.text.splitting import lines_that_fit
from bot.casework.reports.autonomy_metrics import AutonomyCase, standing_words, type_name
from bot.casework.reports.status_overview import ThreadLine
from bot.domain.alerts import SIGNS, WORDS, Severity
from bot.domain.paging import Paging
from bot.domain.questions.autonomy import WEEKS
from bot.domain.questions.autonomy_record import AutonomyMode
from bot.domain.text.humanize import counted, duration, time_ago

_CHOICES: Final = {
    AutonomyMode.OFF: "Off",
    AutonomyMode.SHADOW: "Shadow: mark what would be sent",
    AutonomyMode.ON: "Armed: send without a click",
}
SWITCH: Final = "Send without a click?"


def trust_blocks(case: AutonomyCase | None, *, team: str, may_approve: bool) -> list[Block]:
    """Return the section; nothing where the record cannot be read. Who may approve has the switch beside it."""
    if case is None:
        return []
    types = "\n".join(f"• *{type_name(one)}*: {one.words()}" for one in case.types)
    record = types or f"No draft was shown in the last {WEEKS} weeks."
    switch = _switch(case, team) if may_approve else None
    return [
        HeaderBlock(text="Trust"),
        section(record),
        section(f"*Automatic replies: {standing_words(case)}*", accessory=switch),
        context(_gate(case)),
        DividerBlock(),
    ]


def _gate(case: AutonomyCase) -> str:
    """Return what stands in the way of arming, in words."""
    if not case.missing:
        return f"The last {WEEKS} weeks allow it. All conditions: `/triage metrics --autonomy`"
    lacking = "; ".join(escape(one.said) for one in case.missing)
    return f"Arming needs more: {lacking}. All conditions: `/triage metrics --autonomy`"


def _switch(case: AutonomyCase, team: str) -> StaticSelectElement | None:
    """Return the menu, with what triage.yml and the record allow; None where that is nothing."""
    if case.mode is AutonomyMode.OFF:
        return None
    now = case.standing.within(case.mode)
    allowed = {AutonomyMode.OFF, AutonomyMode.SHADOW, now} | (set() if case.missing else {AutonomyMode.ON})
    offered = [
        (label, ids.SWITCH.encode(ids.SwitchValue(team, mode))) for mode, label in _CHOICES.items() if mode in allowed
    ]
    chosen = menu(ids.TURN_AUTONOMY, SWITCH, offered)
    chosen.initial_option = Option(text=_CHOICES[now], value=ids.SWITCH.encode(ids.SwitchValue(team, now)))
    return chosen


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
