"""One team's bot: builds its services, runs its duties, and stops them in order.

Everything of a team lies in its own data directory and in what is built here, so nothing of it can reach another team.
"""

from __future__ import annotations

from concurrent.futures import Executor
from datetime import datetime
from functools import partial

from bot.adapters.storage.files.retention import RunRetention
from bot.casework.escalate.escalation_watch import POLL_S
from bot.casework.team_ending import TeamEnd, end_team
from bot.composition.casework_services import CaseworkServices, StartupReport
from bot.composition.heartbeat_services import Heartbeats, HeartbeatSlack
from bot.composition.process_services import ProcessServices
from bot.composition.shared_services import SharedServices
from bot.composition.slack_edge import TeamEdge
from bot.composition.team_homes import REMOVED
from bot.config.settings import Settings
from bot.domain.jobs import Job, RunBeat
from bot.domain.sharing.suggestions import Offer
from bot.errors import ProviderError, StoreError
from bot.heartbeat.sharing.pollination import checks_to_share
from bot.runtime.config_reload import TeamReload
from bot.runtime.duties import Duty
from bot.runtime.job_table import build_job_table
from bot.runtime.ticker import Ticker
from bot.runtime.worker_pool import JobHandlers
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
COUNT_EVERY_S = 5


class Team:
    """The bot of one team, over its own data directory and its ops channel.

    Raises:
        ConfigError: its ops channel is not private.
        ProviderError: Slack refused the ops channel.
        StoreError: its data directory cannot be used.
    """

    def __init__(
        self,
        process: ProcessServices,
        name: str,
        settings: Settings,
        home: HomeTab,
        router: TeamRouter,
        listeners: Executor,
    ) -> None:
        self.name, self._listeners = name, listeners
        self.shared = SharedServices(process, name, settings)
        self.casework = CaseworkServices(self.shared)
        self.heartbeats = Heartbeats(self.shared, self.casework.staff.models)
        self.beats = HeartbeatSlack(self.shared, self.heartbeats)
        self.edge = TeamEdge(self.shared, self.casework, self.heartbeats, self.beats, home, router)
        questions = self.casework.questions
        self._report = StartupReport(self.shared, self.edge.sorter, questions.rebuilding, questions.giving_up)
        self._old_runs = RunRetention(
            self.shared.home,
            settings.keep_runs_for,
            self.shared.clock,
            self.shared.service.store.open_threads,
            self.shared.storage.runs,
        )
        self._ticker = Ticker(process.time_scale)
        self._fixing = Ticker(process.time_scale)  # apart: a codebase's check may take minutes
        self._reading_back = Ticker(process.time_scale)  # apart: Slack may ask for minutes of patience
        leases = self.shared.leases
        self._questions = Duty("questions", leases, self._settle_questions)
        self._beating = Duty("heartbeats", leases, self._settle_heartbeats)
        self._fixes = Duty("fixes", leases)
        self.reload = TeamReload(
            settings,
            self.heartbeats.sessions.registry,
            (self.edge.backfill, self.edge.watcher, self.shared.service.codebases),
            learn=self.heartbeats.learn_zones,
            see=lambda settings: self.shared.code.replace(
                process.code.members(settings), process.code.of_sessions(settings)
            ),
            go_by=self.shared.approvers.replace,
            unreadable=partial(why_unreadable, process.slack.client),
        )

    def leave_duties(self) -> None:
        """Leave to other replicas, from now on, what only one does besides hearing Slack."""
        for duty in (self._questions, self._beating, self._fixes, self.heartbeats.here):
            duty.end()

    def settle(self) -> None:
        """Settle what the last run left, before anything new is taken."""
        self._questions.take()
        self.casework.questions.escalation_watch.poll()
        self.heartbeats.learn_zones()
        self._beating.take()

    def _settle_questions(self) -> None:
        self._report.say()
        self.recover()
        self.shared.service.asker.recall()
        self.casework.upkeep.waiting.recall()

    def _settle_heartbeats(self) -> None:
        """Settle what the rest can do without; where that cannot be read, the ticks try it again."""
        try:
            self.heartbeats.suggestions.settle()
        except StoreError as error:
            self.say(f"The suggestions cannot be used: {error}. The rest works; it is tried again every minute.")

    def start(self) -> None:
        """Take messages, begin to tick, and read back what was missed."""
        self._tick()
        for ticker in (self._ticker, self._fixing, self._reading_back):
            ticker.start()

    def stop_hearing(self) -> None:
        """Tick no more and take no more messages; what runs goes on."""
        self.casework.fixes.stop.set()
        self.edge.backfill.stop.set()
        for ticker in (self._fixing, self._ticker, self._reading_back):
            ticker.stop()

    def close(self) -> None:
        """Show what is still to be shown, and end the models' runs; after the workers have ended."""
        self.shared.service.cards.catch_up(at_once=True)
        self.shared.service.asker.tick(at_once=True)
        self.casework.staff.close()
        self.shared.jobs.close()
        self.edge.backfilling.end()
        self.leave_duties()

    def end(self) -> TeamEnd:
        """Close what is open, for the team is no longer in triage.yml; once nothing of it runs.

        Raises:
            StoreError, Unavailable: something could not be closed now; the next start tries again.
        """
        try:
            return end_team(self.shared.service, self.shared.fixes.store, REMOVED.format(team=self.name))
        finally:
            self.casework.questions.escalation_watch.poll()  # ends the long runs of closed threads
            self.close()

    def handlers(self) -> JobHandlers:
        """Return what works off the team's jobs."""
        questions = self.casework.questions
        table = build_job_table(
            questions.orchestrator,
            questions.alerts,
            questions.mentions,
            questions.rebuilding,
            self.heartbeats.worker,
            self.beats.threads,
            self.shared.questions.post,
        )
        return JobHandlers(table=table, on_given_up=self._report.given_up, on_deadly=questions.giving_up.deadly)

    def wants(self, job: Job) -> bool:
        """Whether a job of the team may begin now."""
        if isinstance(job.work, RunBeat) and not self.heartbeats.here.has(job.work.session_id):
            return False
        return self.shared.pausing.allows(job)

    def interrupt(self) -> None:
        """Have running models stop where they can."""
        if self.casework.staff.models:
            self.casework.staff.models.stop.set()

    def recover(self) -> None:
        """Settle the threads that a crash or the disk left in the middle of a step."""
        self.casework.questions.recovery.recover()

    def recover_if_ours(self) -> None:
        """Settle those threads unless another replica does."""
        if self._questions.take():
            self.recover()

    def say(self, text: str) -> None:
        """Tell the team's ops channel."""
        self.shared.ops.say(text)

    @property
    def has_duties(self) -> bool:
        """Whether of all replicas this one has the duties, as far as it knows without asking the database."""
        return self._questions.is_held

    def has_said(self, text: str, since: datetime) -> bool:
        """Whether any replica said a text in the ops channel since then; not where the chat does not answer."""
        history, oldest = SlackHistory(self.shared.slack.client), f"{since.timestamp():.6f}"
        try:
            said = history.messages(self.shared.ops_channel, oldest=oldest)
            return any(text in str(message.get("text")) for message in said)
        except ProviderError:
            return False

    def checks_to_share(self) -> list[Offer]:
        """Return the checks that other teams may be offered."""
        return checks_to_share(self.heartbeats.suggestions.known(), self.name)

    def missed_since(self, since: datetime | None, *, is_told: bool = False) -> None:
        """Note that messages may have been missed since then; None: the very first start. People may know that."""
        self.edge.backfill.open(since, is_told=is_told)

    def _tick(self) -> None:
        """Say what is done every so often."""
        shared, casework, beats, heartbeats = self.shared, self.casework, self.beats, self.heartbeats
        every = self._ticker.every
        every(CATCH_UP_EVERY_S, shared.service.cards.catch_up)
        every(CATCH_UP_EVERY_S, shared.service.asker.tick)
        every(CATCH_UP_EVERY_S, self._settle_late)
        every(POLL_S, casework.questions.escalation_watch.poll)
        every(FLUSH_EVERY_S, shared.ops.flush)
        every(TIDY_EVERY_S, self._old_runs.tick)
        every(TIDY_EVERY_S, heartbeats.learn_zones)
        every(BEAT_TICK_S, heartbeats.here.tick)
        every(COUNT_EVERY_S, shared.metrics.tick)
        every(PAUSE_CHECK_S, self._follow_pause)
        every(PAUSE_CHECK_S, self._report.say_given_up)
        for seconds, tick in (
            (TIDY_EVERY_S, shared.service.cards.tidy),
            (CATCH_UP_EVERY_S, casework.questions.rounds.tick),
            (TIDY_EVERY_S, casework.upkeep.waiting.tick),
            (TIDY_EVERY_S, casework.upkeep.pages.tick),
            (TIDY_EVERY_S, casework.questions.autonomy.arming.tick),
            (FLUSH_EVERY_S, casework.questions.autonomy.replies.tick),
            (CATCH_UP_EVERY_S, casework.upkeep.feedback.tick),
            (TIDY_EVERY_S, casework.upkeep.briefs.tick),
        ):
            every(seconds, self._questions.when_ours(tick))
        if shared.storage.shared:
            every(RECONCILE_EVERY_S, self._questions.when_ours(casework.questions.recovery.reconcile))
        else:  # a database stores a message, its class and its job together
            every(CATCH_UP_EVERY_S, self.edge.watcher.settle)
        for seconds, tick in (
            (BEAT_TICK_S, heartbeats.scheduler.tick),
            (BEAT_TICK_S, heartbeats.rings.tick),
            (TIDY_EVERY_S, heartbeats.faults.check),
            (BEAT_TICK_S, beats.suggestions.cards.tick),
            (TIDY_EVERY_S, heartbeats.suggestions.settle),
        ):
            every(seconds, self._beating.when_ours(tick))
        self._reading_back.every(CATCH_UP_EVERY_S, self.edge.backfill.tick)
        self._fixing.every(FIX_EVERY_S, self._fixes.when_ours(casework.fixes.fixes.tick))
        self._fixing.every(TIDY_EVERY_S, self._fixes.when_ours(casework.fixes.updates.follow))

    def _follow_pause(self) -> None:
        """Pause or resume where the terminal did so, and have the cards say it."""
        if self.shared.pausing.follow():
            self.shared.service.cards.show_all_again()

    def _settle_late(self) -> None:
        """Post on a listener's thread, which a stop waits for."""
        if self.casework.questions.recovery.is_due():
            self._listeners.submit(lambda: self._say_of_threads(self.casework.questions.recovery.settle_late()))

    def _say_of_threads(self, lines: list[str]) -> None:
        for line in lines:
            self.say(f"Thread {line}")
