"""Lists of drafts: a line each, hostile questions on theirs, and no more than one screen."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

from blocks.text.splitting import SECTION_CHARS
from blocks.views.brief_view import MAX_REMINDED, draft_lines, reminder_blocks, reminder_line
from bot.casework.reports.status_overview import ThreadLine
from bot.domain.paging import Paging
from bot.domain.severity import Severity
from bot.domain.threads import PendingReason, ThreadStatus
from tests.builders import NOW
from tests.tables import each_row


def a_line(question: str = "why five?") -> ThreadLine:
    """Return a draft that waits for four hours."""
    return ThreadLine(
        thread_id="T1.C1.1.2",
        chat_id="C1",
        permalink="https://acme.slack.com/archives/C1/p1",
        status=ThreadStatus.PENDING_USER,
        reason=PendingReason.APPROVAL,
        passed="search result, not an answer",
        question=question,
        started_at=NOW - timedelta(hours=4),
        card=("C0OPS", "1795165201.000100"),
    )


def test_a_line_leads_to_its_card() -> None:
    """With its age, how it stands and what was asked."""
    link = "https://acme.slack.com/archives/C0OPS/p1795165201000100"
    assert draft_lines([a_line()], NOW) == f"• <{link}|card> · 4 h ago · search result, not an answer · why five?"


@each_row("question", ["```one", "<!channel> now?", "a *b* _c_", "x" * 5_000, ""])
def test_hostile_questions_stay_on_their_line(question: str) -> None:
    """They swallow nothing of what follows, and ring nobody."""
    said = draft_lines([a_line(question), a_line()], NOW)
    assert len(said) <= SECTION_CHARS
    assert "```" not in said
    assert "<!channel>" not in said


@each_row("count, title", [(1, "*1 card waits for a decision*"), (15, "*15 cards wait for a decision*")])
def test_a_reminder_names_ten_and_says_when_they_end(count: int, title: str) -> None:
    """And its notification is a number."""
    waiting = [a_line()] * count
    said = json.dumps([block.to_dict() for block in reminder_blocks(waiting, NOW, expire_after=timedelta(days=3))])
    assert title in said
    assert said.count("why five?") == min(count, MAX_REMINDED)
    assert ("and 5 more" in said) == (count == 15)
    assert "without activity for 3 d" in said
    assert "why" not in reminder_line(waiting)


def test_cards_that_never_end_are_not_said_to() -> None:
    """`expire_after: null`."""
    assert "closed" not in json.dumps([b.to_dict() for b in reminder_blocks([a_line()], NOW, expire_after=None)])


@each_row(
    "paging, words",
    [
        (Paging(), "🚨 *Page* · "),
        (Paging(rings=1), "🚨 *Page* · rang 1 time more · "),
        (Paging(rings=2, escalated_to="S0ONCALL"), "· rang 2 times more · escalated to <!subteam^S0ONCALL> · "),
        (
            Paging(rings=2, escalated_to="U0BOSS", acknowledged_by="U0BEN"),
            "· rang 2 times more · <@U0BEN> acknowledged it · ",
        ),
    ],
)
def test_a_page_says_how_often_it_rang_and_who_has_it(paging: Paging, words: str) -> None:
    """While nobody has it, who was told next; an ordinary question says nothing of it."""
    assert f"{words}<" in draft_lines([replace(a_line(), severity=Severity.PAGE, paging=paging)], NOW)
    assert "rang" not in draft_lines([replace(a_line(), paging=paging)], NOW)
