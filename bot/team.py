"""One team's bot: what runs for it, from the first tick to an orderly end; `build_team` builds it.

Everything of a team lies in its own data directory and in what is built here, so nothing of it can reach another team.
"""

from __future__ import annotations

from concurrent.futures import Executor
from datetime import datetime
from functools import partial

from bot.adapters.storage.files.retention import RunRetention
from bot.casework.escalations import POLL_S
from bot.casework.live_work import fold_all_left
from bot.composition.heartbeats import Heartbeats
from bot.composition.process import Process
from bot.composition.questions import Questions
from bot.composition.removed_teams import TeamEnd, end_team
from bot.composition.startup_report import StartupReport
from bot.composition.team_core import TeamCore
from bot.composition.team_edge import TeamEdge
from bot.config.settings import Settings
from bot.domain.jobs import Job, RunBeat
from bot.errors import ProviderError, StoreError
from bot.runtime.config_reload import TeamReload
from bot.runtime.duties import Duty, Ticker
from bot.runtime.worker_pool import JobHandlers, build_job_table
from handlers.home import HomeTab
from handlers.team_router import TeamRouter
from handlers.transport.workspace import SlackHistory, why_unreadable

CATCH_UP_EVERY_S = 1
FIX_EVERY_S = 1
PAUSE_CHECK_S = 5
FLUSH_EVERY_S = 10
RECONCILE_EVERY_S = 30
TIDY_EVERY_S = 60
BEAT_TICK_S = 5


def build_team(
    process: Process, name: str, settings: Settings, home: HomeTab, router: TeamRouter, listeners: Executor
) -> Team:
    """Build the bot of one team over its own data directory and its ops channel; nothing of it runs yet.

    Raises:
        ConfigError: its ops channel is not private.
        ProviderError: Slack refused the ops channel.
        StoreError: its data directory cannot be used.
    """
    core = TeamCore(process, name, settings)
    questions = Questions(process, core)
    heartbeats = Heartbeats(process, core, questions.models.models)
    edge = TeamEdge(process, core, questions, heartbeats, home, router)
    return Team(process, core, questions, heartbeats, edge, listeners)


