"""The brief as people see it: everything to approvers, numbers to others, and never broken by what it quotes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

from blocks.text.outgoing_text import local_time
from blocks.views.answers import answer_blocks
from bot.casework.reports.answers_brief import brief_answer
from bot.casework.reports.daily_brief import MAX_LINES, DailyBrief
from bot.casework.reports.status_overview import FindingLine, ThreadLine
from bot.domain.alerts import Severity
from bot.domain.threads import PendingReason, ThreadStatus
from tests.builders import NOW
from tests.tables import each_row

DRAFT = ThreadLine(
    thread_id="T1.C1.1.2",
    chat_id="C1",
    permalink="https://acme.slack.com/archives/C1/p1",
    status=ThreadStatus.PENDING_USER,
    reason=PendingReason.APPROVAL,
    question="why five retries?",
    started_at=NOW - timedelta(minutes=42),
    card=("C0OPS", "1795165201.000100"),
)


def brief(**changes: Any) -> DailyBrief:
    """Return a busy night."""
    known: dict[str, Any] = {
        "since": NOW - timedelta(hours=12),
        "now": NOW,
        "drafts": (DRAFT,),
        "long_runs": 1,
        "replies": 5,
        "findings": (("shop", "CI is red on main"),),
        "beats": 46,
        "failed_beats": 1,
        "model_runs": 19,
        "cost_usd": 3.42,
        "paused": None,
    }
    return DailyBrief(**{**known, **changes})


def words(shown: DailyBrief, *, may_see_drafts: bool = True) -> str:
    """Return all that stands in the blocks."""
    blocks = answer_blocks(brief_answer(shown, "Morning brief", may_see_drafts=may_see_drafts))
    return json.dumps([block.to_dict() for block in blocks], ensure_ascii=False)


ANSWERED = replace(DRAFT, answered_by="U7", question="how many retries?")


def test_questions_that_people_answered_are_named() -> None:
    """With who answered, and whether a draft still waits; only a number for who may not approve."""
    closed = replace(ANSWERED, status=ThreadStatus.CLOSED, question="since when?")
    said = words(brief(answered=(ANSWERED, closed)))
    assert said.count("<@U7>") == 2
    assert said.count("draft still waits") == 1
    hidden = words(brief(answered=(ANSWERED, closed)), may_see_drafts=False)
    assert "2 questions" in hidden
    assert "how many retries?" not in hidden


def test_an_approver_reads_what_waits_with_the_way_to_its_card() -> None:
    """And what happened, and what it cost."""
    said = words(brief())
    for part in (
        "*Morning brief · the last 12 h*",
        "*1 draft waits for a decision*",
        "/archives/C0OPS/p1795165201000100|card>",
        "why five retries?",
        "5 replies posted · 1 long run finished",
        "*1 alert from checks*\\n*shop* CI is red on main",
        "46 checks (1 failed), 19 model runs, $3.42.",
    ):
        assert part in said


@each_row("count", [MAX_LINES + 1, 500])
def test_a_long_night_is_capped_and_says_so(count: int) -> None:
    """One screen, whatever waits."""
    said = words(brief(drafts=(DRAFT,) * count, findings=(("shop", "x" * 120),) * count))
    assert said.count(f"… and {count - MAX_LINES} more") == 2


def test_open_findings_stand_first_with_who_has_them() -> None:
    """How urgent, where, what, since when and who has it; others get the count; what is quoted is inert."""
    page = FindingLine(session_id="shop", text="Prod is <!channel> `down", severity=Severity.PAGE, since=NOW)
    others = (
        replace(page, text="a", severity=Severity.ACT, acknowledged_by="U1ANN"),
        replace(page, text="b", severity=Severity.ACT, investigated_by="U2BEN"),
        replace(page, text="c", severity=Severity.KNOW, snoozed_until=NOW),
    )
    shown = brief(open_findings=(page, *others))
    said, at = words(shown), local_time(NOW)
    assert "*4 open findings (1 page)*" in said
    assert "<!channel>" not in said
    for line in (
        f"🚨 Page *shop* · not acknowledged · since {at} · Prod is ",
        f"🟠 Act *shop* · <@U1ANN> · acknowledged · since {at} · a",
        f"🟠 Act *shop* · <@U2BEN> · investigating · since {at} · b",
        f"🔵 Know *shop* · snoozed until {at} · since {at} · c",
    ):
        assert line in said
    assert said.index("open findings") < said.index("waits for a decision")
    hidden = words(shown, may_see_drafts=False)
    assert "*4 open findings (1 page)*" in hidden
    assert "Prod is" not in hidden
    assert "U1ANN" not in hidden
    many = words(brief(open_findings=(replace(page, text="x" * 120),) * 40))
    assert f"… and {40 - MAX_LINES} more" in many


def test_remarks_beside_ok_are_listed_for_those_who_may_see_findings() -> None:
    """Nothing they hold is obeyed by Slack; what is too much is counted; others get the number."""
    remarks = (("shop", "fine, <!channel> but two PRs wait"), *(("docs", f"remark {n}") for n in range(MAX_LINES)))
    said = words(brief(remarks=remarks))
    assert f"*{MAX_LINES + 1} remarks with OK*\\n*shop* fine, " in said
    assert "<!channel>" not in said
    assert "… and 1 more" in said
    hidden = words(brief(remarks=remarks), may_see_drafts=False)
    assert f"*{MAX_LINES + 1} remarks with OK*" in hidden
    assert "PRs wait" not in hidden
    assert "beside OK" not in words(brief())


def test_what_is_quoted_is_inert() -> None:
    """A finding is a model's words, and a question a stranger's."""
    said = words(brief(findings=(("shop", "<!channel> *now*"),)))
    assert "<!channel>" not in said


def test_what_commands_printed_anew_is_listed_for_those_who_may_see_findings() -> None:
    """Others get the number."""
    changes = (("shop", "`git log` printed something else: <!channel>"),)
    said = words(brief(changes=changes))
    title = "*1 change seen by checks without a model*"
    assert f"{title}\\n*shop* `git log` printed something else: " in said
    assert "<!channel>" not in said
    hidden = words(brief(changes=changes), may_see_drafts=False)
    assert title in hidden
    assert "git log" not in hidden
