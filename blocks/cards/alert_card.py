"""Cards of what rings or is offered: an alert of a heartbeat, updated in place; a question that pages; a check."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from slack_sdk.models.blocks import ActionsBlock, Block
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.draft_card import page_lead
from blocks.cards.draft_context import asked_by, place_words
from blocks.elements import actions, button, confirmation, form, menu, notice, reason_input
from blocks.text.message_size import fit_message
from blocks.text.mrkdwn import to_mrkdwn
from blocks.text.outgoing_text import context, escape, escape_text, fence, local_time, plain, quote_block, section
from blocks.text.splitting import SECTION_CHARS, split, truncate
from bot.domain.alerts import SIGNS, WORDS, Severity
from bot.domain.citations.links import sibling_message_link
from bot.domain.heartbeats.alerts import SNOOZES, Alert, OpenFinding, finding_digest, headline_of, removal_words
from bot.domain.suggestions import MAX_REASON_CHARS, Suggestion, SuggestionStatus
from bot.domain.text.humanize import duration, ordinal
from bot.domain.text.sanitize import one_line
from bot.domain.threads import ThreadState
from bot.ports import PageRing

TEXT_CHARS: Final = 2_600
LIST_CHARS: Final = 8_000
REASONING_CHARS: Final = 1_500
NOTES_CHARS: Final = 900
SHOWN_SECTIONS: Final = 20
LEAD_CHARS: Final = 200
"""What still reads as a heading; a longer first line stands below its beginning."""

_BLOCK_MARK: Final = re.compile(r"^(?:#{1,6}|[-*+>])\s+")
CLOSED: Final = ":heavy_minus_sign:"
"""Marks what was closed without being well again."""


def alert_blocks(alert: Alert) -> list[Block]:
    """Return the card of a finding, or the lines of an alert that is about none; the problem leads."""
    finding = alert.finding
    first, *rest = split(_said(alert), SECTION_CHARS)
    parts: list[Block] = [section(first, block_id=mark_of(alert)), *map(section, rest)]
    if alert.reasoning and (finding is None or finding.is_open):
        parts.append(context(truncate(f"_Why:_ {escape(alert.reasoning)}", REASONING_CHARS)))
    if alert.notes and (finding is None or finding.is_open):
        parts.append(context(truncate("\n".join(escape(note) for note in alert.notes), NOTES_CHARS)))
    parts.append(context(_standing(alert)))
    if finding is not None and finding.is_open:
        parts.append(_buttons(alert.session_id, finding))
    return fit_message(parts)


def retired_blocks(alert: Alert) -> list[Block]:
    """Return what is left of the card of a finding that was said again on a new one."""
    name = escape(plain(alert.session_name, 60))
    return [
        context(f"*{escape(plain(headline_of(alert.text), 250))}* · {name}"),
        context("Still failing; see the new alert below."),
    ]


def alert_text(alert: Alert) -> str:
    """Return the one line for notifications and screen readers."""
    finding = alert.finding
    lead = f"{WORDS[alert.severity]}: " if alert.severity else ""
    if finding is not None and not finding.is_open:
        lead = "Closed: " if finding.removed else "Resolved: "
    return truncate(escape(plain(f"{lead}{headline_of(alert.text)} · {alert.session_name}", 250)), 300)


def playbook_modal(session_name: str, text: str) -> View:
    """Return HEARTBEAT.md to read, as it lies on disk."""
    shown = (text or "(empty)")[: SHOWN_SECTIONS * SECTION_CHARS]
    blocks = [section(piece) for piece in split(fence(shown), SECTION_CHARS)[:SHOWN_SECTIONS]]
    return notice("HEARTBEAT.md", [context(escape(session_name)), *blocks])


def mark_of(alert: Alert) -> str | None:
    """Return the block id that marks an alert, by which it is found again; a plain line has none."""
    if alert.finding is not None:
        return ids.alert_block_id(alert.session_id, alert.finding)
    return ids.alert_list_block_id(alert.session_id, alert.listed) if alert.listed else None


def closing_text(alert: Alert) -> str:
    """Return how findings ended whose cards have not said so yet, for the thread; empty where none did.

    Of what a human closed nothing is said: the card shows who did.
    """
    over = [each for each in alert.findings if each.is_unshown]
    gone = [_bullet(each) for each in over if each.resolved_at is not None]
    removed = [(each, removal_words(each.removed)) for each in over if each.removed is not None]
    if alert.finding is not None:
        return ":white_check_mark: Resolved." if gone else f"{CLOSED} Closed: {removed[0][1]}." if removed else ""
    lines = [
        *([":white_check_mark: Resolved:", *gone] if gone else []),
        *([f"{CLOSED} Closed:", *(f"{_bullet(each)}: {why}" for each, why in removed)] if removed else []),
    ]
    return truncate("\n".join(lines), TEXT_CHARS)


def closing_blocks(alert: Alert) -> list[Block]:
    """Return the same as a block with a mark, by which it is found again; none where there is nothing to say."""
    said = closing_text(alert)
    over = [each for each in alert.findings if each.is_unshown]
    return [section(said, block_id=ids.alert_closing_block_id(alert.session_id, over))] if said else []


def _bullet(finding: OpenFinding) -> str:
    return f"• {escape(plain(headline_of(finding.text), 120))}"


def _said(alert: Alert) -> str:
    """Return what an alert says: the problem in bold after its severity, then the rest."""
    first, rest = _parted(alert.text)
    room = LIST_CHARS if alert.listed else TEXT_CHARS
    below = truncate(to_mrkdwn(rest), room) if rest.strip() else ""
    if alert.finding is None and not alert.listed:
        return truncate(f"{_sign(alert)} {to_mrkdwn(alert.text)}", room)
    word = f"{WORDS[alert.severity]}: " if alert.severity else ""
    lead = f"{_sign(alert)} {to_mrkdwn(f'# {word}{first}')}{_over(alert.finding)}"
    return "\n".join(filter(None, [lead, below]))


def _parted(text: str) -> tuple[str, str]:
    """Return the first line that says something, without the mark of a list or heading, and what follows it.

    A first line that is too long for a heading, or opens a block of code, leaves the text whole below its beginning.
    """
    before, first, rest = text.strip().partition(_first_line(text))
    if before.strip() or len(first) > LEAD_CHARS or first.startswith(("```", "~~~", "|")):
        return headline_of(text).strip("`~| ") or "A finding", text
    return _BLOCK_MARK.sub("", first) or first, rest.lstrip("\n")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "A finding")


def _sign(alert: Alert) -> str:
    finding = alert.finding
    if finding is None and not alert.listed:
        return ":information_source:"
    if finding is not None and finding.removed is not None:
        return CLOSED
    if alert.severity is None:
        return ":white_check_mark:"
    if finding is not None and finding.is_snoozed(alert.at):
        return ":zzz:"
    return ":eyes:" if finding is not None and finding.acknowledged_by else SIGNS[alert.severity]


def _over(finding: OpenFinding | None) -> str:
    """Return the word for what is over: the text below still says it as it was found."""
    if finding is None or finding.is_open:
        return ""
    if finding.removed:
        return " · closed"
    if finding.resolved_at is None:
        return " · fixed"
    lasted = finding.resolved_at - finding.first_at
    return f" · resolved after {duration(lasted)}" if lasted >= timedelta(seconds=1) else " · resolved"


def _standing(alert: Alert) -> str:
    """Return whose it is and where it stands: since when, how often today, who has it, what became of it."""
    name, finding = f"*{escape(plain(alert.session_name, 60))}*", alert.finding
    if finding is None:
        return name
    since = f"since {local_time(finding.first_at)}"
    if finding.removed is not None:
        return f"{name} · *Closed*: {removal_words(finding.removed)} · {since}"
    if finding.resolved_at is not None:
        return f"{name} · *Resolved* {local_time(finding.resolved_at)} · {since}"
    if finding.fixed_by:
        return f"{name} · *Fixed* by <@{finding.fixed_by}> · {since}"
    is_ringing = finding.rings > 0 and not finding.acknowledged_by
    parts = [
        name,
        f"*rings for the {ordinal(finding.rings + 1)} time*: nobody has acknowledged it" if is_ringing else "",
        since,
        f"last seen {local_time(finding.last_at)}" if finding.last_at != finding.first_at else "",
        f"<@{finding.acknowledged_by}> acknowledged it" if finding.acknowledged_by else "",
        f"<@{finding.investigated_by}> started an investigation" if finding.investigated_by else "",
        f"snoozed until {local_time(finding.snoozed_until)}" if finding.snoozed_until is not None else "",
    ]
    return " · ".join(part for part in parts if part)


def _buttons(session_id: str, finding: OpenFinding) -> ActionsBlock:
    value = ids.FINDING.encode(ids.FindingValue(session_id, finding_digest(finding.key)))
    acknowledge = [] if finding.acknowledged_by else [button("Acknowledge", ids.ACKNOWLEDGE, value, style="primary")]
    investigate = [] if finding.investigated_by else [button("Investigate", ids.INVESTIGATE, value)]
    return actions(
        f"actions:{value}",
        *acknowledge,
        menu(ids.SNOOZE, "Snooze", [(words, f"{words}!{value}") for words in SNOOZES]),
        button("Fixed", ids.FIXED, value),
        *investigate,
        button("Run now", ids.RUN_NOW, value),
        button("Open HEARTBEAT.md", ids.OPEN_PLAYBOOK, value),
    )


QUESTION_CHARS = 600
NOTIFICATION_CHARS = 300
LISTED_CHARS = 150
LISTED_AT_MOST = 20
"""Pages in one message: with their links they stay below what Slack takes."""


def notice_text(state: ThreadState, waited: timedelta) -> str:
    """Return the notice's one line for notifications and screen readers."""
    return truncate(f"{WORDS[Severity.PAGE]}: {_waited(waited)}: {_one_line(state)}", NOTIFICATION_CHARS)


