"""What `/triage tiers …` answers: one screen, then how to go on."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, fence, plain, section
from blocks.text.splitting import truncate
from bot.domain.tiers import Tier
from bot.heartbeat.playbooks.task_commands import TaskAnswer
from bot.heartbeat.playbooks.task_list import TaskList, due_lines, refused_lines, task_line, tier_heading

TASK_CHARS: Final = 160
TIER_CHARS: Final = 2_400
_REFUSED_SHOWN: Final = 5


def tasks_blocks(seen: TaskList) -> list[Block]:
    """Return the list."""
    session = seen.session
    name = f" {escape(plain(session.name, 60))}" if session.name != session.id else ""
    shown: list[Block] = [section(f"*{escape(session.id)}*{name}")]
    shown += [section(_tier(seen, tier)) for tier in Tier]
    if refused := refused_lines(seen):
        named = ", ".join(f"`{escape(plain(line, 120).replace('`', ''))}`" for line in refused[:_REFUSED_SHOWN])
        more = f" and {len(refused) - _REFUSED_SHOWN} more" if len(refused) > _REFUSED_SHOWN else ""
        shown.append(context(f":warning: Not among `commands` in triage.yml, so never run: {named}{more}"))
    following = context(f"Next: `/triage tiers {session.id} add hourly <task>`, `remove <n>`, `move <n> <tier>`")
    return fit_message([*shown, following])


def answer_blocks(answer: TaskAnswer) -> list[Block]:
    """Return what changed and how to undo it, what was taken out, and the list as it is now."""
    undo = f"\nTo undo: /triage {' '.join(answer.undo)}" if answer.undo else ""
    said = f"{answer.text}{undo}"
    shown = [section(escape(said))]
    if answer.kept:
        shown.append(section(fence(answer.kept)))
    return fit_message([*shown, *tasks_blocks(answer.tasks)])


def due_blocks(seen: TaskList) -> list[Block]:
    """Return which tier is due, and when the next one will be."""
    first, *rest = map(escape, due_lines(seen))
    return [section("\n".join([f"*{first}*", *rest])), context(f"Next: `/triage tiers {seen.session.id}`")]


def _tier(seen: TaskList, tier: Tier) -> str:
    lines = [f"*{escape(tier_heading(seen, tier))}*"]
    tasks = seen.in_tier(tier)
    for place, one in enumerate(tasks):
        line = escape(truncate(task_line(seen, one.number), TASK_CHARS))
        if len("\n".join(lines)) + len(line) > TIER_CHARS:
            return "\n".join([*lines, f"_{len(tasks) - place} more in HEARTBEAT.md_"])
        lines.append(line)
    return "\n".join(lines if tasks else [*lines, "_no task_"])
