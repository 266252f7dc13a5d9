"""Builds casework from one team's stores: investigation, long runs, decisions, recovery, automatic replies."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from typing import Final

from bot.adapters.process.terminals import choose_terminal
from bot.agent.budget import Budget
from bot.casework.alerts import AlertThreads
from bot.casework.decisions import Decisions
from bot.casework.escalate.escalation_watch import EscalationWatch
from bot.casework.escalate.escalations import Escalations, LongRuns
from bot.casework.escalate.long_run import run_environment
from bot.casework.mentions import Mentions
from bot.casework.notes import Notes, address_prover
from bot.casework.orchestrator import Orchestrator
from bot.casework.posting.auto_replies import ArmingService, AutoReplies
from bot.casework.posting.feedback import FeedbackVotes
from bot.casework.posting.freshness import StillStands, quotes_at_head
from bot.casework.posting.replies import Replies
from bot.casework.question_pages import QuestionPages
from bot.casework.recovery.crash_recovery import CrashRecovery, GivingUp
from bot.casework.recovery.thread_rebuild import ThreadRebuild
from bot.casework.reports.report_schedules import BriefSchedule
from bot.casework.rounds import Rounds
from bot.casework.twins import Twins
from bot.casework.waiting_drafts import DraftReminders
from bot.composition.fix_services import FixServices
from bot.composition.investigators import CaseworkModels, InvestigationInputs
from bot.composition.model_access import thread_allowance, uses_models
from bot.composition.shared_services import SharedServices
from bot.config.environment import Environment
from bot.config.settings import Settings
from bot.domain.jobs import Job
from bot.domain.text.humanize import counted
from bot.errors import StoreError
from bot.intake.enqueue import MessageSorter, requeue_lost_jobs
from bot.ports import Leases, Store
from bot.ports.collections import (
    AUTO_REPLIES,
    AUTONOMY,
    BRIEFS,
    CLASSIFIED,
    EVENTS,
    HEARTBEATS,
    REMINDERS,
    REPLIES,
    SESSIONS,
)
from handlers.answers import ephemeral_reply
from handlers.buttons.reply_buttons import AuditButtons
from handlers.cards.card_posts import FeedbackPosts, PagePosts, SlackCardFiles
from handlers.cards.ops_cards import AuditCards
from handlers.commands.casework_commands import CaseworkCommands, autonomy_command
from handlers.ops_channel import OpsChannelPosts

LOOKED_THROUGH_BYTES: Final = 256 * 1024
"""How much of the end of a journal is looked through at a start for lines that cannot be read."""

_AGAIN: Final = " To try again, move queue/failed/{job} to queue/ while the bot is stopped."


def _build_long_runs(
    settings: Settings, environment: Environment, spending: Budget | None, leases: Leases | None
) -> LongRuns:
    """Return what long runs need; `spending` is the models' budget, None where none is used here."""
    return LongRuns(
        terminal=choose_terminal(environment.home),
        folder=environment.home / "escalations",
        # -P: the current folder names no module
        argv=(sys.executable, "-P", "-m", "bot", "investigate", "--escalation"),
        environment=run_environment(environment, settings),
        has_model=uses_models(settings, environment) or settings.escalation.command is not None,
        spending=spending,
        allowance=thread_allowance(settings),
        leases=leases,
    )