class Team:
    """What runs for one team; in order: `settle`, `start`, `stop_hearing`, `close`."""

    def __init__(
        self,
        process: Process,
        core: TeamCore,
        questions: Questions,
        heartbeats: Heartbeats,
        edge: TeamEdge,
        listeners: Executor,
    ) -> None:
        self.name, self.core, self.questions = core.name, core, questions
        self.heartbeats, self.edge, self._listeners = heartbeats, edge, listeners
        self._report = StartupReport(core, questions, edge.watcher)
        self._ticker = Ticker(process.time_scale)
        self._fixing = Ticker(process.time_scale)  # apart: a codebase's check may take minutes
        self._reading_back = Ticker(process.time_scale)  # apart: Slack may ask for minutes of patience
        leases = core.service.leases
        self._asking = Duty("questions", leases, self._settle_questions)
        self._beating = Duty("heartbeats", leases, self._settle_heartbeats)
        self._fixes = Duty("fixes", leases)
        self._history = SlackHistory(process.slack.client)
        self.reload = TeamReload(
            core.settings,
            heartbeats.sessions.registry,
            (edge.backfill, edge.watcher, core.service.codebases),
            learn=heartbeats.learn_zones,
            see=lambda settings: core.code.replace(process.code.members(settings), process.code.of_sessions(settings)),
            go_by=core.approvers.replace,
            unreadable=partial(why_unreadable, process.slack.client),
        )

    def leave_duties(self) -> None:
        """Leave to other replicas, from now on, what only one does besides hearing Slack."""
        for duty in (self._asking, self._beating, self._fixes, self.heartbeats.here):
            duty.end()

    def settle(self) -> None:
        """Settle what the last run left, before anything new is taken."""
        self._asking.take()
        self.questions.escalations.poll()
        self.heartbeats.learn_zones()
        self._beating.take()

    def _settle_questions(self) -> None:
        self._report.say()
        self.recover()
        self.core.service.asker.recall()
        self.questions.reminders.recall()

    def _settle_heartbeats(self) -> None:
        """Settle what the rest can do without; where that cannot be read, the ticks try it again."""
        try:
            self.heartbeats.sessions.suggestions.settle()
        except StoreError as error:
            self.say(f"The suggestions cannot be used: {error}. The rest works; it is tried again every minute.")

    def start(self) -> None:
        """Take messages, begin to tick, and read back what was missed."""
        self._tick()
        for ticker in (self._ticker, self._fixing, self._reading_back):
            ticker.start()

    def stop_hearing(self) -> None:
        """Tick no more and take no more messages; what runs goes on."""
        self.questions.patches.stop.set()
        self.edge.backfill.stop.set()
        for ticker in (self._fixing, self._ticker, self._reading_back):
            ticker.stop()

    def close(self) -> None:
        """Show what is still to be shown, and end the models' runs; after the workers have ended."""
        self.core.service.cards.catch_up(at_once=True)
        self.core.service.asker.tick(at_once=True)
        self.questions.models.close()
        self.core.service.jobs.close()
        self.edge.backfilling.end()
        self.leave_duties()

    def end(self) -> TeamEnd:
        """Close what is open, for the team is no longer in triage.yml; once nothing of it runs.

        Raises:
            StoreError, Unavailable: something could not be closed now; the next start tries again.
        """
        try:
            return end_team(self.core.service, self.core.fixes, self.name)
        finally:
            self.questions.escalations.poll()  # ends the long runs of closed threads
            self.close()

    def handlers(self) -> JobHandlers:
        """Return what works off the team's jobs."""
        table = build_job_table(
            self.questions.orchestrator,
            self.questions.alerts,
            self.edge.follow_mention,
            self.questions.rebuilding,
            self.heartbeats.worker,
            self.heartbeats.threads,
            self.core.ops_questions.post,
        )
        return JobHandlers(table=table, on_given_up=self._report.given_up, on_deadly=self.questions.giving_up.deadly)

    def wants(self, job: Job) -> bool:
        """Whether a job of the team may begin now."""
        if isinstance(job.work, RunBeat) and not self.heartbeats.here.has(job.work.session_id):
            return False
        return self.core.pausing.allows(job)

    def interrupt(self) -> None:
        """Have running models stop where they can."""
        if self.questions.models.models:
            self.questions.models.models.stop.set()

    def recover(self) -> None:
        """Settle the threads that a crash or the disk left in the middle of a step."""
        self._say_of_threads(self.questions.recovery.recover())

    def recover_if_ours(self) -> None:
        """Settle those threads unless another replica does."""
        if self._asking.take():
            self.recover()

    def say(self, text: str) -> None:
        """Tell the team's ops channel."""
        self.core.ops.say(text)

    @property
    def has_duties(self) -> bool:
        """Whether of all replicas this one has the duties, as far as it knows without asking the database."""
        return self._asking.is_held

    def has_said(self, text: str, since: datetime) -> bool:
        """Whether any replica said a text in the ops channel since then; not where the chat does not answer."""
        try:
            said = self._history.messages(self.core.settings.ops_channel, oldest=f"{since.timestamp():.6f}")
            return any(text in str(message.get("text")) for message in said)
        except ProviderError:
            return False

    def _tick(self) -> None:
        """Say what is done every so often."""
        core, questions, heartbeats, edge = self.core, self.questions, self.heartbeats, self.edge
        service, patches = core.service, questions.patches
        old_runs = RunRetention(
            core.environment.home,
            core.settings.keep_runs_for,
            service.clock,
            service.store.open_threads,
            core.storage.runs,
        )
        every = self._ticker.every
        every(CATCH_UP_EVERY_S, service.cards.catch_up)
        every(CATCH_UP_EVERY_S, service.asker.tick)
        every(CATCH_UP_EVERY_S, self._settle_late)
        every(POLL_S, questions.escalations.poll)
        every(FLUSH_EVERY_S, core.ops.flush)
        every(TIDY_EVERY_S, old_runs.tick)
        every(TIDY_EVERY_S, heartbeats.learn_zones)
        every(BEAT_TICK_S, heartbeats.here.tick)
        every(PAUSE_CHECK_S, self._follow_pause)
        every(PAUSE_CHECK_S, self._report.say_given_up)
        if not core.storage.shared:  # a database stores a message, its class and its job together
            every(CATCH_UP_EVERY_S, edge.watcher.settle)
        self._reading_back.every(CATCH_UP_EVERY_S, edge.backfill.tick)
        self._fixing.every(FIX_EVERY_S, self._fixes.when_ours(patches.fixes.tick))
        self._fixing.every(TIDY_EVERY_S, self._fixes.when_ours(patches.updates.follow))
        self._tick_where_ours()

    def _tick_where_ours(self) -> None:
        """Say what only the replica does that has the duty."""
        questions, heartbeats, service, every = self.questions, self.heartbeats, self.core.service, self._ticker.every
        ours = self._asking.when_ours
        every(TIDY_EVERY_S, ours(service.cards.tidy))
        every(CATCH_UP_EVERY_S, ours(questions.rounds.tick))
        every(TIDY_EVERY_S, ours(questions.reminders.tick))
        every(TIDY_EVERY_S, ours(questions.pages.tick))
        every(FLUSH_EVERY_S, ours(questions.hand_overs.tick))
        every(FLUSH_EVERY_S, ours(partial(fold_all_left, service)))
        every(TIDY_EVERY_S, ours(questions.arming.tick))
        every(FLUSH_EVERY_S, ours(questions.auto_replies.tick))
        every(CATCH_UP_EVERY_S, ours(questions.feedback.tick))
        every(TIDY_EVERY_S, ours(questions.briefs.tick))
        if self.core.storage.shared:
            every(RECONCILE_EVERY_S, ours(questions.recovery.reconcile))
        ours = self._beating.when_ours
        every(BEAT_TICK_S, ours(heartbeats.scheduler.tick))
        every(BEAT_TICK_S, ours(heartbeats.rings.tick))
        every(TIDY_EVERY_S, ours(heartbeats.faults.check))
        every(BEAT_TICK_S, ours(heartbeats.suggestion_buttons.cards.tick))
        every(TIDY_EVERY_S, ours(heartbeats.sessions.suggestions.settle))

    def _follow_pause(self) -> None:
        """Pause or resume where the terminal did so, and have the cards say it."""
        if self.core.pausing.follow():
            self.core.service.cards.show_all_again()

    def _settle_late(self) -> None:
        """Post on a listener's thread, which a stop waits for."""
        if self.questions.recovery.is_due():
            self._listeners.submit(lambda: self._say_of_threads(self.questions.recovery.settle_late()))

    def _say_of_threads(self, lines: list[str]) -> None:
        for line in lines:
            self.say(f"Thread {line}")