def ring_blocks(state: ThreadState, pages: Sequence[str], *, number: int, waited: timedelta) -> list[Block]:
    """Return the ring of this number (from 1); `pages` are the users and groups it mentions, or `channel`."""
    before = 1 if state.paging.since is None else 0  # what became a page later rang nobody's phone when it was asked
    said = f"{page_lead(pages)} *rings for the {ordinal(number + before)} time*: {_waited(waited)}."
    how = "Reminders stop when an approver clicks on the card or writes in the thread."
    return _notice(state, said, how, mark=ids.page_block_id(state, number))


def rings_text(rings: Sequence[PageRing]) -> str:
    """Return one line for the notification of several rings."""
    asked = "; ".join(_one_line(each.state) for each in rings)
    return truncate(f"{WORDS[Severity.PAGE]}: nobody has acknowledged {len(rings)} pages: {asked}", NOTIFICATION_CHARS)


def rings_blocks(rings: Sequence[PageRing], pages: Sequence[str]) -> list[Block]:
    """Return one message for several rings, at most LISTED_AT_MOST; each page bears its own mark."""
    lead = f"{page_lead(pages)} *{len(rings)} pages ring again*: nobody has acknowledged them."
    how = "Reminders of one stop when an approver clicks on its card or writes in its thread."
    return [section(lead), *(_listed(each) for each in rings), context(how)]


