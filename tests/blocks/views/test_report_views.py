"""Trust on App Home: each type with its record, how the gate stands, and a switch with what is allowed."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from blocks import ids
from blocks.text.splitting import SECTION_CHARS
from blocks.views.report_views import MAX_REMINDED, draft_lines, reminder_blocks, reminder_line, trust_blocks
from bot.casework.reports.autonomy_metrics import AutonomyCase, TypeRecord
from bot.casework.reports.status_overview import ThreadLine
from bot.domain.questions.autonomy import TeamFacts, WeekRecord, judge_team
from bot.domain.questions.autonomy_record import Arming, AutonomyMode
from bot.domain.threads import PendingReason, QuestionType, ThreadStatus
from tests.blocks.limits import as_slack_takes_it
from tests.builders import NOW
from tests.tables import each_row

OFF, SHADOW, ON = AutonomyMode
ARMED = Arming(armed_by="U1", armed_at=NOW)


def a_case(mode: AutonomyMode, standing: Arming | None = None, *, false: int = 0) -> AutonomyCase:
    weeks = [WeekRecord(12, false, 0)] * 4
    return AutonomyCase(
        now=NOW,
        mode=mode,
        standing=standing or Arming(),
        weeks=weeks,
        conditions=judge_team(TeamFacts(mode=mode, weeks=weeks)),
        types=[TypeRecord(QuestionType.DATA_LOOKUP, 31, 22, 4, 2, 1, 0, 0, 9)],
    )


def switch(case: AutonomyCase, *, may_approve: bool = True) -> dict[str, Any] | None:
    """Return the menu as Slack takes it."""
    found = as_slack_takes_it(trust_blocks(case, team="pay", may_approve=may_approve))
    return next((one["accessory"] for one in found if "accessory" in one), None)


@each_row(
    "mode, standing, false, offered, now",
    [
        (SHADOW, Arming(), 0, [OFF, SHADOW], SHADOW),
        (SHADOW, Arming(is_off=True), 0, [OFF, SHADOW], OFF),
        (ON, Arming(), 0, [OFF, SHADOW, ON], SHADOW),
        (ON, Arming(), 1, [OFF, SHADOW], SHADOW),
        (ON, ARMED, 0, [OFF, SHADOW, ON], ON),
    ],
)
def test_the_switch_offers_what_the_key_and_the_record_allow(
    mode: AutonomyMode, standing: Arming, false: int, offered: list[AutonomyMode], now: AutonomyMode
) -> None:
    """And shows how it stands."""
    found = switch(a_case(mode, standing, false=false))
    assert found is not None
    assert [ids.SWITCH.decode(one["value"]).to for one in found["options"]] == offered
    assert ids.SWITCH.decode(found["initial_option"]["value"]) == ids.SwitchValue("pay", now)


def test_only_approvers_have_the_switch_and_only_where_the_key_allows_one() -> None:
    """Everybody reads the record."""
    assert switch(a_case(OFF)) is None
    assert switch(a_case(ON), may_approve=False) is None
    read = json.dumps(as_slack_takes_it(trust_blocks(a_case(ON), team="pay", may_approve=False)))
    assert "22 of 31 approved unchanged, 4 edited, 2 dismissed, 1 not helpful" in read


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
