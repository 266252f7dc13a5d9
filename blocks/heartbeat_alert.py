"""The alert of a heartbeat: one card per finding, updated in place from first sight to resolved. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    Option,
    StaticSelectElement,
)
from slack_sdk.models.views import View

from blocks import ids
from blocks.parts import context, section
from blocks.text import SECTION_CHARS, escape, fence, plain, split, to_mrkdwn, truncate
from bot.domain.alerts import Alert, finding_digest, headline_of
from bot.domain.session import OpenFinding
from bot.heartbeat.findings import SNOOZES

TEXT_CHARS: Final = 2_600
LIST_CHARS: Final = 8_000
REASONING_CHARS: Final = 1_500
NOTES_CHARS: Final = 900
SHOWN_SECTIONS: Final = 20


def alert_blocks(alert: Alert) -> list[Block]:
    """Return the card of a finding, or the lines of an alert that is about none."""
    finding = alert.finding
    said = truncate(to_mrkdwn(alert.text), LIST_CHARS if alert.listed else TEXT_CHARS)
    first, *rest = split(
        f"{_sign(alert)} *{escape(plain(alert.session_name, 60))}*{_over(finding)}\n{said}", SECTION_CHARS
    )
    parts: list[Block] = [section(first, block_id=mark_of(alert)), *map(section, rest)]
    if alert.reasoning and (finding is None or finding.is_open):
        parts.append(context(truncate(f"_Why:_ {escape(alert.reasoning)}", REASONING_CHARS)))
    if alert.notes and (finding is None or finding.is_open):
        parts.append(context(truncate("\n".join(escape(note) for note in alert.notes), NOTES_CHARS)))
    if finding is not None:
        parts.append(context(_standing(finding)))
        if finding.is_open:
            parts.append(_buttons(alert.session_id, finding))
    return parts


def retired_blocks(alert: Alert) -> list[Block]:
    """Return what is left of the card of a finding that was said again on a new one."""
    name = escape(plain(alert.session_name, 60))
    return [context(f"*{name}* · {escape(plain(alert.headline, 250))}"), context("Still so; said again below.")]


def alert_text(alert: Alert) -> str:
    """Return the one line for notifications and screen readers."""
    state = "Resolved: " if alert.finding is not None and not alert.finding.is_open else ""
    return truncate(escape(plain(f"{alert.session_name}: {state}{alert.headline}", 250)), 300)


def playbook_modal(session_name: str, text: str) -> View:
    """Return HEARTBEAT.md to read, as it lies on disk."""
    blocks = [section(piece) for piece in split(fence(text or "(empty)"), SECTION_CHARS)[:SHOWN_SECTIONS]]
    return View(
        type="modal", title=plain("HEARTBEAT.md", 24), close="Close", blocks=[context(escape(session_name)), *blocks]
    )


def mark_of(alert: Alert) -> str | None:
    """Return the block id that marks an alert, by which it is found again; a plain line has none."""
    if alert.finding is not None:
        return ids.alert_block_id(alert.session_id, alert.finding)
    return ids.alert_list_block_id(alert.session_id, alert.listed) if alert.listed else None


def resolved_text(alert: Alert) -> str:
    """Return the line that says which findings of a list are gone since it was shown last; empty where none is."""
    gone = [f"• {escape(plain(headline_of(each.text), 120))}" for each in alert.listed if each.resolved_at == alert.at]
    return truncate("\n".join([":white_check_mark: Resolved:", *gone]), TEXT_CHARS) if gone else ""


def _sign(alert: Alert) -> str:
    finding = alert.finding
    if finding is None:
        if not alert.listed:
            return ":information_source:"
        return ":rotating_light:" if any(each.is_open for each in alert.listed) else ":white_check_mark:"
    if not finding.is_open:
        return ":white_check_mark:"
    if finding.snoozed_until is not None and alert.at < finding.snoozed_until:
        return ":zzz:"
    return ":eyes:" if finding.acknowledged_by else ":rotating_light:"


def _over(finding: OpenFinding | None) -> str:
    """Return the word for what is over: the text below still says it as it was found."""
    return "" if finding is None or finding.is_open else " · no longer so" if finding.resolved_at else " · fixed"


def _standing(finding: OpenFinding) -> str:
    """Return where a finding stands: since when, who has it, what became of it."""
    since = f"since {_when(finding.first_at)}"
    if finding.resolved_at is not None:
        return f"*Resolved* {_when(finding.resolved_at)} · {since}"
    if finding.fixed_by:
        return f"*Fixed*, says <@{finding.fixed_by}> · {since}"
    parts = [since, f"last seen {_when(finding.last_at)}" if finding.last_at != finding.first_at else ""]
    if finding.acknowledged_by:
        parts.append(f"<@{finding.acknowledged_by}> has it")
    if finding.snoozed_until is not None:
        parts.append(f"snoozed until {_when(finding.snoozed_until)}")
    return " · ".join(part for part in parts if part)


def _when(at: datetime) -> str:
    """Return a moment as the other cards show it."""
    return f"{at:%a %H:%M} UTC"


def _buttons(session_id: str, finding: OpenFinding) -> ActionsBlock:
    value = ids.encode_finding(session_id, finding_digest(finding.key))
    acknowledge = [] if finding.acknowledged_by else [_button("Acknowledge", ids.ACKNOWLEDGE, value, style="primary")]
    snoozes = [Option(text=words, value=f"{words}!{value}") for words in SNOOZES]
    return ActionsBlock(
        elements=[
            *acknowledge,
            StaticSelectElement(action_id=ids.SNOOZE, placeholder="Snooze", options=snoozes),
            _button("Fixed", ids.FIXED, value),
            _button("Investigate", ids.INVESTIGATE, value),
            _button("Run now", ids.RUN_NOW, value),
            _button("Open HEARTBEAT.md", ids.OPEN_PLAYBOOK, value),
        ],
        block_id=f"actions:{value}",
    )


def _button(label: str, action: str, value: str, *, style: str | None = None) -> ButtonElement:
    return ButtonElement(text=label, action_id=action, value=value, style=style)
