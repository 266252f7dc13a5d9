"""What `/triage status` and `triage status` say, as plain lines; the command wraps them for its screen."""

from __future__ import annotations

from slack_sdk.models.blocks import Block

from blocks.fitting import fit_message
from blocks.open_drafts import asked
from blocks.parts import context, section
from blocks.text import SECTION_CHARS, escape
from bot.casework.overview import Overview

MAX_THREADS = 10


def status_blocks(overview: Overview, *, may_see_drafts: bool) -> list[Block]:
    """Return the answer to `/triage status`; who may not approve sees counts and no questions."""
    counts = f"*{overview.waiting}* waiting for a decision · *{overview.running}* being investigated"
    given_up = f":warning: {overview.failed} given up" if overview.failed else "none given up"
    replies = f"{overview.posted_today} repl{'y' if overview.posted_today == 1 else 'ies'}"
    queue = f"{overview.queued} queued · {given_up} · {replies} posted today"
    parts: list[Block] = [section(counts), context(queue)]
    if overview.paused:
        parts.append(section(f":double_vertical_bar: *{escape(overview.paused)}* · to go on: `/triage resume`"))
    if may_see_drafts and overview.threads:
        lines = [f"• {t.standing} · {_place(t.permalink, t.chat_id)} · {asked(t.question)}" for t in overview.threads]
        parts.append(section("\n".join(_that_fit(lines))))
    if overview.unreadable:
        count = len(overview.unreadable)
        told = "see `triage status` on the bot's machine"
        parts.append(section(f":warning: {count} record{'s' * (count > 1)} cannot be read: {told}"))
    parts.append(context(f"{escape(overview.connection)}\n{overview.last_event}\nNext: `/triage open`, `/triage help`"))
    return fit_message(parts)


def _that_fit(lines: list[str]) -> list[str]:
    """Return as many lines as one section holds, ten at most; the last one says how many are left out."""
    shown: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > SECTION_CHARS - 50 or len(shown) == MAX_THREADS:
            return [*shown, f"… {len(lines) - len(shown)} more"]
        shown.append(line)
    return shown


def _place(permalink: str | None, chat_id: str) -> str:
    return f"<{permalink}|thread> in <#{chat_id}>" if permalink else f"<#{chat_id}>"
