"""The card of a proposal: what was said, what would be written, and who decided. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    InteractiveElement,
    Option,
    StaticSelectElement,
)

from blocks import ids
from blocks.text.escaping import local_time
from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, escape_text, fence, plain, quote_block, section, truncate
from blocks.text.splitting import OPTION_CHARS
from bot.domain.playbooks.playbook_requests import RequestVerb
from bot.domain.playbooks.proposals import Proposal, ProposalStatus

WORDS_CHARS: Final = 1_200
MAX_CHOICES: Final = 100
"""Options of a menu (Slack's limit)."""
_SIGNS: Final = {
    ProposalStatus.ACCEPTED: ":white_check_mark:",
    ProposalStatus.REJECTED: ":no_entry_sign:",
    ProposalStatus.FAILED: ":warning:",
}


def proposal_blocks(proposal: Proposal, *, not_allowed: Sequence[str] = ()) -> list[Block]:
    """Return the card; `not_allowed` are commands of the new task that triage.yml does not let run."""
    sign = _SIGNS.get(proposal.standing, ":memo:")
    link = f" · <{proposal.permalink}|message>" if proposal.permalink else ""
    where = f"*{escape(proposal.session)}*" if proposal.session else "*which session?*"
    head = f"{sign} Proposal for HEARTBEAT.md of {where}, from <@{proposal.asked_by}> in <#{proposal.chat_id}>{link}"
    parts: list[Block] = [
        section(head, block_id=ids.proposal_block_id(proposal.id)),
        section(quote_block(truncate(escape_text(proposal.words), WORDS_CHARS))),
        section(f"{_what(proposal)}\n{fence(f'- [ ] {plain(proposal.task, 300)}')}"),
    ]
    if not_allowed:
        named = ", ".join(f"`{escape(plain(one, 120).replace('`', ''))}`" for one in not_allowed[:3])
        parts.append(context(f":warning: Not among `commands` in triage.yml, so it does not run by itself: {named}"))
    if proposal.standing is ProposalStatus.OPEN:
        return fit_message([*parts, _buttons(proposal)])
    return fit_message([*parts, context(_decision(proposal))])


def proposal_text(proposal: Proposal) -> str:
    """Return the one line for notifications and screen readers."""
    return truncate(escape(plain(f"{_what(proposal).rstrip(':')}: {proposal.task}", 250)), 300)


def done_text(proposal: Proposal) -> str:
    """Return the line in the asker's thread; its words were seen and accepted by a human.

    One that comes late says when that was. `Done: added to shop's hourly checks: Watch the CDN cache`
    """
    session, task = escape(proposal.session or ""), escape_text(escape(plain(proposal.task, 300)))
    late = proposal.is_said_late and proposal.decided_at
    late_words = f" (accepted {local_time(late)}, said late)" if late else ""
    if proposal.verb is RequestVerb.ADD:
        return f"Done: added to {session}'s {proposal.tier} checks: {task}{late_words}"
    if proposal.verb is RequestVerb.REMOVE:
        return f"Done: removed from {session}'s {proposal.from_tier} checks: {task}{late_words}"
    return f"Done: moved from {session}'s {proposal.from_tier} to its {proposal.tier} checks: {task}{late_words}"


def _what(proposal: Proposal) -> str:
    if proposal.verb is RequestVerb.ADD:
        return f"Adds to the {proposal.tier} tasks:"
    if proposal.verb is RequestVerb.REMOVE:
        return f"Removes from the {proposal.from_tier} tasks:" if proposal.from_tier else "Removes the task:"
    return f"Moves from {proposal.from_tier or 'its tier'} to {proposal.tier}:"


def _decision(proposal: Proposal) -> str:
    who = f"<@{proposal.decided_by}>" if proposal.decided_by else "nobody"
    if proposal.standing is ProposalStatus.FAILED:
        return f"*Not done*: {escape(plain(proposal.problem or '', 300))} · accepted by {who}"
    problem = f" · {escape(plain(proposal.problem, 300))}" if proposal.problem else ""
    return f"*{proposal.standing.capitalize()}* by {who}{problem}"


def _buttons(proposal: Proposal) -> ActionsBlock:
    value = ids.encode_proposal(proposal.id, proposal.session or "")
    elements: list[InteractiveElement] = []
    if proposal.session:
        elements.append(ButtonElement(text="Accept", action_id=ids.ACCEPT_PROPOSAL, value=value, style="primary"))
    if len(proposal.choices) > 1:
        options = [
            Option(text=plain(one, OPTION_CHARS), value=ids.encode_proposal(proposal.id, one))
            for one in proposal.choices[:MAX_CHOICES]
        ]
        elements.append(
            StaticSelectElement(action_id=ids.CHOOSE_SESSION, placeholder="Which session?", options=options)
        )
    elements.append(ButtonElement(text="Reject", action_id=ids.REJECT_PROPOSAL, value=value))
    return ActionsBlock(elements=elements, block_id=f"proposal_actions:{proposal.id}")
