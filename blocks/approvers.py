"""Who may approve, and where that is written; for one pair of eyes, so nobody named here is notified."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block

from blocks.parts import context, section
from bot.casework.approvers import Roll

MAX_PEOPLE: Final = 50


def approver_blocks(roll: Roll, *, is_one: bool) -> list[Block]:
    """Return the answer to `/triage approve-list`; `is_one` says whether the reader is among them."""
    people = sorted(roll.people)
    named = ", ".join(f"<@{user}>" for user in people[:MAX_PEOPLE])
    more = f" and {len(people) - MAX_PEOPLE} more" if len(people) > MAX_PEOPLE else ""
    who = f"May approve: {named}{more}" if people else f"*Nobody may approve.* {_why_nobody(roll)}"
    you = "You are one of them." if is_one else "You are not one of them."
    rest = "Guests, bots and people of other workspaces never are."
    return [section(f"{who}\n{_source(roll)}"), context(f"{you} {rest} Next: `/triage open`")]


def _source(roll: Roll) -> str:
    if roll.configured is None:
        return f"Everybody in <#{roll.ops_channel}>, because triage.yml has no `approvers`."
    groups = ", ".join(f"<!subteam^{name}>" for name in roll.configured if name.startswith("S"))
    return f"Named under `approvers` in triage.yml{f', with the groups {groups}' if groups else ''}."


def _why_nobody(roll: Roll) -> str:
    return "The list is empty." if roll.configured == () else "Slack has not said who they are; see the bot's log."
