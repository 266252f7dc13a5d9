"""The brief and the end-of-day report: what waits, with the way to each card, what happened, what it cost.

Pure. Who may not approve gets counts, and neither questions nor findings nor remarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from slack_sdk.models.blocks import Block, DividerBlock

from blocks.fitting import fit_message
from blocks.open_drafts import draft_lines
from blocks.parts import context, section
from blocks.text import SECTION_CHARS, escape, truncate
from bot.casework.brief import MAX_LINES, Brief, cost_line, counted, period

NEXT: Final = "`/triage open`, `/triage heartbeat list`"


def brief_blocks(brief: Brief, title: str, *, may_see_drafts: bool) -> list[Block]:
    """Return the brief as a message of a few short sections."""
    parts: list[Block] = [section(f"*{escape(title)}* · the last {period(brief)}")]
    if brief.paused:
        parts.append(section(f":double_vertical_bar: *{escape(brief.paused)}* · to go on: `/triage resume`"))
    parts += [DividerBlock(), section(_drafts(brief, may_see_drafts)), section(_done(brief))]
    if brief.findings:
        parts.append(section(_findings(brief, may_see_drafts)))
    if brief.remarks:
        parts.append(section(_remarks(brief, may_see_drafts)))
    return fit_message([*parts, context(f"{escape(cost_line(brief))} Next: {NEXT}")])


def _drafts(brief: Brief, may_see_drafts: bool) -> str:
    count = len(brief.drafts)
    if not count:
        return "No draft waits for a decision"
    title = f"*{counted(count, 'draft')}* wait{'s' * (count == 1)} for a decision"
    if not may_see_drafts:
        return f"{title}. Who may approve sees them: `/triage approve-list`"
    return truncate(f"{title}\n{draft_lines(brief.drafts, brief.now, at_most=MAX_LINES)}", SECTION_CHARS)


def _done(brief: Brief) -> str:
    runs = f" · *{brief.long_runs}* long run{'s' * (brief.long_runs != 1)} finished" if brief.long_runs else ""
    return f"*{brief.replies}* {'reply' if brief.replies == 1 else 'replies'} posted{runs}"


def _findings(brief: Brief, may_see_drafts: bool) -> str:
    title = f"*{counted(len(brief.findings), 'finding')}* by heartbeats"
    return _listed(title, [f"*{escape(name)}* · {escape(what)}" for name, what in brief.findings], may_see_drafts)


def _remarks(brief: Brief, may_see_drafts: bool) -> str:
    """Return what beats said beside OK: too little for an alert, and not to be lost."""
    title = f"*{counted(len(brief.remarks), 'remark')} beside OK*"
    return _listed(title, [f"*{escape(name)}*: “{escape(said)}”" for name, said in brief.remarks], may_see_drafts)


def _listed(title: str, found: Sequence[str], may_see: bool) -> str:
    """Return a title and as many lines under it as fit; the title alone for who may not see them."""
    if not may_see:
        return title
    lines = [f"• {each}" for each in found[:MAX_LINES]]
    left = len(found) - len(lines)
    return truncate("\n".join([title, *lines, *([f"… and {left} more"] if left else [])]), SECTION_CHARS)
