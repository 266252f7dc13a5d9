"""The composition root: settings become a bot that starts and stops; imported by the entry points only.

How each part is put together stands in bot/composition/; here is what runs when, and in which order it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial

from bot.adapters.process.system_clock import SystemClock
from bot.adapters.storage.files.atomic_write import probe_folder
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.retention import RunRetention
from bot.casework.escalate.escalation_watch import POLL_S
from bot.composition.casework_services import build_casework
from bot.composition.heartbeat_services import build_heartbeats
from bot.composition.heartbeat_slack import alert_surface, build_heartbeat_slack
from bot.composition.shared_services import open_shared_services
from bot.composition.slack_edge import build_slack_edge
from bot.composition.startup_report import StartupReport
from bot.config.environment import Environment, require_signing_secret, require_tokens
from bot.config.settings import Settings
from bot.errors import StoreError
from bot.ports import Clock
from bot.ports.collections import HOME, INDEX
from bot.runtime.config_reload import ConfigReload
from bot.runtime.disk_watch import DiskWatch
from bot.runtime.index_watch import IndexWatch
from bot.runtime.job_table import build_job_table
from bot.runtime.ticker import Ticker
from bot.runtime.worker_pool import WorkerPool
from handlers.transport.workspace import why_unreadable

LISTENER_THREADS = 16
CATCH_UP_EVERY_S = 1
DISK_CHECK_S = 5
PAUSE_CHECK_S = 5
FLUSH_EVERY_S = 10
INDEX_EVERY_S = 2
"""A git process each time, of about 5 ms."""
REPEAT_EVERY_S = 10
LISTEN_CHECK_S = 1
WATCHER_STOP_S = 2.0
TIDY_EVERY_S = 60
TRACKED_CHECK_S = 600
"""A git process for each session."""
HOME_EVERY_S = 30
BEAT_TICK_S = 5
COUNT_EVERY_S = 5


class App:
    """The whole bot over one data directory and one workspace.

    Raises:
        ConfigError: tokens, config or codebase cannot be used, or another triage runs on this home.
        ProviderError: Slack refused the tokens or cannot be reached.
        StoreError: the data directory cannot be used.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Environment,
        *,
        clock: Clock | None = None,
    ) -> None:
        tokens = require_signing_secret if settings.slack.mode == "http" else require_tokens
        bot_token, ear_secret = tokens(environment)
        self._lock = FileLeases(environment.home).take(HOME)
        self.ground = open_shared_services(settings, environment, bot_token, clock or SystemClock())
        self.casework = build_casework(self.ground)
        alerts = alert_surface(self.ground)
        self.heartbeats = build_heartbeats(self.ground, self.casework.staff.models, alerts)
        self.beats = build_heartbeat_slack(self.ground, self.heartbeats, alerts)
        self._listeners = ThreadPoolExecutor(LISTENER_THREADS, thread_name_prefix="listener")
        self.edge = build_slack_edge(
            self.ground,
            self.casework,
            self.heartbeats,
            self.beats,
            self._listeners,
            bot_token=bot_token,
            ear_secret=ear_secret,
        )
        self.reload = self._reload()
        questions = self.casework.questions
        self._report = StartupReport(self.ground, self.edge.sorter, questions.rebuilding, questions.giving_up)
        self._workers = self._work()
        self._ticker = Ticker()
        # apart: what the other one asks of Slack may take a minute, and this looks after the line
        self._pulse = Ticker()
        self._disk = DiskWatch(
            partial(probe_folder, environment.home),
            self.ground.clock,
            say=self.ground.ops.say,
            on_back=self._disk_is_back,
        )
        self._old_runs = RunRetention(
            environment.home, settings.keep_runs_for, self.ground.clock, self.ground.desk.store.open_threads
        )
        self._indexing = Ticker()  # apart: a few hundred changed files take a second or two
        self._index_watch = IndexWatch(
            partial(self.ground.code.index.refresh, waits=False), self.ground.single(INDEX), say=self.ground.ops.say
        )

    def start(self) -> None:
        """Settle what the last run left, then take work and listen."""
        self._report.say()
        self.ground.approvers.refresh()
        self._recover()
        self.ground.desk.asker.recall()
        self.casework.questions.escalation_watch.poll()
        self._settle("proposals", self.beats.proposals.settle)
        self.heartbeats.learn_zones()
        self._settle("suggestions", self.heartbeats.sharing.decisions.settle)
        self._tick()
        self.edge.watcher.start()
        self._workers.start()
        self.edge.backfill.start()
        self.edge.connection.open()
        self._ticker.start()
        self._pulse.start()
        self._indexing.start()

    def stop(self) -> None:
        """Stop listening, finish or hand back what runs, all within 10 s, then release the home.

        A click's post under way is waited for, however long Slack takes (about 20 s, 35 s where it asks for patience):
        released earlier, another process would find its claim, not yet its post, and post again.
        """
        self.edge.connection.close()
        self._indexing.stop()
        self.ground.code.index.close()
        self._pulse.stop()
        self._ticker.stop()
        self.edge.backfill.stop()
        self.edge.watcher.stop(timeout_s=WATCHER_STOP_S)
        self._workers.stop()
        self._listeners.shutdown(wait=True)
        self.ground.desk.cards.catch_up(at_once=True)
        self.ground.desk.asker.tick(at_once=True)
        self.casework.staff.close()
        self._lock.release()

    def _settle(self, what: str, settle: Callable[[], object]) -> None:
        """Settle what the rest can do without; where that cannot be read, the ticks try it again."""
        try:
            settle()
        except StoreError as error:
            self.ground.ops.say(f"The {what} cannot be used: {error}. The rest works; it is tried again every minute.")

    def _follow_pause(self) -> None:
        """Pause or resume where the terminal did so, and have the cards say it."""
        if self.ground.pausing.follow():
            self.ground.desk.cards.show_all_again()

    def _tick(self) -> None:
        """Say what is done every so often."""
        ground, casework, beats, heartbeats = self.ground, self.casework, self.beats, self.heartbeats
        every = self._ticker.every
        every(CATCH_UP_EVERY_S, ground.desk.cards.catch_up)
        every(CATCH_UP_EVERY_S, ground.desk.asker.tick)
        every(CATCH_UP_EVERY_S, casework.questions.twins.tick)
        every(CATCH_UP_EVERY_S, self._settle_late)
        every(POLL_S, casework.questions.escalation_watch.poll)
        every(FLUSH_EVERY_S, ground.ops.flush)
        every(TIDY_EVERY_S, ground.desk.cards.tidy)
        every(TIDY_EVERY_S, ground.approvers.refresh)
        every(TIDY_EVERY_S, casework.upkeep.waiting.tick)
        every(TIDY_EVERY_S, casework.upkeep.pages.tick)
        every(TIDY_EVERY_S, casework.upkeep.briefs.tick)
        every(TIDY_EVERY_S, self._old_runs.tick)
        every(TIDY_EVERY_S, casework.upkeep.lessons.tick)
        every(TIDY_EVERY_S, casework.upkeep.rechecks.tick)
        every(HOME_EVERY_S, self.edge.home.tick)
        every(TIDY_EVERY_S, beats.proposals.settle)
        every(BEAT_TICK_S, heartbeats.scheduler.tick)
        every(BEAT_TICK_S, heartbeats.rings.tick)
        every(TIDY_EVERY_S, heartbeats.learn_zones)
        every(TIDY_EVERY_S, heartbeats.faults.check_sessions)
        every(TRACKED_CHECK_S, heartbeats.faults.check_playbooks)
        every(BEAT_TICK_S, beats.suggestion_office.cards.tick)
        every(TIDY_EVERY_S, heartbeats.sharing.decisions.settle)
        every(DISK_CHECK_S, self._disk.tick)
        every(COUNT_EVERY_S, ground.metrics.tick)
        every(PAUSE_CHECK_S, self._follow_pause)
        self._indexing.every(INDEX_EVERY_S, self._index_watch.tick)
        self._indexing.every(REPEAT_EVERY_S, self._repeat_partial_answers)
        self._pulse.every(LISTEN_CHECK_S, self.edge.connection.check)

    def _repeat_partial_answers(self) -> None:
        if self._index_watch.is_whole:
            self.casework.upkeep.partial_answers.repeat()

    def _reload(self) -> ConfigReload:
        return ConfigReload(
            self.ground.settings,
            self.heartbeats.sessions.registry,
            self.edge.watcher,
            self.edge.backfill,
            say=self.ground.ops.say,
            learn=self.heartbeats.learn_zones,
            unreadable=partial(why_unreadable, self.ground.slack.client),
        )

    def _work(self) -> WorkerPool:
        """Return what works off the queue."""
        casework, beats = self.casework, self.beats
        table = build_job_table(
            self.edge.sorter,
            casework.questions.orchestrator,
            casework.questions.mentions,
            casework.questions.rebuilding,
            beats.proposals,
            self.heartbeats.worker,
        )
        return WorkerPool(
            self.ground.jobs,
            table.handler_of,
            threads=self.ground.settings.max_concurrent_sessions,
            wanted=lambda job: self.ground.pausing.allows(job) and self.heartbeats.commands.is_ready(job),
            on_given_up=self._report.given_up,
            on_deadly=casework.questions.giving_up.deadly,
            interrupt=casework.staff.models.stop.set if casework.staff.models else None,
        )

    def _recover(self) -> None:
        self._say_of_threads(self.casework.questions.recovery.recover())

    def _settle_late(self) -> None:
        """Post on a listener's thread, which a stop waits for."""
        if self.casework.questions.recovery.is_due():
            self._listeners.submit(lambda: self._say_of_threads(self.casework.questions.recovery.settle_late()))

    def _say_of_threads(self, lines: list[str]) -> None:
        for line in lines:
            self.ground.ops.say(f"Thread {line}")

    def _disk_is_back(self, since: datetime) -> None:
        """Take up what the disk refused: messages that were not journaled, steps that were not saved."""
        self.edge.backfill.open(since)
        self._recover()
