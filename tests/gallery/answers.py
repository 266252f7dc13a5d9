"""What `/triage` answers, what the bot says by itself, and App Home."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from slack_sdk.models.blocks import Block

from blocks.cards.draft_card import CardFacts, card_blocks
from blocks.views.answers import answer_blocks
from blocks.views.home_view import HomeData, Notice, TeamHome, home_view
from blocks.views.report_views import reminder_blocks
from bot.casework.reports.answers import metrics_answer, open_answer, status_answer
from bot.casework.reports.answers_autonomy import autonomy_answer
from bot.casework.reports.answers_brief import brief_answer
from bot.casework.reports.autonomy_metrics import AutonomyCase, FalsePositive, TypeRecord
from bot.casework.reports.daily_brief import DailyBrief
from bot.casework.reports.metrics_report import build_metrics
from bot.casework.reports.status_overview import QUESTION_CHARS, DayCounts, Overview, ThreadLine
from bot.domain.answers import all_commands
from bot.domain.citations.links import code_links
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import BeatResult, BeatUsage, Delivered, Envelope, Indicator, RunUsage, Wake
from bot.domain.playbook import parse
from bot.domain.questions.autonomy import TeamFacts, WeekRecord, judge_team
from bot.domain.questions.autonomy_record import Arming, AutonomyMode
from bot.domain.returns import Verdict
from bot.domain.text.sanitize import one_line
from bot.domain.threads import PendingReason, QuestionType, Resolution, ThreadStatus
from bot.domain.tiers import Stamps, Tier
from bot.heartbeat.session_registry import Session, resolve_session
from bot.heartbeat.session_rows import SessionRow, SessionStatus, list_answer, why_answer
from bot.heartbeat.task_commands import TaskList
from demo.workspace import ANA, BEN, DEMO, HELP, OPS
from tests.builders import NOW
from tests.casework.past import GOOD, a_round, decided, history, reply
from tests.gallery.cards import QUESTION, drafted
from tests.gallery.dialogues import PLAYBOOK
from tests.gallery.scene import Chapter, Scene
from tests.heartbeat.clockwork import session_settings

_LINK = f"https://acme.slack.com/archives/{HELP.channel_id}/p1795165200000100"
_OTHER = "Does the export count refunds, or only orders?"


def _line(question: str, reason: PendingReason | None, minutes: int, card: str | None = None) -> ThreadLine:
    return ThreadLine(
        thread_id=f"{DEMO.team_id}.{HELP.channel_id}.1795165200.000{minutes:03}",
        chat_id=HELP.channel_id,
        permalink=_LINK,
        status=ThreadStatus.PENDING_USER if reason else ThreadStatus.INVESTIGATING,
        reason=reason,
        question=question,
        started_at=NOW - timedelta(minutes=minutes),
        card=(OPS.channel_id, card) if card else None,
        passed="✓ checked by a second model" if reason is PendingReason.APPROVAL else None,
    )


_WEEKS = [WeekRecord(14, 0, 0), WeekRecord(12, 1, 0), WeekRecord(11, 0, 0), WeekRecord(15, 0, 0)]
_CASE = AutonomyCase(
    now=NOW,
    mode=AutonomyMode.SHADOW,
    standing=Arming(),
    weeks=_WEEKS,
    conditions=judge_team(TeamFacts(mode=AutonomyMode.SHADOW, weeks=_WEEKS)),
    types=[
        TypeRecord(QuestionType.TECHNICAL_QA, 31, 22, 4, 2, 1, 0, 0, 38),
        TypeRecord(QuestionType.DATA_LOOKUP, 9, 6, 2, 1, 0, 0, 0, 4),
    ],
    false=[
        FalsePositive(
            thread_id=f"{DEMO.team_id}.{HELP.channel_id}.1795165200.000100",
            how="dismissed",
            question=_OTHER,
            permalink=_LINK,
            reason="refunds are in another table",
        )
    ],
)

_LINES = (
    _line(one_line(QUESTION, QUESTION_CHARS), PendingReason.APPROVAL, 42, "1795165201.000100"),
    _line(_OTHER, PendingReason.DISAGREEMENT, 12, "1795165202.000100"),
    _line("Why do we sign session cookies twice?", None, 1),
)


def _overview(**changes: Any) -> Overview:
    known: dict[str, Any] = {
        "running": 1,
        "waiting": 2,
        "queued": 1,
        "failed": 0,
        "posted_today": 5,
        "connection": "last event 4 s ago · connected since 2026-11-20 08:12 UTC",
        "last_event_at": NOW,
        "last_event": "Last message seen 4 min ago",
        "threads": _LINES,
        "unreadable": (),
    }
    return Overview(**{**known, **changes})


def _beat(minutes: int, result: BeatResult, indicator: Indicator, **changes: Any) -> Envelope:
    known: dict[str, Any] = {
        "ts": NOW - timedelta(minutes=minutes),
        "session_id": "shop",
        "workspace_dir": "/srv/shop",
        "reason": Wake.INTERVAL,
        "result": result,
        "indicator": indicator,
        "duration_ms": 2_140,
        "tier": Tier.QUICK,
    }
    return Envelope(**{**known, **changes})


_QUIET = _beat(40, BeatResult.OK_EMPTY, Indicator.OK, why="probes: all outputs equal those of the last good check")
_NIGHT = _beat(
    600, BeatResult.SKIPPED, Indicator.NONE, why="outside hours: it is 23:00 in UTC", tier=None, duration_ms=0
)
_SENT = _beat(
    10,
    BeatResult.SENT,
    Indicator.ALERT,
    delivered=Delivered(mode="last", channel="slack", to="D0ANA"),
    preview="Production config: query_timeout_s is 0, so every query fails at once.",
    duration_ms=41_000,
    tool_calls=6,
    trace_id="shop-20261120T085000Z-b1",
    silent=False,
    usage=BeatUsage(input_tokens=9_800, output_tokens=700, cost_usd=0.07, triage_usage=RunUsage(cost_usd=0.001)),
)
_BEATS = (_SENT, _QUIET, _NIGHT)


def _session(session_id: str, **given: Any) -> Session:
    return resolve_session(session_id, session_settings(Path("/srv") / session_id, **{"owner": ANA.user_id, **given}))


def _row(session: Session, **changes: Any) -> SessionRow:
    known: dict[str, Any] = {
        "session": session,
        "status": SessionStatus.OK,
        "hours": "08:00-22:00 UTC",
        "last": _QUIET,
        "next_at": NOW + timedelta(minutes=20),
    }
    return SessionRow(**{**known, **changes})


_RED = OpenFinding(key="shop/t/k", task="t", text=_SENT.preview, first_at=_SENT.ts, last_at=_SENT.ts)
_ROWS = (
    _row(_session("shop", name="Shop"), status=SessionStatus.ALERT, last=_SENT, found=(_RED,)),
    _row(_session("shop-api", owner=BEN.user_id, master=True)),
    _row(
        _session("storefront", name="Storefront"),
        status=SessionStatus.PAUSED,
        last=_beat(90, BeatResult.FAILED, Indicator.ERROR, error="the model sent nothing for 60 s"),
        next_at=None,
        notes=("paused after 3 failures: the model sent nothing for 60 s",),
    ),
    _row(_session("docs", owner=None), status=SessionStatus.OFF, last=None, next_at=None),
)


def _tasks() -> TaskList:
    return TaskList(
        session=_session("shop", name="Shop"),
        at=NOW,
        playbook=parse(PLAYBOOK),
        stamps=Stamps(NOW - timedelta(minutes=30), NOW - timedelta(minutes=30), NOW - timedelta(hours=23)),
    )


def _metrics() -> list[Block]:
    """Return a week of a small team, measured for real."""
    endings = (Resolution.APPROVED, Resolution.APPROVED, Resolution.EDITED, Resolution.DISMISSED)
    rounds = (Verdict.PASS, Verdict.PASS, Verdict.PASS, Verdict.BOUNCE)
    threads = [decided(n, endings[n % 4], a_round(verdict=rounds[n % 4], checks=(GOOD,))) for n in range(24)]
    past = history(
        heard=[n % 4 == 0 for n in range(400)],
        threads=threads,
        replies=[reply(n) for n in range(24) if endings[n % 4] is not Resolution.DISMISSED],
        recorded_since=NOW - timedelta(days=30),
    )
    return answer_blocks(metrics_answer(build_metrics(past, baseline_reply_s=2_400)))


def _brief(title: str, *, may_see_drafts: bool = True, **changes: Any) -> list[Block]:
    known: dict[str, Any] = {
        "since": NOW - timedelta(hours=24),
        "now": NOW,
        "drafts": _LINES[:2],
        "long_runs": 1,
        "replies": 5,
        "findings": (("Shop", "Production config: query_timeout_s is 0, so every query fails at once."),),
        "beats": 46,
        "failed_beats": 1,
        "model_runs": 19,
        "cost_usd": 3.42,
        "paused": None,
    }
    return answer_blocks(brief_answer(DailyBrief(**{**known, **changes}), title, may_see_drafts=may_see_drafts))


_DAY = DayCounts(messages=212, actionable=41, model_runs=19, cost_usd=3.42)
_WAITING = drafted().evolve(thread_id=_LINES[0].thread_id)
_HOME = HomeData(
    overview=_overview(),
    today=_DAY,
    sessions=_ROWS,
    now=NOW,
    drafts={_WAITING.thread_id: _WAITING},
    card=partial(card_blocks, facts=CardFacts(link_to=code_links("git@github.com:acme/shop.git"))),
    trust=_CASE,
    team="default",
)


_ANSWER = Notice(
    text=f"Already closed: approved by <@{BEN.user_id}> at 2026-11-20 08:59 UTC. Your click changed nothing.", at=NOW
)

ANSWERS = Chapter(
    title="What `/triage` answers",
    about="Only you see the answer. It comes at once and fits on one screen; the last line says what to type next.",
    scenes=(
        Scene(
            name="help",
            title="/triage help",
            meaning="Every command on one line; `/triage help tiers add` explains one in full.",
            shows=answer_blocks(all_commands()),
            private=True,
        ),
        Scene(
            name="status",
            title="/triage status",
            meaning="What waits, what runs, and whether Slack is heard.",
            shows=answer_blocks(status_answer(_overview(), NOW, may_see_drafts=True)),
            private=True,
        ),
        Scene(
            name="open",
            title="/triage open",
            meaning="The drafts that wait, oldest first, each with the way to its card.",
            shows=answer_blocks(open_answer(_overview(), NOW, may_see_drafts=True)),
            private=True,
        ),
        Scene(
            name="autonomy",
            title="`/triage metrics --autonomy`",
            meaning=(
                "What would have been sent without a click, what people did with it, each condition with its figure."
            ),
            shows=answer_blocks(autonomy_answer(_CASE, may_see_drafts=True)),
            private=True,
        ),
        Scene(
            name="metrics",
            title="/triage metrics",
            meaning="The promises, measured: what misses its target first.",
            shows=_metrics(),
            private=True,
        ),
        Scene(
            name="heartbeat-list",
            title="/triage heartbeat list",
            meaning="Green is well, red has something open, ⚠ failed, ⏸ paused.",
            shows=answer_blocks(list_answer(_ROWS, NOW)),
            private=True,
        ),
        Scene(
            name="heartbeat-why",
            title="/triage heartbeat why shop",
            meaning="The latest check, step by step: ✓ passed, ■ where it ended.",
            shows=answer_blocks(why_answer("shop", _BEATS)),
            private=True,
        ),
        Scene(
            name="tiers",
            title="/triage tiers shop",
            meaning="What a session looks at, how often, and what is due.",
            shows=answer_blocks(_tasks().answer()),
            private=True,
        ),
    ),
)

SAID = Chapter(
    title="What it says by itself",
    about="What it posts in the ops channel without being asked. It posts seldom.",
    scenes=(
        Scene(
            name="brief-morning",
            title="Morning brief",
            meaning="What waits, what happened and what it cost. Links lead to the cards.",
            shows=_brief("Morning brief"),
        ),
        Scene(
            name="reminder",
            title="Reminder",
            meaning="Cards that nobody touched; each draft is named once.",
            shows=reminder_blocks(_LINES[:2], NOW + timedelta(hours=25), expire_after=timedelta(days=3)),
        ),
    ),
)

HOME = Chapter(
    title="App Home",
    about="The bot's *Home* tab. It is updated while you look at it.",
    scenes=(
        Scene(
            name="home-approver",
            title="For an approver",
            meaning=(
                "The result of your last click, the drafts with their buttons, every session, today's numbers, "
                "the bot's health."
            ),
            shows=home_view([TeamHome(name="", home=_HOME, may_approve=True)], user=ANA.user_id, notice=_ANSWER),
        ),
        Scene(
            name="home-everybody",
            title="For everybody else",
            meaning="Only counts: no question, no draft, no link to a card.",
            shows=home_view([TeamHome(name="", home=_HOME, may_approve=False)], user="U0CHLOE"),
        ),
        Scene(
            name="home-teams",
            title="For somebody of several teams",
            meaning="A part for each team that the person belongs to.",
            shows=home_view(
                (
                    TeamHome(name="payments", home=replace(_HOME, sessions=_ROWS[1:2]), may_approve=True),
                    TeamHome(name="platform", home=replace(_HOME, sessions=_ROWS[2:3]), may_approve=False),
                    TeamHome(name="mobile", home=_HOME, may_approve=False, only=frozenset({"shop"})),
                ),
                user=ANA.user_id,
            ),
        ),
    ),
)
