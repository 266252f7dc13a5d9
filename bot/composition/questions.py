"""Builds what answers questions: investigation, long runs, decisions, automatic replies, recovery and reminders.

Builds what opens draft pull requests: the checks before a push, and what follows them on their code hosts.
"""

from __future__ import annotations

import sys
import threading
from typing import Final

from bot.adapters.terminals import choose_terminal
from bot.agent.codebases import Codebase
from bot.casework.alerts import AlertThreads, HandOvers
from bot.casework.decisions import Decisions
from bot.casework.escalations import Escalations, LongRuns
from bot.casework.fix_opening import FixOpening
from bot.casework.fix_service import Fixes, FixUpdates
from bot.casework.long_run import run_environment
from bot.casework.mentions import Mentions
from bot.casework.orchestrator import Orchestrator
from bot.casework.patch_check import PatchChecks, sweep
from bot.casework.posting.auto_replies import ArmingService, AutoReplies
from bot.casework.posting.feedback import FeedbackVotes
from bot.casework.posting.freshness import quotes_at_head
from bot.casework.posting.replies import Replies
from bot.casework.recovery import CrashRecovery, GivingUp, ThreadRebuild
from bot.casework.reports.daily_brief import BriefSchedule
from bot.casework.rounds import Rounds
from bot.casework.twins import Twins
from bot.casework.waiting_drafts import DraftReminders, QuestionPages
from bot.composition.investigators import CaseworkModels, InvestigationInputs, runs_long, thread_allowance
from bot.composition.process import Process
from bot.composition.team_core import TeamCore, hidden_from_checks
from bot.ports.collections import AUTO_REPLIES, AUTONOMY, BRIEFS, EVENTS, REMINDERS
from handlers.answers import OpsChannelPosts, ephemeral_reply
from handlers.cards.ops_cards import AuditCards, FeedbackPosts, PagePosts, SlackCardFiles

WORKSHOP: Final = "workshop"
"""The folder of the data directory where patches are checked; empty while none is."""


class PatchWork:
    """What carries one team's patches out and what follows them; `stop` ends a check that runs.

    Of a codebase without access to its host patches are given as files.
    """

    def __init__(self, process: Process, core: TeamCore) -> None:
        service, settings, home, secrets = (
            core.service,
            core.settings,
            core.environment.home,
            core.environment.secrets(),
        )
        self.stop = stop = threading.Event()
        workshop = home / WORKSHOP
        sweep(workshop)

        def opening_of(codebase: Codebase) -> FixOpening | None:
            access, own = core.hosts.access(codebase), process.code.settings_of(codebase.id)
            if access is None or own is None:
                return None
            wanted, hidden = own.fixes.over(settings.fixes), hidden_from_checks(process.code, core.patched, home)
            return FixOpening(
                core.fixes,
                PatchChecks(codebase.repo, wanted, workshop, hidden=hidden, stop=stop, secrets=secrets),
                access.client,
                access.remote,
                core.approvers,
                base=own.branch,
                link_to=core.code.link_to,
                secrets=secrets,
            )

        files = SlackCardFiles(process.slack.poster, service.cards.guard.require)
        self.updates = FixUpdates(
            service, core.fixes, files, core.patched, core.hosts.client, keep=settings.keep_runs_for
        )
        self.fixes = Fixes(service, core.fixes, core.patched, files, self.updates, opening_of)


class Questions:
    """What takes a question from its job to a decision, what settles what a crash left, and what ticks.

    Built over the team's threads; nothing runs yet, and no automatic reply is armed by it.

    Raises:
        ConfigError: a cloud's or an MCP server's settings cannot be used.
    """

    def __init__(self, process: Process, core: TeamCore) -> None:
        service, slack, ops = core.service, process.slack, core.settings.ops_channel
        self.models = models = _models(process, core)
        stands, runs = quotes_at_head(core.code.codebases), _long_runs(core, models)
        replies = Replies(service, stands)
        self.escalations = Escalations(service, runs, models.runs, secrets=core.environment.secrets())
        self.twins = Twins(service, stands)
        self.arming = ArmingService(
            service,
            core.storage,
            core.single(AUTONOMY),
            hours=core.working_hours(),
            say=core.ops.say,
            replicas=process.engine.replicas,
        )
        audit, sent = AuditCards(slack.poster, ops_channel=ops), core.collection(AUTO_REPLIES)
        self.auto_replies = AutoReplies(service, replies, stands, self.arming, sent, audit)
        self.rounds = Rounds(
            service, models.investigator, models.validator, models.runs, self.escalations, replies, self.auto_replies
        )
        self.decisions = Decisions(service, replies, stands, self.escalations, self.twins, models.checks)
        self.recovery = CrashRecovery(service, replies)
        self._wait_for_people(process, core)
        self._take_jobs(process, core)
        self.patches = PatchWork(process, core)

    def _wait_for_people(self, process: Process, core: TeamCore) -> None:
        """Build what rings, reminds, reports and counts votes."""
        service, settings, poster = core.service, core.settings, process.slack.poster
        members, hours = process.slack.workspace.members, core.working_hours()
        pings = PagePosts(poster, ops_channel=settings.ops_channel, pages=core.approvers.paged, members=members)
        posts = OpsChannelPosts(poster, ops_channel=settings.ops_channel, expire_after=settings.expire_after)
        self.pages = QuestionPages(service, pings, is_approver=core.approvers.probably, say=core.ops.say)
        self.hand_overs = HandOvers(service, pings)
        self.reminders = DraftReminders(service, core.storage.journal(REMINDERS), posts.remind, hours=hours)
        self.briefs = BriefSchedule(
            service,
            core.storage,
            settings.brief,
            core.single(BRIEFS),
            say=posts.say,
            zone=core.zone(settings.timezone),
            hours=hours,
        )
        self.feedback = FeedbackVotes(service, core.feedback, FeedbackPosts(poster), keep=settings.keep_runs_for)

    def _take_jobs(self, process: Process, core: TeamCore) -> None:
        """Build what jobs are given to."""
        service, me, events = core.service, process.slack.me.user_id, core.storage.journal(EVENTS)
        self.orchestrator = orchestrator = Orchestrator(
            service,
            self.rounds,
            bot_user_id=me,
            lost=frozenset(damage.doc_id for damage in service.store.damaged()),
            rules=core.rules,
            pausing=core.pausing,
            pages=self.pages,
            twins=self.twins,
        )
        self.mentions = Mentions(
            service=service,
            decisions=self.decisions,
            approvers=core.approvers,
            bot_user_id=me,
            tell=ephemeral_reply(process.slack.client),
            rules=core.rules,
            orchestrator=orchestrator,
        )
        self.alerts = AlertThreads(service, orchestrator, events)
        self.rebuilding = ThreadRebuild(service, orchestrator, self.alerts, events, core.rules)
        self.giving_up = GivingUp(service, orchestrator, core.ops.say)


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
