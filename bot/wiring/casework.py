"""Casework, put together: who investigates, what a click does, what works off the queue, and what a start settles."""

from __future__ import annotations

from dataclasses import dataclass

from bot.adapters.local_zone import local_zone
from bot.adapters.ndjson_journal import NdjsonJournal
from bot.casework.briefs import FILE as BRIEF
from bot.casework.briefs import Briefs
from bot.casework.decisions import Decisions
from bot.casework.escalation import Escalations
from bot.casework.escalation_watch import EscalationWatch
from bot.casework.freshness import quotes_at_head
from bot.casework.giving_up import GivingUp
from bot.casework.lessons import FILE as LESSONS
from bot.casework.lessons import Lessons
from bot.casework.mentions import Mentions
from bot.casework.orchestrator import Orchestrator
from bot.casework.rebuilding import Rebuilding
from bot.casework.rechecks import FILE as RECHECKS
from bot.casework.rechecks import Rechecks
from bot.casework.recovery import Recovery
from bot.casework.replies import Replies
from bot.casework.rounds import Rounds
from bot.casework.waiting import Waiting
from bot.domain.hours import ActiveHours
from bot.intake.classifier import asks, classify
from bot.intake.watcher import Watcher
from bot.long_runs import long_runs
from bot.staffing import Sources, Staff, staff
from bot.wiring.foundation import Foundation
from handlers.bulletin import Bulletin
from handlers.commands.casework import CaseworkCommands
from handlers.lessons import LessonButtons
from handlers.messenger import whisper
from handlers.recheck_cards import SlackRechecks


@dataclass(frozen=True, kw_only=True, slots=True)
class Casework:
    """The part of the bot that answers questions."""

    staff: Staff
    waiting: Waiting
    briefs: Briefs
    recovery: Recovery
    escalation_watch: EscalationWatch
    orchestrator: Orchestrator
    mentions: Mentions
    rebuilding: Rebuilding
    giving_up: GivingUp
    watcher: Watcher
    decisions: Decisions
    lessons: Lessons
    rechecks: Rechecks
    lesson_buttons: LessonButtons
    commands: CaseworkCommands


def wire_casework(on: Foundation) -> Casework:
    """Return casework over the foundation; nothing runs yet."""
    still_stands = quotes_at_head(on.settings.codebase)
    hired, replies = _hire(on), Replies(on.desk, still_stands)
    bulletin = Bulletin(on.poster, ops_channel=on.ops_channel, expire_after=on.settings.expire_after)
    briefs = _briefs(on, bulletin)
    runs = long_runs(on.settings, on.environment, hired.models.spending if hired.models else None)
    escalations = Escalations(on.desk, runs)
    lost = frozenset(damage.thread_id for damage in on.store.damage())
    orchestrator = Orchestrator(
        on.desk,
        Rounds(on.desk, hired.investigator, hired.validator, hired.runs, escalations, replies),
        bot_user_id=on.me.user_id,
        lost=lost,
        is_paused=lambda: on.pausing.is_paused,
    )
    decisions = Decisions(on.desk, replies, still_stands, escalations)
    lessons, rechecks = Lessons(on.desk, on.shelf, on.slate(LESSONS)), _rechecks(on)
    return Casework(
        staff=hired,
        waiting=_waiting(on, bulletin),
        briefs=briefs,
        recovery=Recovery(on.desk, replies),
        escalation_watch=EscalationWatch(on.desk, runs, hired.runs, secrets=on.environment.secrets()),
        orchestrator=orchestrator,
        mentions=_mentions(on, orchestrator, decisions),
        rebuilding=_rebuilding(on, orchestrator),
        giving_up=GivingUp(on.desk, orchestrator, on.ops.say),
        watcher=_watcher(on, orchestrator),
        decisions=decisions,
        lessons=lessons,
        rechecks=rechecks,
        lesson_buttons=LessonButtons(lessons, rechecks, on.approvers, ops_channel=on.ops_channel, tell=on.tell()),
        commands=CaseworkCommands(
            home=on.home,
            approvers=on.approvers,
            pausing=on.pausing,
            show_cards=on.desk.show_all_again,
            show_week=briefs.show_week,
            ask=on.ask(),
            clock=on.clock,
        ),
    )


def _mentions(on: Foundation, orchestrator: Orchestrator, decisions: Decisions) -> Mentions:
    rules = on.rules()
    return Mentions(
        desk=on.desk,
        decisions=decisions,
        approvers=on.approvers,
        bot_user_id=on.me.user_id,
        tell=whisper(on.client),
        is_question=lambda text: asks(text, rules),
        work_on=orchestrator.handle,
    )


def _hire(on: Foundation) -> Staff:
    return staff(
        Sources(
            settings=on.settings,
            environment=on.environment,
            repo=on.repo,
            index=on.index,
            memory=on.memory,
            clock=on.clock,
        )
    )


def _rechecks(on: Foundation) -> Rechecks:
    cards = SlackRechecks(on.client, on.poster, ops_channel=on.ops_channel, link_to=on.link_to)
    return Rechecks(on.desk, on.shelf, on.repo, on.standing, on.slate(RECHECKS), cards)


def _briefs(on: Foundation, bulletin: Bulletin) -> Briefs:
    wanted = on.settings.brief
    zone = _zone(on, wanted.timezone)
    slate = on.slate(BRIEF)
    hours = _working_hours(on)
    return Briefs(on.desk, on.home, wanted, slate, bulletin, say=bulletin.say, zone=zone, hours=hours)


def _waiting(on: Foundation, bulletin: Bulletin) -> Waiting:
    journal = NdjsonJournal(on.home / "reminders.ndjson")
    return Waiting(on.desk, journal, bulletin.remind, hours=_working_hours(on))


def _working_hours(on: Foundation) -> ActiveHours | None:
    wanted = on.settings.working_hours
    return None if wanted is None else wanted.in_zone(_zone(on, wanted.timezone))


def _zone(on: Foundation, name: str) -> str:
    return local_zone(on.environment.variables) if name == "local" else name


def _watcher(on: Foundation, orchestrator: Orchestrator) -> Watcher:
    return Watcher(
        on.settings,
        on.me,
        rules=on.rules(),
        events=on.journals.events,
        classified=on.journals.classified,
        store=on.store,
        jobs=on.jobs,
        clock=on.clock,
        on_trouble=on.ops.say,
        on_queued=orchestrator.hear,
    )


def _rebuilding(on: Foundation, orchestrator: Orchestrator) -> Rebuilding:
    rules = on.rules()
    return Rebuilding(
        on.desk,
        orchestrator,
        on.journals.events,
        lambda event: classify(event, rules, inflight=False).classification == "actionable",
        bot_user_id=on.me.user_id,
    )
