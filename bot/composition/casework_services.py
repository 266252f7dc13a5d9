"""Builds casework: who investigates, where long runs happen, what a click does, what a start settles."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from bot.adapters.process.clocks import local_zone
from bot.adapters.process.tmux import choose_terminal
from bot.agent.budget import Budget
from bot.casework.decisions import Decisions
from bot.casework.escalate.escalation_watch import EscalationWatch
from bot.casework.escalate.escalations import Escalations, LongRuns
from bot.casework.escalate.long_run import run_environment
from bot.casework.feedback import FeedbackVotes
from bot.casework.freshness import quotes_at_head
from bot.casework.memory.lesson_notes import LessonNotes
from bot.casework.memory.note_rechecks import NoteRechecks
from bot.casework.mentions import Mentions
from bot.casework.orchestrator import Orchestrator
from bot.casework.question_pages import QuestionPages
from bot.casework.recovery.crash_recovery import CrashRecovery, GivingUp
from bot.casework.recovery.thread_rebuild import ThreadRebuild
from bot.casework.replies import Replies
from bot.casework.reports.report_schedules import BriefSchedule
from bot.casework.rounds import Rounds
from bot.casework.twins import Twins
from bot.casework.waiting_drafts import DraftReminders
from bot.composition.autonomy_services import AutonomyServices, build_autonomy
from bot.composition.fix_services import FixServices, build_fixes
from bot.composition.investigators import CaseworkModels, InvestigationInputs, build_investigators
from bot.composition.model_access import thread_allowance, uses_models
from bot.composition.review_services import ReviewServices, build_reviews
from bot.composition.shared_services import SharedServices, paged
from bot.config.environment import Environment
from bot.config.settings import Settings
from bot.domain.hours import ActiveHours
from bot.ports import Leases
from bot.ports.collections import BRIEFS, EVENTS, LESSON_BACKLOG, RECHECKS, REMINDERS, SPEND
from handlers.answers import ephemeral_reply
from handlers.buttons.lesson_buttons import LessonButtons
from handlers.cards.card_files import SlackCardFiles
from handlers.cards.feedback_posts import FeedbackPosts
from handlers.cards.page_posts import PagePosts
from handlers.cards.recheck_cards import RecheckCards
from handlers.commands.casework_commands import CaseworkCommands
from handlers.ops_channel import OpsChannelPosts


def build_long_runs(
    settings: Settings, environment: Environment, spending: Budget | None, leases: Leases | None = None
) -> LongRuns:
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
        leases=leases,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionServices:
    """What takes a question from its job to a decision, and what settles what a crash left of it."""

    orchestrator: Orchestrator
    mentions: Mentions
    decisions: Decisions
    rebuilding: ThreadRebuild
    recovery: CrashRecovery
    giving_up: GivingUp
    escalation_watch: EscalationWatch
    twins: Twins
    autonomy: AutonomyServices


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseworkUpkeep:
    """What is looked after every minute; `pages` hears of messages, too."""

    waiting: DraftReminders
    pages: QuestionPages
    briefs: BriefSchedule
    reviews: ReviewServices
    feedback: FeedbackVotes
    lessons: LessonNotes
    rechecks: NoteRechecks


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseworkServices:
    """The part of the bot that answers questions."""

    staff: CaseworkModels
    questions: QuestionServices
    upkeep: CaseworkUpkeep
    lesson_buttons: LessonButtons
    fixes: FixServices
    commands: CaseworkCommands


def build_casework(on: SharedServices) -> CaseworkServices:
    """Return casework over the foundation; nothing runs yet."""
    staff, upkeep = _hire(on), _build_upkeep(on)
    return CaseworkServices(
        staff=staff,
        questions=_build_questions(on, staff, upkeep.pages),
        upkeep=upkeep,
        fixes=_build_fixes(on),
        lesson_buttons=LessonButtons(upkeep.lessons, upkeep.rechecks, on.approvers, say=on.say()),
        commands=CaseworkCommands(
            store=on.storage,
            approvers=on.approvers,
            pausing=on.pausing,
            show_cards=on.desk.cards.show_all_again,
            show_week=upkeep.briefs.show_week,
            ask=on.ask(),
            clock=on.clock,
        ),
    )


def _build_questions(on: SharedServices, staff: CaseworkModels, pages: QuestionPages) -> QuestionServices:
    still_stands, rules, me = quotes_at_head(on.code.codebases), on.rules(), on.slack.me
    runs = build_long_runs(on.settings, on.environment, staff.models.spending if staff.models else None, on.desk.leases)
    replies, escalations = Replies(on.desk, still_stands), Escalations(on.desk, runs)
    twins = Twins(on.desk, still_stands)
    autonomy = build_autonomy(on, replies, still_stands, _working_hours(on))
    orchestrator = Orchestrator(
        on.desk,
        Rounds(on.desk, staff.investigator, staff.validator, staff.runs, escalations, replies, autonomy.replies),
        bot_user_id=me.user_id,
        lost=frozenset(damage.doc_id for damage in on.store.damaged()),
        rules=rules,
        pausing=on.pausing,
        pages=pages,
        twins=twins,
    )
    decisions = Decisions(on.desk, replies, still_stands, escalations, twins)
    return QuestionServices(
        orchestrator=orchestrator,
        mentions=_mentions(on, orchestrator, decisions),
        decisions=decisions,
        rebuilding=ThreadRebuild(on.desk, orchestrator, on.storage.journal(EVENTS), rules, bot_user_id=me.user_id),
        recovery=CrashRecovery(on.desk, replies),
        giving_up=GivingUp(on.desk, orchestrator, on.ops.say),
        escalation_watch=EscalationWatch(on.desk, runs, staff.runs, secrets=on.environment.secrets()),
        twins=twins,
        autonomy=autonomy,
    )


def _build_fixes(on: SharedServices) -> FixServices:
    return build_fixes(
        on.settings,
        on.environment,
        on.desk,
        known=on.fixes,
        files=SlackCardFiles(on.slack.poster, on.desk.cards.guard.require),
        approvers=on.approvers,
        link_to=on.code.link_to,
    )


def _build_upkeep(on: SharedServices) -> CaseworkUpkeep:
    bulletin = OpsChannelPosts(on.slack.poster, ops_channel=on.ops_channel, expire_after=on.settings.expire_after)
    return CaseworkUpkeep(
        waiting=_waiting(on, bulletin),
        pages=_pages(on),
        briefs=_briefs(on, bulletin),
        reviews=build_reviews(on, _working_hours(on)),
        feedback=FeedbackVotes(on.desk, on.feedback, FeedbackPosts(on.slack.poster), keep=on.settings.keep_runs_for),
        lessons=LessonNotes(on.desk, on.memory.notes, on.single(LESSON_BACKLOG)),
        rechecks=_rechecks(on),
    )


def _mentions(on: SharedServices, orchestrator: Orchestrator, decisions: Decisions) -> Mentions:
    return Mentions(
        desk=on.desk,
        decisions=decisions,
        approvers=on.approvers,
        bot_user_id=on.slack.me.user_id,
        tell=ephemeral_reply(on.slack.client),
        rules=on.rules(),
        orchestrator=orchestrator,
    )


def _hire(on: SharedServices) -> CaseworkModels:
    return build_investigators(
        InvestigationInputs(
            settings=on.settings,
            environment=on.environment,
            spend=on.storage.journal(SPEND),
            runs=on.storage.runs,
            code=on.code,
            memory=on.memory.index,
            notes=on.memory.notes,
            clock=on.clock,
        )
    )


def _rechecks(on: SharedServices) -> NoteRechecks:
    cards = RecheckCards(on.slack.publisher, ops_channel=on.ops_channel, link_to=on.code.link_to)
    return NoteRechecks(on.desk, on.memory.notes, on.code.codebases, on.code.staleness, on.single(RECHECKS), cards)


def _briefs(on: SharedServices, bulletin: OpsChannelPosts) -> BriefSchedule:
    wanted = on.settings.brief
    zone = _zone(on, wanted.timezone)
    stored = on.single(BRIEFS)
    hours = _working_hours(on)
    return BriefSchedule(on.desk, on.storage, wanted, stored, bulletin, say=bulletin.say, zone=zone, hours=hours)


def _waiting(on: SharedServices, bulletin: OpsChannelPosts) -> DraftReminders:
    journal = on.storage.journal(REMINDERS)
    return DraftReminders(on.desk, journal, bulletin.remind, hours=_working_hours(on))


def _pages(on: SharedServices) -> QuestionPages:
    posts = PagePosts(
        on.slack.client,
        on.slack.poster,
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
