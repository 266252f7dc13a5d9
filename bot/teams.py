"""All teams of the process: routes messages, clicks and jobs to them, opens new teams and ends removed ones."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

from bot.casework.notes import copy_shared_notes
from bot.composition.codebases import ProcessCode
from bot.composition.process import Process
from bot.config.settings import Settings
from bot.domain.jobs import Job
from bot.errors import ConfigError, ProviderError, StoreError, TriageError
from bot.heartbeat.suggestion_desk import checks_to_share
from bot.ports.collections import HOMES
from bot.runtime.config_reload import ops_channels_taken, rename_refused
from bot.runtime.worker_pool import JobHandlers, TeamQueues
from bot.team import Team, build_team
from handlers.home import HomeTab
from handlers.team_router import TeamRouter

log = logging.getLogger(__name__)

JOB_END_S = 10.0
"""How long a removed team's running jobs are waited for."""


class Teams:
    """Every team that runs, in the file's order; those of the start are opened by `open_first`."""

    def __init__(self, process: Process, listeners: Executor) -> None:
        self._process, self._listeners = process, listeners
        self.router = TeamRouter(process.slack.me)
        self.home = HomeTab(
            process.slack.client,
            process.clock,
            team_id=process.slack.me.team_id,
            pages=process.single(HOMES) if process.engine.is_shared else None,
        )
        self.queues = TeamQueues(process.jobs_changed)
        self._teams: dict[str, Team] = {}
        self._sharing = threading.Lock()
        self._handlers: dict[str, JobHandlers] = {}

    def open_first(self, teams: Mapping[str, Settings]) -> None:
        """Open the teams of the start; raises ConfigError, ProviderError and StoreError as `Team` does."""
        for name, settings in teams.items():
            self._add(self._open(name, settings))
        self._process.noted.end_start()

    @contextmanager
    def opened(self, teams: Mapping[str, Settings]) -> Iterator[None]:
        """Open new teams, and have them work once the block ends without an error; raises as `Team` does."""
        new: list[Team] = []
        try:
            for name, settings in teams.items():
                new.append(self._open(name, settings))
                new[-1].edge.backfill.open(None)  # from now on: a running team may let go of one of its channels next
            yield
        except BaseException:
            for team in new:
                self._process.noted.detach(team.core.ops.lines)
            raise
        for team in new:
            self._begin(team)

    def _begin(self, team: Team) -> None:
        """Have a new team work; what cannot be settled now, its ticks and the next start settle."""
        try:
            team.settle()
        except TriageError as error:
            log.exception("team %s was not settled", team.name, extra={"action": "team_unsettled"})
            self.say(
                f"The team {team.name} works, but what it had left could not be settled: {error}."
                " The next start tries again."
            )
        self._add(team)
        team.core.approvers.refresh()
        team.start()

    def remove(self, name: str) -> str:
        """End a team, each of its open threads with a sentence, and return what is said of it; its files stay."""
        team = self._teams.pop(name)
        self.router.remove(name)
        self.home.remove(name)
        self.queues.remove(name)
        self._process.noted.detach(team.core.ops.lines)
        team.stop_hearing()
        team.interrupt()
        self.queues.wait_for(name, timeout_s=JOB_END_S)
        self._handlers.pop(name)
        try:
            return team.end().words()
        except TriageError as error:
            log.exception("team %s was not ended", name, extra={"action": "team_unended"})
            return f"{name} is no longer in triage.yml, but not all that it left open could be closed: {error}." + (
                " The next start tries again."
            )

    def by_name(self) -> Mapping[str, Team]:
        """Return those that run."""
        return dict(self._teams)

    def each(self, do: Callable[[Team], object]) -> None:
        """Do something for every team."""
        for team in list(self._teams.values()):
            do(team)

    def each_at_once(self, do: Callable[[Team], object]) -> None:
        """Do something for every team, side by side: for each it may wait for Slack."""
        with ThreadPoolExecutor(max(1, len(self._teams))) as pool:
            list(pool.map(do, list(self._teams.values())))

    def share(self) -> None:
        """Bring up to date what each team gets of those that share: copies of notes, checks to suggest.

        Raises:
            StoreError: the disk refuses; the next call goes on.
        """
        with self._sharing:  # one that began with older settings would undo what a newer one does
            self._share()

    def _share(self) -> None:
        teams = list(self._teams.values())
        checks = {
            one.name: checks_to_share(one.heartbeats.sessions.suggestions.known(), one.name)
            for one in teams
            if "checks" in one.reload.now.share
        }
        for team in teams:
            others = [other for other in teams if other is not team]
            notes = {other.name: other.core.storage.notes for other in others if "notes" in other.reload.now.share}
            copy_shared_notes(team.core.storage.notes, notes)
            offered = [check for other in others for check in checks.get(other.name, ())]
            team.heartbeats.sessions.suggestions.of_teams = offered

    def say(self, text: str) -> None:
        """Tell the log and every team's ops channel what concerns the process."""
        log.warning(text, extra={"action": "ops_noted"})
        self.tell(text)

    def tell(self, text: str) -> None:
        """Tell every team's ops channel what the log has already."""
        self._process.noted.put(text)
        self.each(lambda team: team.core.ops.flush())

    def handlers_of(self, job: Job) -> JobHandlers:
        """Return what works off a claimed job."""
        return self._handlers[self.queues.team_of(job)]

    def _open(self, name: str, settings: Settings) -> Team:
        team = build_team(self._process, name, settings, self.home, self.router, self._listeners)
        self._process.noted.attach(team.core.ops.lines, team.core.code.ids)
        return team

    def _add(self, team: Team) -> None:
        """Have a team's messages, clicks and jobs reach it."""
        self._teams[team.name], self._handlers[team.name] = team, team.handlers()
        self.router.add(team.edge.listeners)
        self.home.add(team.edge.home)
        self.queues.add(team.name, team.core.service.jobs, team.wants)
        log.info("team %s is open", team.name, extra={"action": "team_open"})


