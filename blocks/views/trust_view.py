"""Trust on App Home: what became of the drafts of each type of question, and the switch of automatic replies. Pure."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block, DividerBlock, HeaderBlock, Option, StaticSelectElement

from blocks import ids
from blocks.elements import menu
from blocks.text.outgoing_text import context, escape, section
from bot.casework.reports.autonomy_metrics import AutonomyCase, standing_words, type_name
from bot.domain.questions.autonomy import WEEKS
from bot.domain.questions.autonomy_record import AutonomyMode

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
