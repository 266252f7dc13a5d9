"""The brief, the end-of-day report and reminders: what waits, what happened, what it cost. Pure.

Who may not approve gets counts: no questions, findings or remarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from slack_sdk.models.blocks import Block, DividerBlock

from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, mention, quoted_line, section
from blocks.text.splitting import SECTION_CHARS, lines_that_fit, truncate
from bot.casework.reports.daily_brief import MAX_LINES, BriefKind, DailyBrief, brief_cost_line, period
from bot.casework.reports.status_overview import FindingLine, ThreadLine, count_findings
from bot.domain.paging import Paging
from bot.domain.severity import SIGNS, WORDS, Severity
from bot.domain.text.humanize import counted, duration, time_ago, utc_text
from bot.domain.threads import Resolution

MAX_DRAFTS: Final = 15
MAX_REMINDED: Final = 10

NEXT: Final = "`/triage open`, `/triage heartbeat list`"

_ENDINGS: Final = {
    Resolution.DISMISSED: "dismissed",
    Resolution.SUPERSEDED: "answered by a person",
    Resolution.WITHDRAWN: "deleted by the asker",
    Resolution.EXPIRED: "closed because nobody decided",
}


def reminder_line(waiting: Sequence[ThreadLine]) -> str:
    """Return a reminder for notifications, which quotes nobody."""
    return f"{counted(len(waiting), 'card')} wait{'s' * (len(waiting) == 1)} for a decision"


def reminder_blocks(waiting: Sequence[ThreadLine], now: datetime, *, expire_after: timedelta | None) -> list[Block]:
    """Return the reminder of cards that nobody touched."""
    ends = f" Cards without activity for {duration(expire_after)} are closed and not posted." if expire_after else ""
    return [
        section(f"*{reminder_line(waiting)}*"),
        section(draft_lines(waiting, now, at_most=MAX_REMINDED)),
        context(f"Next: open a card and decide.{ends}"),
    ]


def draft_lines(drafts: Sequence[ThreadLine], now: datetime, *, at_most: int = MAX_DRAFTS) -> str:
    """Return a line for each draft, as many as one section holds; the last says how many are left out."""
    return lines_that_fit([_line(draft, now) for draft in drafts], at_most)


def _line(draft: ThreadLine, now: datetime) -> str:
    link = draft.card_link
    card = f"<{link}|card>" if link else f"card in <#{draft.card[0]}>" if draft.card else "no card yet"
    page = f"{_page(draft.paging)} · " if draft.severity is Severity.PAGE else ""
    return f"• {page}{card} · {time_ago(now, draft.started_at)} · {draft.standing} · {quoted_line(draft.question)}"


def _page(paging: Paging) -> str:
    """Return the word of a page, how often it rang again, and who has it or, if nobody, was told next."""
    rang = f"rang {counted(paging.rings, 'time')} more" if paging.rings else ""
    told = f"escalated to {mention(paging.escalated_to)}" if paging.escalated_to else ""
    now = f"<@{paging.acknowledged_by}> acknowledged it" if paging.acknowledged_by else told
    return " · ".join(filter(None, (f"{SIGNS[Severity.PAGE]} *{WORDS[Severity.PAGE]}*", rang, now)))


def brief_blocks(brief: DailyBrief, title: str, *, may_see_drafts: bool) -> list[Block]:
    """Return the brief as a message of a few short sections; its kind decides which."""
    parts: list[Block] = [section(f"*{escape(title)}* · the last {period(brief)}")]
    if brief.paused:
        parts.append(section(f":double_vertical_bar: *{escape(brief.paused)}* · to resume: `/triage resume`"))
    is_evening = brief.kind is BriefKind.EVENING
    said, changed = brief.remarks, brief.changes
    parts += [
        DividerBlock(),
        *([section(_day(brief))] if is_evening else []),
        *_listed(f"*{count_findings(brief.open_findings)}*", map(_finding, brief.open_findings), may_see_drafts),
        section(_drafts(brief, may_see_drafts)),
        *([] if is_evening else [section(_done(brief))]),
        *_listed(_answered(brief), map(_answer, brief.answered), may_see_drafts),
        *_listed(
            f"*{counted(len(brief.findings), 'alert')}* by heartbeats", map(_named, brief.findings), may_see_drafts
        ),
        *_listed(f"*{counted(len(said), 'remark')} with OK*", map(_named, said), may_see_drafts),
        *_listed(
            f"*{counted(len(changed), 'change')}* seen by heartbeats without a model",
            map(_named, changed),
            may_see_drafts,
        ),
    ]
    return fit_message([*parts, context(f"{escape(brief_cost_line(brief))} Next: {NEXT}")])


def _drafts(brief: DailyBrief, may_see_drafts: bool) -> str:
    count = len(brief.drafts)
    if not count:
        return "No draft waits for a decision"
    title = f"*{counted(count, 'draft')}* wait{'s' * (count == 1)} for a decision"
    if not may_see_drafts:
        return f"{title}. Only approvers can see them: `/triage approve-list`"
    return truncate(f"{title}\n{draft_lines(brief.drafts, brief.now, at_most=MAX_LINES)}", SECTION_CHARS)


def _done(brief: DailyBrief) -> str:
    runs = f" · *{brief.long_runs}* long run{'s' * (brief.long_runs != 1)} finished" if brief.long_runs else ""
    return f"*{brief.replies}* {'reply' if brief.replies == 1 else 'replies'} posted{runs}"


def _day(brief: DailyBrief) -> str:
    """Return what became of the day's questions, and how long the askers of the answered ones waited."""
    posted = f"*{brief.replies}* {'reply' if brief.replies == 1 else 'replies'} posted"
    ends = [f"*{brief.ended[end]}* {words}" for end, words in _ENDINGS.items() if brief.ended.get(end)]
    runs = [f"*{counted(brief.long_runs, 'long run')}* finished"] if brief.long_runs else []
    waited = (
        f"\nMedian time from question to reply: {duration(timedelta(seconds=brief.wait_s))}" if brief.wait_s else ""
    )
    return " · ".join([f"*{counted(brief.asked, 'question')}* asked", posted, *ends, *runs]) + waited