class ConfigReload:
    """Takes over a changed file, team by team."""

    def __init__(self, teams: Teams, code: ProcessCode) -> None:
        self._teams, self._code = teams, code

    def __call__(self, load: Callable[[], Settings]) -> None:
        """Read the file anew with `load` and say what became of it; raises none of our errors."""
        try:
            self._take_over(load())
        except ConfigError as error:
            problems = "\n".join(f"- {problem}" for problem in error.problems)
            self._teams.say(f"triage.yml was not loaded; the old settings stay in use. Fix this:\n{problems}")
        except (ProviderError, StoreError) as error:
            self._teams.say(f"triage.yml was not loaded; the old settings stay in use: {error}. Then reload again.")

    def _take_over(self, settings: Settings) -> None:
        running, wanted = self._teams.by_name(), settings.by_team()
        new, gone = wanted.keys() - running.keys(), running.keys() - wanted.keys()
        if not wanted.keys() & running.keys():
            raise ConfigError("no team of before is left in the file; stop triage and start it to change them all")
        ops_channels = {name: running[name].reload.ops_channel for name in running}
        if problems := [
            rename_refused(old, name)
            for old in sorted(gone)
            for name in wanted
            if name in new and wanted[name].ops_channel == ops_channels[old]
        ] + list(ops_channels_taken(ops_channels, wanted)):
            raise ConfigError(*problems)
        with self._code.reopened(settings):
            with self._teams.opened({name: wanted[name] for name in wanted if name in new}):
                kept = [name for name in running if name in wanted]
                kept.sort(key=lambda name: not running[name].reload.gains(wanted[name]))  # no channel is nobody's
                said = {name: running[name].reload.take_over(wanted[name]) for name in kept}
            about = "".join(f" Team {name} is new." for name in wanted if name in new)
            about += "".join(f" {self._teams.remove(name)}" for name in sorted(gone))
        for name, words in said.items():
            running[name].say(f"triage.yml was read again; {words}{about}")
        if settings.removed_keys:
            self._teams.say("\n".join(settings.removed_keys))