class QuestionServices:
    """What takes a question from its job to a decision, and what settles what a crash left of it."""

    def __init__(self, on: SharedServices, staff: CaseworkModels, pages: QuestionPages) -> None:
        service, still_stands, rules, me = on.service, quotes_at_head(on.code.codebases), on.rules(), on.slack.me
        spending = staff.models.spending if staff.models else None
        runs = _build_long_runs(on.settings, on.environment, spending, service.leases)
        replies, escalations = Replies(service, still_stands), Escalations(service, runs)
        self.twins = Twins(service, still_stands)
        self.autonomy = AutonomyServices(on, replies, still_stands)
        self.rounds = Rounds(
            service, staff.investigator, staff.validator, staff.runs, escalations, replies, self.autonomy.replies
        )
        self.orchestrator = Orchestrator(
            service,
            self.rounds,
            bot_user_id=me.user_id,
            lost=frozenset(damage.doc_id for damage in on.store.damaged()),
            rules=rules,
            pausing=on.pausing,
            pages=pages,
            twins=self.twins,
        )
        self.decisions = Decisions(service, replies, still_stands, escalations, self.twins, staff.checks)
        self.mentions = Mentions(
            service=service,
            decisions=self.decisions,
            approvers=on.approvers,
            bot_user_id=me.user_id,
            tell=ephemeral_reply(on.slack.client),
            rules=rules,
            orchestrator=self.orchestrator,
        )
        events = on.storage.journal(EVENTS)
        self.alerts = AlertThreads(service, self.orchestrator, events)
        self.rebuilding = ThreadRebuild(service, self.orchestrator, self.alerts, events, rules)
        self.recovery = CrashRecovery(service, replies)
        self.giving_up = GivingUp(service, self.orchestrator, on.ops.say)
        self.escalation_watch = EscalationWatch(service, runs, staff.runs, secrets=on.environment.secrets())


class AutonomyServices:
    """Replies that no human approved, from the switch to the button; nothing is armed by building them."""

    def __init__(self, on: SharedServices, replies: Replies, still_stands: StillStands) -> None:
        stored, hours = on.single(AUTONOMY), on.working_hours()
        self.arming = ArmingService(
            on.service,
            on.storage,
            stored,
            hours=hours,
            say=on.ops.say,
            replicas=on.replicas,
        )
        chat = AuditCards(on.slack.client, on.slack.poster, on.slack.publisher, ops_channel=on.ops_channel)
        sent = on.collection(AUTO_REPLIES)
        self.replies = AutoReplies(on.service, replies, still_stands, self.arming, sent, chat)
        self.buttons = AuditButtons(self.replies, on.approvers, say=on.say())
        self.command = autonomy_command(self.arming, on.approvers)


class CaseworkUpkeep:
    """What is looked after every minute; `pages` hears of messages, too."""

    def __init__(self, on: SharedServices) -> None:
        service, settings, poster, hours = on.service, on.settings, on.slack.poster, on.working_hours()
        posts = OpsChannelPosts(poster, ops_channel=on.ops_channel, expire_after=settings.expire_after)
        self.waiting = DraftReminders(service, on.storage.journal(REMINDERS), posts.remind, hours=hours)
        pages = PagePosts(
            on.slack.client,
            poster,
            ops_channel=on.ops_channel,
            pages=lambda: on.approvers.paged,
            members=service.workspace.members,
        )
        self.pages = QuestionPages(service, pages, is_approver=on.approvers.probably, say=on.ops.say)
        stored, zone = on.single(BRIEFS), on.zone(settings.brief.timezone)
        self.briefs = BriefSchedule(service, on.storage, settings.brief, stored, say=posts.say, zone=zone, hours=hours)
        self.feedback = FeedbackVotes(service, on.feedback, FeedbackPosts(poster), keep=settings.keep_runs_for)


class CaseworkServices:
    """The part of the bot that answers questions; nothing runs yet."""

    def __init__(self, on: SharedServices) -> None:
        self.staff = CaseworkModels(
            InvestigationInputs(
                settings=on.settings,
                environment=on.environment,
                code=on.code,
                storage=on.storage,
                memory=on.note_index,
                clock=on.clock,
                attachments=on.slack.attachments,
            )
        )
        self.upkeep = CaseworkUpkeep(on)
        self.questions = QuestionServices(on, self.staff, self.upkeep.pages)
        files = SlackCardFiles(on.slack.poster, on.service.cards.guard.require)
        self.fixes = FixServices(
            on.settings, on.environment, on.service, on.fixes, files, on.approvers, on.code.link_to
        )
        self.notes = Notes(on.service, address_prover(on.code.codebases, on.environment.secrets()))
        self.commands = CaseworkCommands(
            store=on.storage,
            approvers=on.approvers,
            pausing=on.pausing,
            show_cards=on.service.cards.show_all_again,
            ask=on.questions.ask,
            clock=on.clock,
        )


