"""What `/triage status` says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from blocks.views.answers import answer_blocks, without_tables
from bot.casework.reports.answers import status_answer
from bot.casework.reports.status_overview import FindingLine, Overview, ThreadLine
from bot.domain.alerts import Severity
from bot.domain.threads import PendingReason, ThreadStatus
from bot.ports.system import Replica
from tests.blocks.cards.test_draft_card import HOSTILE
from tests.blocks.limits import shown
from tests.builders import NOW
from tests.tables import each_row


def an_overview(*questions: str, **changes: Any) -> Overview:
    lines = [
        ThreadLine(
            thread_id=f"T1.C1.{n}.1",
            chat_id="C1",
            permalink="https://acme.slack.com/archives/C1/p1795165200000100" if n % 2 else None,
            status=ThreadStatus.PENDING_USER,
            reason=PendingReason.APPROVAL,
            passed="✓ checked by a second model",
            question=question,
            started_at=NOW,
        )
        for n, question in enumerate(questions)
    ]
    fields: dict[str, Any] = {
        "running": 1,
        "waiting": 2,
        "queued": 3,
        "failed": 4,
        "posted_today": 5,
        "connection": "last event 4 s ago · connected since 09:12 UTC",
        "last_event_at": NOW,
        "last_event": "Last message seen 4 min ago",
        "threads": tuple(lines),
        "unreadable": (),
    }
    return Overview(**{**fields, **changes})


def status(seen: Overview, *, may_see_drafts: bool) -> str:
    """Return what is shown, as text and as a table; both keep Slack's limits."""
    blocks = answer_blocks(status_answer(seen, NOW, may_see_drafts=may_see_drafts))
    return shown(blocks) + shown(without_tables(blocks))


def test_questions_are_for_approvers_only() -> None:
    """Who may not approve sees no question."""
    assert "why five?" in status(an_overview("why five?"), may_see_drafts=True)
    assert "why five?" not in status(an_overview("why five?"), may_see_drafts=False)


@each_row("text", HOSTILE.values())
@each_row("count", [500])
def test_no_question_and_no_number_of_them_breaks_the_answer(text: str, count: int) -> None:
    """Ninety characters of anything, any number of times."""
    line = " ".join(text.split())[:90]
    status(an_overview(*[line] * count), may_see_drafts=True)


def test_replicas_are_named_to_approvers_only() -> None:
    """Names of machines are not for everybody; however many there are, the answer holds."""
    facts = {"pid": 41, "version": "1.0.0", "role": "all", "runs_for": timedelta(hours=2), "clock_ahead": timedelta()}
    replicas = tuple(Replica(host=f"web-{n}", silent_for=timedelta(minutes=n), **facts) for n in range(90))
    seen = status(an_overview(replicas=replicas), may_see_drafts=True)
    assert "process 41 on web-0: triage 1.0.0, role all, started 2 h ago, last sign of life 0 s ago" in seen
    assert "process 41 on web-1: triage 1.0.0, role all, started 2 h ago, no sign of life for 1 min" in seen
    assert "web-0" not in status(an_overview(replicas=replicas), may_see_drafts=False)


def test_what_is_broken_is_said_to_everybody() -> None:
    """Records that cannot be read, and what to do about them."""
    broken = an_overview("why?", unreadable=("a.json", "b.json"))
    assert "2 records cannot be read" in status(broken, may_see_drafts=False)
    assert "state/a.json cannot be read; leave it" in status(broken, may_see_drafts=True)


def test_sessions_with_open_findings_are_named_to_everybody_and_pages_are_marked() -> None:
    """By name and number; what was found is not for everybody."""
    found = FindingLine(session_id="shop", text="Prod is down", severity=Severity.PAGE, since=NOW)
    other = replace(found, session_id="docs", severity=Severity.ACT)
    for may_see in (True, False):
        seen = status(an_overview("why?", open_findings=(found, other)), may_see_drafts=may_see)
        assert "2 open findings (1 page): 🚨 shop (1), docs (1); see /triage heartbeat list" in seen
        assert "Prod is down" not in seen
    assert "open finding" not in status(an_overview("why?"), may_see_drafts=True)
    many = tuple(replace(found, session_id=f"{n:040}") for n in range(500))
    assert "492 more" in status(an_overview("why?", open_findings=many), may_see_drafts=True)
