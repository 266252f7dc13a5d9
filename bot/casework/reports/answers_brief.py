"""The brief of a day as an answer: what waits, what happened, what it cost; also posted each morning and evening.

Who may not approve sees counts: no questions, findings or remarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Final

from bot.casework.reports.answers import draft_line
from bot.casework.reports.daily_brief import MAX_LINES, BriefKind, DailyBrief, brief_cost_line, period
from bot.casework.reports.status_overview import FindingLine, ThreadLine, count_findings
from bot.domain.alerts import SIGNS, WORDS
from bot.domain.answers import Answer, Line, Part, lines_of
from bot.domain.text.humanize import counted, duration, utc_text
from bot.domain.threads import Resolution

_ENDINGS: Final = {
    Resolution.DISMISSED: "dismissed",
    Resolution.SUPERSEDED: "answered by a person",
    Resolution.WITHDRAWN: "deleted by the asker",
    Resolution.EXPIRED: "closed because nobody decided",
}


def brief_answer(brief: DailyBrief, title: str, *, may_see_drafts: bool) -> Answer:
    """Return the brief in a few short parts; its kind decides which."""
    waits = f"{counted(len(brief.drafts), 'draft')} wait{'s' * (len(brief.drafts) == 1)} for a decision"
    open_, drafts = map(_finding, brief.open_findings), (draft_line(one, brief.now) for one in brief.drafts)
    lists = (
        (count_findings(brief.open_findings), open_),
        (waits if brief.drafts else "No draft waits for a decision", drafts),
        (f"{counted(len(brief.answered), 'question')} answered by people in the thread", map(_answer, brief.answered)),
        (f"{counted(len(brief.findings), 'alert')} from checks", map(_named, brief.findings)),
        (f"{counted(len(brief.remarks), 'remark')} with OK", map(_named, brief.remarks)),
        (f"{counted(len(brief.changes), 'change')} seen by checks without a model", map(_named, brief.changes)),
    )
    return Answer(
        parts=(
            Part(title=f"{title} · the last {period(brief)}", lines=lines_of(_counts(brief))),
            *(part for said, lines in lists for part in _listed(said, list(lines), may_see_drafts)),
            Part(lines=lines_of([brief_cost_line(brief)])),
        ),
        following="open" if brief.drafts else "heartbeat list",
    )


def _counts(brief: DailyBrief) -> Iterator[str]:
    """Yield who paused, what was posted, and in the evening what became of the day's questions."""
    if brief.paused:
        yield f"{brief.paused}; to resume: /triage resume"
    is_evening = brief.kind is BriefKind.EVENING
    ends = [f"{brief.ended[end]} {words}" for end, words in _ENDINGS.items() if brief.ended.get(end)]
    yield " · ".join(
        [
            *([f"{counted(brief.asked, 'question')} asked"] if is_evening else []),
            f"{counted(brief.replies, 'reply', 'replies')} posted",
            *(ends if is_evening else []),
            *([f"{counted(brief.long_runs, 'long run')} finished"] if brief.long_runs else []),
        ]
    )
    if is_evening and brief.wait_s:
        yield f"Median time from question to reply: {duration(timedelta(seconds=brief.wait_s))}"


def _listed(title: str, lines: list[Line], may_see: bool) -> Iterable[Part]:
    """Return a title and at most `MAX_LINES` lines under it, the title alone for who may not see them."""
    if not lines:
        return [Part(lines=lines_of([title]))] if title.startswith("No ") else []
    left = len(lines) - MAX_LINES
    more = lines_of([f"… and {left} more"] if left > 0 else [])
    return [Part(title=title, lines=(*lines[:MAX_LINES], *more) if may_see else ())]


def _answer(one: ThreadLine) -> Line:
    waits = "answered; the draft still waits: dismiss or post it" if one.is_waiting else "answered; closed"
    return Line(text=f"{waits} · {one.question}", who=one.answered_by or "", link=one.card_link or "", linked="card")


def _finding(found: FindingLine) -> Line:
    """Return an open finding: how urgent, which session, who has it, since when, and the problem."""
    who = found.acknowledged_by or found.investigated_by or ""
    if found.acknowledged_by:
        has = "acknowledged"
    elif found.investigated_by:
        has = "investigating"
    else:
        has = f"snoozed until {utc_text(found.snoozed_until)}" if found.snoozed_until else "not acknowledged"
    return Line(
        mark=f"{SIGNS[found.severity]} {WORDS[found.severity]}",
        name=found.session_id,
        text=f"{has} · since {utc_text(found.since)} · {found.text}",
        who=who,
    )


def _named(said: tuple[str, str]) -> Line:
    """Return what was said of a watched repository."""
    return Line(name=said[0], text=said[1])