def unreadable_lines(storage: Store) -> Iterator[str]:
    """Yield what is to be said of the lines of journals that cannot be read; no start fails of them."""
    for name in (EVENTS, CLASSIFIED, REPLIES, HEARTBEATS):
        journal = storage.journal(name)
        try:
            if name in (REPLIES, HEARTBEATS):  # the start has read the others
                deque(journal.records(last_bytes=LOOKED_THROUGH_BYTES), maxlen=0)
        except StoreError as error:
            yield f"{name}.ndjson could not be looked through: {error}."
        if bad := journal.bad_lines:
            yield f"Skipped {counted(bad, 'unreadable line')} in {name}.ndjson."


def forgotten_sessions(storage: Store, settings: Settings) -> Iterator[str]:
    """Yield what is to be said of sessions that had beats, of which nothing is remembered."""
    new = {each for each in settings.sessions if storage.documents.get(SESSIONS.name, each) is None}
    if new:
        beats = storage.journal(HEARTBEATS).records(last_bytes=LOOKED_THROUGH_BYTES)
        for session_id in sorted(new & {str(record.get("session_id")) for record in beats}):
            yield (
                f"What was remembered of session {session_id} between beats is gone. It goes on like a new one: what "
                "still fails is told again."
            )


class StartupReport:
    """Says what was found, and sees to it that what was lost is taken up."""

    def __init__(
        self, on: SharedServices, sorter: MessageSorter, rebuilding: ThreadRebuild, giving_up: GivingUp
    ) -> None:
        self._on, self._sorter = on, sorter
        self._rebuilding, self._giving_up = rebuilding, giving_up

    def say(self) -> None:
        """Tell of records, jobs and lines that cannot be read or are gone.

        Raises:
            StoreError: the disk refuses what follows from it.
        """
        for damage in self._on.store.damaged():
            if line := self._rebuilding.plan(damage):
                self._on.ops.say(line)
        for thread_id in self._on.service.shown.by_id():
            self._rebuilding.plan_missing(thread_id)
        self._replace_lost_jobs()
        self.say_given_up()
        for line in (*unreadable_lines(self._on.storage), *forgotten_sessions(self._on.storage, self._on.settings)):
            self._on.ops.say(line)

    def say_given_up(self) -> None:
        """Tell of the jobs that processes died of, and of those that cannot be read."""
        self._say_corrupt()
        for job in self._on.jobs.take_given_up():
            self.given_up(job)

    def given_up(self, job: Job) -> None:
        """Tell of a job that was tried for the last time; a thread that it leaves behind is a human's."""
        if self._giving_up.given_up(job):
            return
        tries = f" after {counted(job.attempts, 'attempt')}"
        why = job.failures[-1] if job.failures else "the bot died while it ran"
        self._on.ops.say(
            f"Gave up on the job for {job.key}{'' if job.is_deadly else tries}: {why}."
            + ("" if self._on.storage.shared else _AGAIN.format(job=job.name))
        )

    def _say_corrupt(self) -> None:
        corrupt = self._on.jobs.corrupt
        while corrupt:
            self._on.ops.say(f"A waiting job could not be read; it was set aside as {corrupt.pop(0)}.")

    def _replace_lost_jobs(self) -> None:
        """Queue again what damaged jobs held; the file of an earlier start counts, too: the bot may have died here."""
        on = self._on
        self._say_corrupt()
        since_ms = on.jobs.lost_since_ms()
        if since_ms is None:
            return
        count = requeue_lost_jobs(on.storage.journal(CLASSIFIED), on.store, on.jobs, self._sorter, since_ms=since_ms)
        if count:
            on.ops.say(f"{counted(count, 'question')} of that time had no job and no record: queued again.")
