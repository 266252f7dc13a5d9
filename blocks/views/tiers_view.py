"""What `/triage tiers …` answers, and the dialogue that edits a tier as text. One screen, then how to go on."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import ActionsBlock, Block
from slack_sdk.models.views import View

from blocks import ids
from blocks.elements import actions, button, form, notice, text_input
from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, fence, plain, section
from blocks.text.splitting import SECTION_CHARS, truncate
from bot.domain.playbooks.tier_text import TierChanges
from bot.domain.tiers import Tier
from bot.heartbeat.playbooks.task_commands import Editing, TaskAnswer
from bot.heartbeat.playbooks.task_list import TaskList, due_lines, refused_lines, task_line, tier_heading

TASK_CHARS: Final = 160
TIER_CHARS: Final = 2_400
_REFUSED_SHOWN: Final = 5


def tasks_blocks(seen: TaskList) -> list[Block]:
    """Return the list with its buttons."""
    session = seen.session
    name = f" {escape(plain(session.name, 60))}" if session.name != session.id else ""
    shown: list[Block] = [section(f"*{escape(session.id)}*{name}")]
    shown += [section(_tier(seen, tier)) for tier in Tier]
    if refused := refused_lines(seen):
        named = ", ".join(f"`{escape(plain(line, 120).replace('`', ''))}`" for line in refused[:_REFUSED_SHOWN])
        more = f" and {len(refused) - _REFUSED_SHOWN} more" if len(refused) > _REFUSED_SHOWN else ""
        shown.append(context(f":warning: Not among `commands` in triage.yml, so never run: {named}{more}"))
    following = context(f"Next: `/triage tiers {session.id} add hourly <task>`, `remove <n>`, `move <n> <tier>`")
    return fit_message([*shown, _edit_buttons(session.id), following])


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


def tier_modal(editing: Editing, *, typed: str | None = None) -> View:
    """Return the editor of a tier; with `typed`, for who wrote while the tier changed: both texts stand there."""
    conflict = [] if typed is None else _both(editing)
    text = (editing.text if typed is None else typed) or None
    # A new block id: Slack keeps what stands in a block it knows, and this one has to show what was typed.
    block_id = f"{ids.TIER_TEXT}:{editing.base}"
    hint = "Checkboxes are left out; they only record the last beat. Indented lines belong to the task above them."
    return form(
        ids.TIER_VIEW,
        ids.encode_tier(editing.session_id, editing.tier, editing.base),
        title=f"{editing.tier.capitalize()} tasks",
        submit="Save",
        blocks=[
            *conflict,
            context(escape(f"HEARTBEAT.md of {editing.session_id}, one task per line")),
            text_input(block_id, "Tasks", text=text, hint=hint, optional=True),
        ],
    )


def saved_modal(session_id: str, tier: Tier, changes: TierChanges) -> View:
    """Return what an edit changed, and what stood there before."""
    lines = [*(f"+ {line}" for line in changes.added), *(f"- {line}" for line in changes.removed)]
    said = f"The {tier} tasks of {escape(session_id)} are saved." if lines else "Nothing was changed."
    shown = [section(fence("\n".join(lines)))] if lines else []
    undo = "To undo: open the editor again; the lines with `-` are the old text." if changes.removed else ""
    next_step = [context(undo or f"Next: `/triage tiers {escape(session_id)}`")]
    return notice("Saved", [section(said), *shown, *next_step])


def saving_modal(session_id: str, tier: Tier, typed: str) -> View:
    """Return what stands there while Slack is asked who may: the text is not saved yet, and in sight."""
    said = f"Saving the {tier} tasks of {escape(session_id)} …"
    return notice("Saving", [section(said), *_shown(typed)])


def refused_modal(session_id: str, tier: Tier, why: str, typed: str) -> View:
    """Return why nothing was saved, with what was typed, to copy it from."""
    said = f"The {tier} tasks of {escape(session_id)} were not saved: {escape(why)}"
    return notice("Not saved", [section(said), *_shown(typed)])


def _shown(typed: str) -> list[Block]:
    return [section(fence(typed))] if typed.strip() else []


def _both(editing: Editing) -> list[Block]:
    now = truncate(fence(editing.text or "(no task)"), SECTION_CHARS)
    told = ":warning: Somebody changed these tasks while you wrote; nothing was saved. This is the current text:"
    return [section(told), section(now), context("Below is what you wrote. Save replaces the text above with it.")]


def _tier(seen: TaskList, tier: Tier) -> str:
    lines = [f"*{escape(tier_heading(seen, tier))}*"]
    tasks = seen.in_tier(tier)
    for place, one in enumerate(tasks):
        line = escape(truncate(task_line(seen, one.number), TASK_CHARS))
        if len("\n".join(lines)) + len(line) > TIER_CHARS:
            return "\n".join([*lines, f"_{len(tasks) - place} more in HEARTBEAT.md_"])
        lines.append(line)
    return "\n".join(lines if tasks else [*lines, "_no task_"])


def _edit_buttons(session_id: str) -> ActionsBlock:
    edits = [button(f"Edit {tier}", f"{ids.EDIT_TIER}:{tier}", ids.encode_tier(session_id, tier)) for tier in Tier]
    return actions(f"tiers:{session_id}", *edits)
