"""The card of a suggestion for a HEARTBEAT.md, with its dialogue. Pure.

What a session is offered is another session's text: it is quoted, never rendered. A line that a human has to read
first stands in a code block with the reason above it, and accepting it is asked once more.
"""

from __future__ import annotations

import re
from typing import Final

from slack_sdk.models.blocks import ActionsBlock, Block
from slack_sdk.models.views import View

from blocks import ids
from blocks.elements import actions, button, confirmation, form, reason_input
from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, fence, local_time, plain, quote_block, section
from blocks.text.splitting import truncate
from bot.domain.suggestions import MAX_REASON_CHARS, Suggestion, SuggestionStatus
from bot.domain.text.sanitize import one_line

TASK_CHARS: Final = 1_200
_USER: Final = re.compile(r"[UW][A-Z0-9]{2,}")
_HEADS: Final = {
    SuggestionStatus.OPEN: ":seedling: *A shared check is offered*",
    SuggestionStatus.QUARANTINED: ":mag: *A shared check is offered; read it first*",
    SuggestionStatus.ACCEPTED: ":white_check_mark: *Accepted*",
    SuggestionStatus.REJECTED: ":x: *Rejected*",
}


def suggestion_blocks(suggestion: Suggestion) -> list[Block]:
    """Return the card as the suggestion stands."""
    about = f"From {escape(one_line(suggestion.from_))}: {escape(one_line(suggestion.reason))} · `{suggestion.id}`"
    head = f"{_HEADS[suggestion.status]} · {escape(suggestion.place)}\n{_task(suggestion)}"
    last = _buttons(suggestion) if suggestion.is_waiting else context(_decision(suggestion))
    return fit_message([section(head, block_id=ids.suggestion_block_id(suggestion.id)), context(about), last])


def suggestion_text(suggestion: Suggestion) -> str:
    """Return the one line for notifications; a quarantined line is not repeated there."""
    said = "a line that a human must read first" if suggestion.quarantine else plain(suggestion.task, 150)
    return truncate(escape(f"A check for {suggestion.to}: {said}"), 300)


def reject_modal(suggestion: Suggestion) -> View:
    """Return the question for a reason, which may stay empty."""
    why = reason_input("Why? (it is not offered again)", "We have that elsewhere, too noisy …", MAX_REASON_CHARS)
    shown = [section(_task(suggestion)), why]
    return form(ids.REJECT_VIEW, suggestion.id, title="Reject it", submit="Reject", blocks=shown)


def _task(suggestion: Suggestion) -> str:
    if suggestion.quarantine:
        return truncate(f"{escape(suggestion.quarantine)}\n{fence(suggestion.task)}", TASK_CHARS)
    return truncate(quote_block(escape(one_line(suggestion.task))), TASK_CHARS)


def _decision(suggestion: Suggestion) -> str:
    who = suggestion.decided_by or ""
    named = f"<@{who}>" if _USER.fullmatch(who) else escape(one_line(suggestion.decided_by_name or "somebody"))
    why = f": {escape(one_line(suggestion.decision_reason))}" if suggestion.decision_reason else ""
    at = f", {local_time(suggestion.decided_at)}" if suggestion.decided_at else ""
    return f"{suggestion.status} by {named}{at}{why}"


def _buttons(suggestion: Suggestion) -> ActionsBlock:
    confirm = None
    if suggestion.quarantine:
        asked = f"A model would read this line at every {suggestion.tier} check of {escape(suggestion.to)}."
        confirm = confirmation("Have you read it?", asked, yes="Add it anyway", no="Cancel")
    style = "danger" if confirm else "primary"
    accept = button("Accept", ids.ACCEPT_SUGGESTION, suggestion.id, style=style, confirm=confirm)
    reject = button("Reject", ids.REJECT_SUGGESTION, suggestion.id)
    return actions(f"{ids.suggestion_block_id(suggestion.id)}:decide", accept, reject)