def _answered(brief: DailyBrief) -> str:
    return f"*{counted(len(brief.answered), 'question')}* answered by people in the thread"


def _answer(line: ThreadLine) -> str:
    link = line.card_link
    card = f"<{link}|card>" if link else f"card in <#{line.card[0]}>" if line.card else "no card"
    waits = "the draft still waits: dismiss or post it" if line.is_waiting else "closed"
    return f"{card} · <@{line.answered_by}> answered · {waits} · {quoted_line(line.question)}"


def _finding(found: FindingLine) -> str:
    """Return an open finding on one line: how urgent, which session, the problem, since when and who has it."""
    urgency = f"{SIGNS[found.severity]} *{WORDS[found.severity]}*"
    said = f"{quoted_line(found.text)} · since {utc_text(found.since)}"
    return f"{urgency} · *{escape(found.session_id)}* · {said} · {_has(found)}"


def _has(found: FindingLine) -> str:
    if found.acknowledged_by:
        return f"<@{found.acknowledged_by}> acknowledged it"
    if found.investigated_by:
        return f"<@{found.investigated_by}> started an investigation"
    if found.snoozed_until:
        return f"snoozed until {utc_text(found.snoozed_until)}"
    return "not acknowledged"


def _named(line: tuple[str, str]) -> str:
    """Return what was said of a watched repository."""
    name, said = line
    return f"*{escape(name)}* · {quoted_line(said)}"


def _listed(title: str, lines: Iterable[str], may_see: bool) -> list[Block]:
    """Return a title and as many lines under it as fit; the title alone for who may not see them, nothing for none."""
    found = [f"• {line}" for line in lines]
    left = len(found) - MAX_LINES
    shown = [title, *found[:MAX_LINES], *([f"… and {left} more"] if left > 0 else [])] if may_see else [title]
    return [section(truncate("\n".join(shown), SECTION_CHARS))] if found else []
