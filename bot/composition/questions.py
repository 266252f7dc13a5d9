"""Builds what answers questions: investigation, long runs, decisions, automatic replies, recovery and reminders."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from bot.adapters.process.terminals import choose_terminal
from bot.casework.alerts import AlertThreads
from bot.casework.decisions import Decisions
from bot.casework.escalate.escalations import Escalations, EscalationWatch, LongRuns
from bot.casework.escalate.long_run import run_environment
from bot.casework.hand_overs import HandOvers
from bot.casework.mentions import Mentions
from bot.casework.orchestrator import Orchestrator
from bot.casework.posting.auto_replies import ArmingService, AutoReplies
from bot.casework.posting.feedback import FeedbackVotes
from bot.casework.posting.freshness import quotes_at_head
from bot.casework.posting.replies import Replies
from bot.casework.recovery import CrashRecovery, GivingUp, ThreadRebuild
from bot.casework.reports.report_schedules import BriefSchedule
from bot.casework.rounds import Rounds
from bot.casework.twins import Twins
from bot.casework.waiting_drafts import DraftReminders, QuestionPages
from bot.composition.investigators import CaseworkModels, InvestigationInputs
from bot.composition.model_access import runs_long, thread_allowance
from bot.composition.patches import PatchWork, build_patch_work
from bot.composition.process import Process
from bot.composition.team_core import TeamCore
from bot.ports.collections import AUTO_REPLIES, AUTONOMY, BRIEFS, EVENTS, REMINDERS
from handlers.answers import ephemeral_reply
from handlers.cards.ops_cards import AuditCards, FeedbackPosts, PagePosts
from handlers.ops_channel import OpsChannelPosts


@dataclass(frozen=True, kw_only=True, slots=True)
class Questions:
    """What takes a question from its job to a decision, what settles what a crash left, and what ticks."""

    models: CaseworkModels
    orchestrator: Orchestrator
    decisions: Decisions
    mentions: Mentions
    alerts: AlertThreads
    arming: ArmingService
    auto_replies: AutoReplies
    rebuilding: ThreadRebuild
    recovery: CrashRecovery
    giving_up: GivingUp
    escalation_watch: EscalationWatch
    rounds: Rounds
    reminders: DraftReminders
    pages: QuestionPages
    hand_overs: HandOvers
    briefs: BriefSchedule
    feedback: FeedbackVotes
    patches: PatchWork


def build_questions(process: Process, core: TeamCore) -> Questions:
    """Build them over the team's threads; nothing runs yet, and no automatic reply is armed by it.

    Raises:
        ConfigError: a cloud's or an MCP server's settings cannot be used.
    """
    service, settings, storage, slack = core.service, core.settings, core.storage, process.slack
    hours, me, events = core.working_hours(), slack.me.user_id, storage.journal(EVENTS)
    models = _models(process, core)
    still_stands = quotes_at_head(core.code.codebases)
    replies, runs = Replies(service, still_stands), _long_runs(core, models)
    escalations, twins = Escalations(service, runs), Twins(service, still_stands)
    arming = ArmingService(
        service,
        storage,
        core.single(AUTONOMY),
        hours=hours,
        say=core.ops.say,
        replicas=process.engine.replicas,
    )
    audit = AuditCards(slack.poster, ops_channel=settings.ops_channel)
    auto_replies = AutoReplies(service, replies, still_stands, arming, core.collection(AUTO_REPLIES), audit)
    pings = PagePosts(
        slack.poster,
        ops_channel=settings.ops_channel,
        pages=lambda: core.approvers.paged,
        members=slack.workspace.members,
    )
    pages = QuestionPages(service, pings, is_approver=core.approvers.probably, say=core.ops.say)
    rounds = Rounds(service, models.investigator, models.validator, models.runs, escalations, replies, auto_replies)
    orchestrator = Orchestrator(
        service,
        rounds,
        bot_user_id=me,
        lost=frozenset(damage.doc_id for damage in service.store.damaged()),
        rules=core.rules,
        pausing=core.pausing,
        pages=pages,
        twins=twins,
    )
    decisions = Decisions(service, replies, still_stands, escalations, twins, models.checks)
    mentions = Mentions(
        service=service,
        decisions=decisions,
        approvers=core.approvers,
        bot_user_id=me,
        tell=ephemeral_reply(slack.client),
        rules=core.rules,
        orchestrator=orchestrator,
    )
    alerts = AlertThreads(service, orchestrator, events)
    posts = OpsChannelPosts(slack.poster, ops_channel=settings.ops_channel, expire_after=settings.expire_after)
    brief, zone = settings.brief, core.zone(settings.timezone)
    return Questions(
        models=models,
        orchestrator=orchestrator,
        decisions=decisions,
        mentions=mentions,
        alerts=alerts,
        arming=arming,
        auto_replies=auto_replies,
        rebuilding=ThreadRebuild(service, orchestrator, alerts, events, core.rules),
        recovery=CrashRecovery(service, replies),
        giving_up=GivingUp(service, orchestrator, core.ops.say),
        escalation_watch=EscalationWatch(service, runs, models.runs, secrets=core.environment.secrets()),
        rounds=rounds,
        reminders=DraftReminders(service, storage.journal(REMINDERS), posts.remind, hours=hours),
        pages=pages,
        hand_overs=HandOvers(service, pings),
        briefs=BriefSchedule(service, storage, brief, core.single(BRIEFS), say=posts.say, zone=zone, hours=hours),
        feedback=FeedbackVotes(service, core.feedback, FeedbackPosts(slack.poster), keep=settings.keep_runs_for),
        patches=build_patch_work(process, core),
    )


def _models(process: Process, core: TeamCore) -> CaseworkModels:
    inputs = InvestigationInputs(
        settings=core.settings,
        environment=core.environment,
        code=core.code,
        storage=core.storage,
        memory=core.service.memory,
        clock=process.clock,
        attachments=process.slack.attachments,
    )
    return CaseworkModels(inputs)


def _long_runs(core: TeamCore, models: CaseworkModels) -> LongRuns:
    """Return what runs outside the bot's process need; they spend from the models' budget where there is one."""
    settings, environment = core.settings, core.environment
    return LongRuns(
        terminal=choose_terminal(environment.home),
        folder=environment.home / "escalations",
        transcripts=settings.escalation.transcript_dir,
        # -P: the current folder names no module
        argv=(sys.executable, "-P", "-m", "bot", "investigate", "--escalation"),
        environment=run_environment(environment, settings),
        has_model=runs_long(settings, environment),
        spending=models.models.spending if models.models else None,
        allowance=thread_allowance(settings),
        leases=core.service.leases,
    )