def _listed(ring: PageRing) -> Block:
    state = ring.state
    said = " · ".join([_who(state), f"{duration(ring.waited)} ago", *_links(state)])
    asked = quote_block(truncate(_one_line(state), LISTED_CHARS) or "(no text)")
    return section(f"{asked}\n{said}", block_id=ids.page_block_id(state, ring.number))


def escalation_blocks(state: ThreadState, *, waited: timedelta) -> list[Block]:
    """Return what is told to a person, a member of a group or a channel outside the ops channel."""
    said = f"{page_lead(())} *escalated*: {_waited(waited)}."
    how = "To take it, write in its thread; reminders then stop."
    return _notice(state, said, how, mark=ids.page_block_id(state, None))


def _notice(state: ThreadState, said: str, how: str, *, mark: str) -> list[Block]:
    asked = truncate(escape_text(_alarm(state)), QUESTION_CHARS) or "(no text)"
    return [
        section(f"{said}\n{' · '.join([_who(state), *_links(state)])}", block_id=mark),
        section(quote_block(asked)),
        context(how),
    ]


def _one_line(state: ThreadState) -> str:
    return " ".join(escape_text(_alarm(state)).split())


def _alarm(state: ThreadState) -> str:
    """Return the words that made the page."""
    return state.question if state.paging.said is None else state.paging.said


def _who(state: ThreadState) -> str:
    if state.paging.said is not None:
        return f"<@{state.paging.said_by}> wrote in a thread of {place_words(state.chat_id)}"
    return f"{asked_by(state)} in {place_words(state.chat_id)}"


def _links(state: ThreadState) -> list[str]:
    links = [f"<{state.permalink}|open thread>"] if state.permalink else []
    if state.card_channel and state.card_ts:
        card = sibling_message_link(state.permalink, state.card_channel, state.card_ts)
        links.append(f"<{card}|card>" if card else f"card in <#{state.card_channel}>")
    return links


def _waited(waited: timedelta) -> str:
    return f"nobody has acknowledged it for {duration(waited)}"


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
    last = _suggestion_buttons(suggestion) if suggestion.is_waiting else context(_decision(suggestion))
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


def _suggestion_buttons(suggestion: Suggestion) -> ActionsBlock:
    confirm = None
    if suggestion.quarantine:
        asked = f"A model would read this line at every {suggestion.tier} check of {escape(suggestion.to)}."
        confirm = confirmation("Have you read it?", asked, yes="Add it anyway", no="Cancel")
    style = "danger" if confirm else "primary"
    accept = button("Accept", ids.ACCEPT_SUGGESTION, suggestion.id, style=style, confirm=confirm)
    reject = button("Reject", ids.REJECT_SUGGESTION, suggestion.id)
    return actions(f"{ids.suggestion_block_id(suggestion.id)}:decide", accept, reject)
