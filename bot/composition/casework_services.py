"""Where long runs happen and with what: tmux or plain processes, this Python, the variables they may see.

Casework, put together: who investigates, what a click does, what works off the queue, and what a start settles.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from bot.adapters.process.system_clock import local_zone
from bot.adapters.process.tmux import choose_terminal
from bot.agent.budget import Budget
from bot.casework.decisions import Decisions
from bot.casework.escalate.escalation_watch import EscalationWatch
from bot.casework.escalate.escalations import Escalations, LongRuns
from bot.casework.escalate.long_run import run_environment
from bot.casework.freshness import quotes_at_head
from bot.casework.memory.lesson_notes import LessonNotes
from bot.casework.memory.note_rechecks import NoteRechecks
from bot.casework.mentions import Mentions
from bot.casework.orchestrator import Orchestrator
from bot.casework.question_pages import QuestionPages
from bot.casework.recovery.crash_recovery import CrashRecovery
from bot.casework.recovery.failed_jobs import GivingUp
from bot.casework.recovery.thread_rebuild import ThreadRebuild
from bot.casework.reminders import DraftReminders
from bot.casework.replies import Replies
from bot.casework.reports.brief_schedule import BriefSchedule
from bot.casework.rounds import Rounds
from bot.composition.investigators import CaseworkModels, InvestigationInputs, build_investigators
from bot.composition.model_access import thread_allowance, uses_models
from bot.composition.shared_services import SharedServices, paged
from bot.config.environment import Environment
from bot.config.settings import Settings
from bot.domain.hours import ActiveHours
from bot.ports.collections import BRIEFS, EVENTS, LESSON_BACKLOG, RECHECKS, REMINDERS
from handlers.answers import ephemeral_reply
from handlers.buttons.lesson_buttons import LessonButtons
from handlers.cards.page_posts import PagePosts
from handlers.cards.recheck_cards import RecheckCards
from handlers.commands.casework_commands import CaseworkCommands
from handlers.ops_channel import OpsChannelPosts


def build_long_runs(settings: Settings, environment: Environment, spending: Budget | None) -> LongRuns:
    """Return what long runs need; `spending` is the models' budget, None where none is used here."""
    return LongRuns(
        terminal=choose_terminal(environment.home),
        folder=environment.home / "escalations",
        argv=(
            sys.executable,
            "-P",
            "-m",
            "bot",
            "investigate",
            "--escalation",
        ),  # -P: the current folder names no module
        environment=run_environment(environment, settings),
        has_model=uses_models(settings, environment) or settings.escalation.command is not None,
        spending=spending,
        allowance=thread_allowance(settings),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseworkServices:
    """The part of the bot that answers questions."""

    staff: CaseworkModels
    waiting: DraftReminders
    pages: QuestionPages
    briefs: BriefSchedule
    recovery: CrashRecovery
    escalation_watch: EscalationWatch
    orchestrator: Orchestrator
    mentions: Mentions
    rebuilding: ThreadRebuild
    giving_up: GivingUp
    decisions: Decisions
    lessons: LessonNotes
    rechecks: NoteRechecks
    lesson_buttons: LessonButtons
    commands: CaseworkCommands


def build_casework(on: SharedServices) -> CaseworkServices:
    """Return casework over the foundation; nothing runs yet."""
    still_stands = quotes_at_head(on.settings.codebase)
    hired, replies = _hire(on), Replies(on.desk, still_stands)
    bulletin = OpsChannelPosts(on.poster, ops_channel=on.ops_channel, expire_after=on.settings.expire_after)
    briefs = _briefs(on, bulletin)
    runs = build_long_runs(on.settings, on.environment, hired.models.spending if hired.models else None)
    escalations = Escalations(on.desk, runs)
    pages = _pages(on)
    lost = frozenset(damage.doc_id for damage in on.store.damaged())
    orchestrator = Orchestrator(
        on.desk,
        Rounds(on.desk, hired.investigator, hired.validator, hired.runs, escalations, replies),
        bot_user_id=on.me.user_id,
        lost=lost,
        rules=on.rules(),
        pausing=on.pausing,
        pages=pages,
    )
    decisions = Decisions(on.desk, replies, still_stands, escalations)
    lessons, rechecks = LessonNotes(on.desk, on.shelf, on.single(LESSON_BACKLOG)), _rechecks(on)
    return CaseworkServices(
        staff=hired,
        waiting=_waiting(on, bulletin),
        pages=pages,
        briefs=briefs,
        recovery=CrashRecovery(on.desk, replies),
        escalation_watch=EscalationWatch(on.desk, runs, hired.runs, secrets=on.environment.secrets()),
        orchestrator=orchestrator,
        mentions=_mentions(on, orchestrator, decisions),
        rebuilding=_rebuilding(on, orchestrator),
        giving_up=GivingUp(on.desk, orchestrator, on.ops.say),
        decisions=decisions,
        lessons=lessons,
        rechecks=rechecks,
        lesson_buttons=LessonButtons(lessons, rechecks, on.approvers, say=on.say()),
        commands=CaseworkCommands(
            store=on.storage,
            approvers=on.approvers,
            pausing=on.pausing,
            show_cards=on.desk.show_all_again,
            show_week=briefs.show_week,
            ask=on.ask(),
            clock=on.clock,
        ),
    )


def _mentions(on: SharedServices, orchestrator: Orchestrator, decisions: Decisions) -> Mentions:
    return Mentions(
        desk=on.desk,
        decisions=decisions,
        approvers=on.approvers,
        bot_user_id=on.me.user_id,
        tell=ephemeral_reply(on.client),
        rules=on.rules(),
        orchestrator=orchestrator,
    )


def _hire(on: SharedServices) -> CaseworkModels:
    return build_investigators(
        InvestigationInputs(
            settings=on.settings,
            environment=on.environment,
            repo=on.repo,
            index=on.index,
            memory=on.memory,
            clock=on.clock,
        )
    )


def _rechecks(on: SharedServices) -> NoteRechecks:
    cards = RecheckCards(on.publisher, ops_channel=on.ops_channel, link_to=on.link_to)
    return NoteRechecks(on.desk, on.shelf, on.repo, on.standing, on.single(RECHECKS), cards)


def _briefs(on: SharedServices, bulletin: OpsChannelPosts) -> BriefSchedule:
    wanted = on.settings.brief
    zone = _zone(on, wanted.timezone)
    slate = on.single(BRIEFS)
    hours = _working_hours(on)
    return BriefSchedule(on.desk, on.storage, wanted, slate, bulletin, say=bulletin.say, zone=zone, hours=hours)


def _waiting(on: SharedServices, bulletin: OpsChannelPosts) -> DraftReminders:
    journal = on.storage.journal(REMINDERS)
    return DraftReminders(on.desk, journal, bulletin.remind, hours=_working_hours(on))


def _pages(on: SharedServices) -> QuestionPages:
    posts = PagePosts(
        on.client,
        on.poster,
        ops_channel=on.ops_channel,
        pages=paged(on.settings),
        members=on.desk.workspace.members,
    )
    return QuestionPages(on.desk, posts, is_approver=on.approvers.probably, say=on.ops.say)


def _working_hours(on: SharedServices) -> ActiveHours | None:
    wanted = on.settings.working_hours
    return None if wanted is None else wanted.in_zone(_zone(on, wanted.timezone))


def _zone(on: SharedServices, name: str) -> str:
    return local_zone(on.environment.variables) if name == "local" else name


def _rebuilding(on: SharedServices, orchestrator: Orchestrator) -> ThreadRebuild:
    return ThreadRebuild(
        on.desk,
        orchestrator,
        on.storage.journal(EVENTS),
        on.rules(),
        bot_user_id=on.me.user_id,
    )
