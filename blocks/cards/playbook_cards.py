"""The card of a suggestion for a HEARTBEAT.md, with its dialogues and its list. Pure.

What a session is offered is another session's text: it is quoted, never rendered, and a quarantined line stands in a
code block with the reason above it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from slack_sdk.models.blocks import ActionsBlock, Block
from slack_sdk.models.views import View

from blocks import ids
from blocks.elements import actions, button, form, reason_input
from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, fence, local_time, plain, quote_block, section
from blocks.text.splitting import truncate
from bot.domain.sharing.suggestions import (
    MAX_REASON_CHARS,
    NO_SUGGESTIONS,
    Suggestion,
    SuggestionStatus,
    describe_suggestion,
    order,
)
from bot.domain.text.sanitize import one_line

TASK_CHARS: Final = 1_200
MAX_WAITING: Final = 10
_USER: Final = re.compile(r"[UW][A-Z0-9]{2,}")
_SUGGESTION_SIGNS: Final = {
    SuggestionStatus.OPEN: ":seedling:",
    SuggestionStatus.QUARANTINED: ":no_entry:",
    SuggestionStatus.ACCEPTED: ":white_check_mark:",
    SuggestionStatus.REJECTED: ":x:",
}


def suggestion_blocks(suggestion: Suggestion) -> list[Block]:
    """Return the card as the suggestion stands."""
    marker = ids.suggestion_block_id(suggestion.id)
    about = f"From {escape(one_line(suggestion.from_))}: {escape(one_line(suggestion.reason))} · `{suggestion.id}`"
    head = (
        f"{_SUGGESTION_SIGNS[suggestion.status]} *{_title(suggestion)}* · "
        f"{escape(describe_suggestion(suggestion))}\n{_task(suggestion)}"
    )
    parts: list[Block] = [section(head, block_id=marker), context(about)]
    if suggestion.is_waiting:
        return fit_message([*parts, _buttons(suggestion)])
    return fit_message([*parts, context(_decision(suggestion))])


def suggestion_text(suggestion: Suggestion) -> str:
    """Return the one line for notifications; a quarantined line is not repeated there."""
    said = "a line that a human must read first" if suggestion.quarantine else plain(suggestion.task, 150)
    return truncate(escape(f"{_title(suggestion)} for {suggestion.to}: {said}"), 300)


def reject_modal(suggestion: Suggestion) -> View:
    """Return the question for a reason, which may stay empty."""
    why = reason_input("Why? (it is not offered again)", "We have that elsewhere, too noisy …", MAX_REASON_CHARS)
    shown = [section(_task(suggestion)), why]
    return form(ids.REJECT_VIEW, suggestion.id, title="Reject it", submit="Reject", blocks=shown)


def read_modal(suggestion: Suggestion) -> View:
    """Return a quarantined line to read as data; only who has seen it here can add it."""
    return form(
        ids.READ_VIEW,
        suggestion.id,
        title="Read it first",
        submit="Add it anyway",
        blocks=[
            section(f"Quarantined: {escape(suggestion.quarantine or '')}. It comes from {escape(suggestion.from_)}."),
            section(truncate(fence(suggestion.task), TASK_CHARS)),
            section(f"A model would read this line at every {suggestion.tier} beat of {escape(suggestion.to)}."),
        ],
    )


def suggestion_list(suggestions: Sequence[Suggestion]) -> list[Block]:
    """Return what waits and what was decided last, one screen."""
    waiting, decided = order(suggestions)
    if not waiting and not decided:
        return [section(f"{NO_SUGGESTIONS} Next: `/triage pollinate run`")]
    shown: list[Block] = [section(_entry(one)) for one in waiting[:MAX_WAITING]]
    if len(waiting) > MAX_WAITING:
        shown.append(context(f"{len(waiting) - MAX_WAITING} more: `triage pollinate list` on the terminal."))
    if decided:
        shown.append(context("\n".join(f"`{one.id}` {_decision(one)}" for one in decided)))
    following = f"accept {waiting[0].id}" if waiting else "run"
    return fit_message([*shown, context(f"Next: `/triage pollinate {following}`")])


def unread_blocks(suggestion: Suggestion) -> list[Block]:
    """Return a quarantined line to read before it can be accepted by command."""
    return [
        section(f"`{suggestion.id}` is quarantined: {escape(suggestion.quarantine or '')}. Its text, as data:"),
        section(truncate(fence(suggestion.task), TASK_CHARS)),
        context(f"To add it anyway: `/triage pollinate accept {suggestion.id} anyway`"),
    ]


def _title(suggestion: Suggestion) -> str:
    kind = "Another tier" if suggestion.moves_from else "Suggested check"
    return {
        SuggestionStatus.OPEN: kind,
        SuggestionStatus.QUARANTINED: "Quarantined suggestion",
        SuggestionStatus.ACCEPTED: "Accepted",
        SuggestionStatus.REJECTED: "Rejected",
    }[suggestion.status]


def _entry(suggestion: Suggestion) -> str:
    sign = _SUGGESTION_SIGNS[suggestion.status]
    return (
        f"{sign} `{suggestion.id}` {escape(describe_suggestion(suggestion))}, from "
        f"{escape(suggestion.from_)}\n{_task(suggestion)}"
    )


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
    if suggestion.quarantine:
        take = button("Read it first", ids.READ_SUGGESTION, suggestion.id)
    else:
        take = button("Accept", ids.ACCEPT_SUGGESTION, suggestion.id, style="primary")
    reject = button("Reject", ids.REJECT_SUGGESTION, suggestion.id)
    return actions(f"{ids.suggestion_block_id(suggestion.id)}:decide", take, reject)
