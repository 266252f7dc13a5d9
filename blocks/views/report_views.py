"""What `/triage metrics --autonomy` shows. Pure."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, quoted_line, section
from blocks.text.splitting import SECTION_CHARS, truncate
from blocks.views.trust_view import type_lines
from bot.casework.reports.autonomy_metrics import AutonomyCase, FalsePositive, next_words, standing_words, weeks_words

MARKS: Final = {True: ":white_check_mark:", False: ":x:"}


def autonomy_blocks(case: AutonomyCase, *, may_see_drafts: bool) -> list[Block]:
    """Return the answer; who may not approve sees counts and no questions."""
    parts: list[Block] = [section(f"*Automatic replies: {standing_words(case)}*\n{weeks_words(case)}")]
    if case.types:
        parts.append(section(type_lines(case)))
    parts.append(section("\n".join(f"{MARKS[one.holds]} {escape(one.said)}" for one in case.conditions)))
    if case.false and may_see_drafts:
        parts.append(section(_listed("*What people thought wrong*", [_false(one) for one in case.false])))
    return fit_message([*parts, context(next_words(case))])


def _false(one: FalsePositive) -> str:
    reason = f" · {escape(one.reason)}" if one.reason else ""
    return f"• {escape(one.how)} · {_thread_lead(one.permalink)}{quoted_line(one.question)}{reason}"


def _thread_lead(permalink: str | None) -> str:
    return f"<{permalink}|thread> · " if permalink else ""


def _listed(title: str, lines: list[str]) -> str:
    return truncate("\n".join([title, *(" ".join(line.split()) for line in lines)]), SECTION_CHARS)
