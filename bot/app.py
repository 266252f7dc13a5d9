"""The composition root: settings become a bot that starts and stops; imported by the entry points only.

How each part is put together stands in bot/composition/; what runs for one team in bot/team.py. Here is what the
process does once for all its teams: the lease on the data directory, the line to Slack, the workers, the index.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial

from bot.adapters.process.system_clock import SystemClock
from bot.adapters.storage.files.atomic_write import probe_folder
from bot.adapters.storage.files.file_leases import FileLeases
from bot.composition.process_services import open_process_services
from bot.composition.slack_edge import build_slack_edge
from bot.config.environment import Environment, require_signing_secret, require_tokens
from bot.config.settings import Settings
from bot.domain.jobs import Job
from bot.ports import Clock
from bot.ports.collections import HOME, INDEX
from bot.runtime.config_reload import ConfigReload
from bot.runtime.disk_watch import DiskWatch
from bot.runtime.index_watch import IndexWatch
from bot.runtime.team_queues import TeamQueues
from bot.runtime.ticker import Ticker
from bot.runtime.worker_pool import JobHandlers, WorkerPool
from bot.team import Team
from handlers.home import HomeTab
from handlers.team_router import TeamRouter
from handlers.transport.workspace import why_unreadable

LISTENER_THREADS = 16
DISK_CHECK_S = 5
INDEX_EVERY_S = 2
"""A git process each time, of about 5 ms."""
REPEAT_EVERY_S = 10
LISTEN_CHECK_S = 1
HOME_EVERY_S = 30


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
        self.process = process = open_process_services(settings, environment, bot_token, clock or SystemClock())
        self._listeners = ThreadPoolExecutor(LISTENER_THREADS, thread_name_prefix="listener")
        home, router = (
            HomeTab(process.slack.client, process.clock, team_id=process.slack.me.team_id),
            TeamRouter(process.slack.me),
        )
        self.teams: dict[str, Team] = {}
        self._handlers: dict[str, JobHandlers] = {}
        self._queues = TeamQueues(process.jobs_changed)
        for name, own in settings.by_team().items():
            self._add(Team(process, name, own, home, self._listeners), router, home)
        process.noted.end_start()
        self.edge = build_slack_edge(
            process,
            router,
            home,
            self._listeners,
            bot_token=bot_token,
            ear_secret=ear_secret,
            on_session=lambda since: self._each(lambda team: team.missed_since(since)),
        )
        self.reload = self._reload()
        self._workers = WorkerPool(
            self._queues, self._handlers_of, threads=settings.max_concurrent_sessions, interrupt=self._interrupt
        )
        self._ticker = Ticker()
        # apart: what the other one asks of Slack may take a minute, and this looks after the line
        self._pulse = Ticker()
        self._disk = DiskWatch(
            partial(probe_folder, environment.home), process.clock, say=self._say, on_back=self._disk_is_back
        )
        self._indexing = Ticker()  # apart: a few hundred changed files take a second or two
        self._index_watch = IndexWatch(process.code.refreshes(), process.single(INDEX), say=self._say)

    @property
    def team(self) -> Team:
        """The team of a bot that has only one; the first of several."""
        return next(iter(self.teams.values()))

    def start(self) -> None:
        """Settle what the last run left, then take work and listen."""
        self._each(Team.settle)
        self._tick()
        self._workers.start()
        self._each(Team.start)
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
        self.process.code.close()
        self._pulse.stop()
        self._ticker.stop()
        self._each(Team.stop_hearing)
        self._workers.stop()
        self._listeners.shutdown(wait=True)
        self._each(Team.close)
        self._lock.release()

    def _add(self, team: Team, router: TeamRouter, home: HomeTab) -> None:
        """Have a team's messages, clicks and jobs reach it."""
        self.teams[team.name], self._handlers[team.name] = team, team.handlers()
        router.add(team.edge.listeners)
        home.add(team.edge.home)
        self._queues.add(team.name, team.shared.jobs, team.wants)

    def _each(self, do: Callable[[Team], object]) -> None:
        for team in list(self.teams.values()):
            do(team)

    def _say(self, text: str) -> None:
        """Tell every team's ops channel what concerns the process."""
        self._each(lambda team: team.say(text))

    def _handlers_of(self, job: Job) -> JobHandlers:
        return self._handlers[self._queues.team_of(job)]

    def _interrupt(self) -> None:
        self._each(Team.interrupt)

    def _tick(self) -> None:
        """Say what is done every so often."""
        self._ticker.every(HOME_EVERY_S, self.edge.home.tick)
        self._ticker.every(DISK_CHECK_S, self._disk.tick)
        self._indexing.every(INDEX_EVERY_S, self._index_watch.tick)
        if self.process.code.clones is not None:
            self._indexing.every(INDEX_EVERY_S, self.process.code.clones.tick)
        self._indexing.every(REPEAT_EVERY_S, self._repeat_partial_answers)
        self._pulse.every(LISTEN_CHECK_S, self.edge.connection.check)

    def _repeat_partial_answers(self) -> None:
        if self._index_watch.is_whole:
            self._each(lambda team: team.casework.upkeep.partial_answers.repeat())

    def _reload(self) -> ConfigReload:
        team = self.team
        return ConfigReload(
            self.process.settings,
            team.heartbeats.sessions.registry,
            team.edge.watcher,
            team.edge.backfill,
            say=team.say,
            learn=team.heartbeats.learn_zones,
            unreadable=partial(why_unreadable, self.process.slack.client),
        )

    def _disk_is_back(self, since: datetime) -> None:
        """Take up what the disk refused: messages that were not journaled, steps that were not saved."""
        self._each(lambda team: team.missed_since(since))
        self._each(Team.recover)
