"""The composition root: settings become a bot that starts and stops; imported by the entry points only.

How each part is put together stands in bot/composition/; what runs for one team in bot/team.py. Here is what the
process does once for all its teams: the lease on the data directory, the line to Slack, the workers, the index.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from bot.adapters.clocks import SystemClock
from bot.casework.waiting_drafts import repeat_partial_answers
from bot.composition.process import Process, connect_to_slack
from bot.composition.removed_teams import end_removed
from bot.config.environment import Environment, require_bot_token, require_signing_secret, require_tokens
from bot.config.settings import Settings
from bot.errors import ConfigError
from bot.ports import Clock
from bot.ports.collections import INDEX
from bot.ports.system import Role
from bot.runtime.duties import SignsOfLife, Ticker
from bot.runtime.watches import IndexWatch, Outage
from bot.runtime.worker_pool import FINISH_S, PAUSE_AFTER_ERROR_S, PAUSE_WHILE_AWAY_S, WorkerPool
from bot.team import Team
from bot.teams import ConfigReload, Teams

LISTENER_THREADS = 16
PROBE_EVERY_S = 5
INDEX_EVERY_S = 2
"""A look at git's own files; git itself is asked after a change only."""

REPEAT_EVERY_S = 10
LISTEN_CHECK_S = 1
HOME_EVERY_S = 30
SHARE_EVERY_S = 10
APPROVERS_EVERY_S = 60
"""A list of user groups is a request of Slack's Tier 2 for each: 20 a minute for the whole app."""

CLOCK_CHECK_S = 300
"""A clock that jumps makes everything that is ticked due, so that this is for one that drifts."""


class App:
    """The whole bot over one data directory and one workspace.

    Intervals, and pauses between posts and after a failure, are `time_scale` times as long as they say; tests use less
    than 1.

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
        role: Role = Role.ALL,
        time_scale: float = 1.0,
    ) -> None:
        self._role = role
        bot_token, ear_secret = _tokens(settings, environment, role)
        self.process = process = Process(
            settings, environment, role, bot_token, clock or SystemClock(), time_scale=time_scale
        )
        self._listeners = ThreadPoolExecutor(LISTENER_THREADS, thread_name_prefix="listener")
        self.teams = Teams(process, self._listeners)
        self.teams.open_first(settings.by_team())
        self.connection = connect_to_slack(
            process,
            self.teams.router,
            self.teams.home,
            self._listeners,
            ear_secret=ear_secret,
            on_gap=self._missed_since,
        )
        self.reload = ConfigReload(self.teams, process.code)
        self._workers = self._build_workers(time_scale)
        self._life = SignsOfLife(process.engine.replicas, role, process.keep_time)
        self._ticker = Ticker(time_scale)
        # apart: what the other one asks of Slack may take a minute, and this looks after the line
        self._pulse = Ticker(time_scale)
        self._probing = Ticker(time_scale)  # apart: what waits for a database that is away would hold it up
        self.outage = Outage(
            process.engine.probe,
            process.clock,
            tell=self.teams.tell,
            on_back=self._take_up_refused,
            is_ours=lambda: not process.engine.is_shared or self.team.has_duties,
            stands=lambda text, since: self.team.has_said(text, since),
        )
        self._indexing = Ticker(time_scale)  # apart: a few hundred changed files take a second or two
        self._index_watch = IndexWatch(
            process.code.refreshes, process.single(INDEX, of_machine=True), say=self.teams.say
        )

    def _build_workers(self, time_scale: float) -> WorkerPool:
        return WorkerPool(
            self.teams.queues,
            self.teams.handlers_of,
            threads=0 if self._role is Role.EDGE else self.process.settings.max_concurrent_sessions,
            interrupt=lambda: self.teams.each(Team.interrupt),
            finish_s=FINISH_S * time_scale,
            pause_after_error_s=PAUSE_AFTER_ERROR_S * time_scale,
            pause_while_away_s=PAUSE_WHILE_AWAY_S * time_scale,
        )

    @property
    def team(self) -> Team:
        """The team of a bot that has only one; the first of several."""
        return next(iter(self.teams.by_name().values()))

    def start(self) -> None:
        """Settle what the last run left, then take work and listen."""
        self._life.start()
        for line in end_removed(self.process):
            self.teams.say(line)
        self._refresh_approvers()
        if self._role is Role.EDGE:
            self.teams.each(Team.leave_duties)
        self.teams.each(Team.settle)
        self._tick()
        self._workers.start()
        self.teams.each(Team.start)
        self.connection.open()
        self._ticker.start()
        self._pulse.start()
        self._probing.start()
        self._indexing.start()

    def stop(self) -> None:
        """Stop listening, finish or hand back what runs, all within 10 s, then release the home.

        A click's post under way is waited for, however long Slack takes (about 20 s, 35 s where it asks for patience):
        released earlier, another process would find its claim, not yet its post, and post again. What is asked of Slack
        after that is given up soon.
        """
        self.process.slack.hurry()
        self.connection.close()
        self._indexing.stop()
        self.process.code.close()
        self._pulse.stop()
        self._probing.stop()
        self._ticker.stop()
        self.teams.each_at_once(Team.stop_hearing)
        self._workers.stop()
        self._listeners.shutdown(wait=True)
        self.teams.each_at_once(Team.close)
        self._life.stop()
        self.process.engine.close()
        self.process.lease.release()

    def _tick(self) -> None:
        """Say what is done every so often."""
        self._ticker.every(HOME_EVERY_S, self.teams.home.tick)
        self._ticker.every(APPROVERS_EVERY_S, self._refresh_approvers)
        self._ticker.every(SHARE_EVERY_S, self.teams.share)
        self._indexing.every(INDEX_EVERY_S, self._index_watch.tick)
        self._indexing.every(INDEX_EVERY_S, self.process.code.fetch)
        self._indexing.every(REPEAT_EVERY_S, self._repeat_partial_answers)
        self._ticker.every(CLOCK_CHECK_S, self.process.slack.check_clock)
        self._probing.every(PROBE_EVERY_S, self.outage.tick)
        self._pulse.every(LISTEN_CHECK_S, self._look_after_line)

    def _refresh_approvers(self) -> None:
        self.teams.each(lambda team: team.core.approvers.refresh())

    def _look_after_line(self) -> None:
        self.connection.note_clock(self.process.slack.clock.ahead)
        self.connection.check()

    def _repeat_partial_answers(self) -> None:
        if self._index_watch.is_whole:
            self.teams.each(lambda team: repeat_partial_answers(team.core.service))

    def _take_up_refused(self, since: datetime) -> None:
        """Take up what could not be kept: messages that were not journaled, steps that were not saved."""
        self._missed_since(since)
        self.teams.each(Team.recover_if_ours)

    def _missed_since(self, since: datetime, session_age: timedelta = timedelta()) -> None:
        is_told = self.outage.is_told(since)
        self.teams.each(lambda team: team.edge.backfill.open(since, session_age, is_told=is_told))


def _tokens(settings: Settings, environment: Environment, role: Role) -> tuple[str, str | None]:
    """Return the bot token, and what the role needs besides to hear Slack; raises ConfigError."""
    if role is not Role.ALL and environment.database_url is None:
        raise ConfigError(f"--only {role} needs a database that replicas share: set TRIAGE_DATABASE_URL")
    if role is Role.WORK:
        return require_bot_token(environment), None
    return (require_signing_secret if settings.slack.mode == "http" else require_tokens)(environment)
