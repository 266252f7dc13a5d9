"""The teams of the process: which there are, how messages, clicks and jobs reach them, how they come and go."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager

from bot.casework.memory.note_saving import copy_shared_notes
from bot.composition.process_services import ProcessServices
from bot.composition.team_homes import check_team_folders
from bot.config.settings import Settings
from bot.domain.jobs import Job
from bot.errors import TriageError
from bot.runtime.approver_rounds import ApproverRounds
from bot.runtime.team_queues import TeamQueues
from bot.runtime.worker_pool import JobHandlers
from bot.team import Team
from handlers.home import HomeTab
from handlers.team_router import TeamRouter

log = logging.getLogger(__name__)

JOB_END_S = 10.0
"""How long a removed team's running jobs are waited for."""


class Teams:
    """Every team that runs, in the file's order; those of the start are opened by `open_first`."""

    def __init__(self, process: ProcessServices, listeners: Executor) -> None:
        self._process, self._listeners = process, listeners
        self.router = TeamRouter(process.slack.me)
        self.home = HomeTab(process.slack.client, process.clock, team_id=process.slack.me.team_id)
        self.queues = TeamQueues(process.jobs_changed)
        self.approvers = ApproverRounds(process.clock)
        self._teams: dict[str, Team] = {}
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
        check_team_folders(self._process.environment.home, teams)
        try:
            for name, settings in teams.items():
                new.append(self._open(name, settings))
                new[-1].missed_since(None)  # from now on: a running team may let go of one of its channels next
            yield
        except BaseException:
            for team in new:
                self._process.noted.detach(team.shared.ops.lines)
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
        self.approvers.tick()
        team.start()

    def remove(self, name: str) -> str:
        """End a team, each of its open threads with a sentence, and return what is said of it; its files stay."""
        team = self._teams.pop(name)
        self.router.remove(name)
        self.home.remove(name)
        self.queues.remove(name)
        self.approvers.remove(name)
        self._process.noted.detach(team.shared.ops.lines)
        team.stop_hearing()
        team.interrupt()
        self.queues.wait_for(name, timeout_s=JOB_END_S)
        self._handlers.pop(name)
        try:
            return team.end().words(name)
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

    def share(self) -> None:
        """Bring up to date what each team gets of those that share: copies of notes, checks to suggest.

        Raises:
            StoreError: the disk refuses; the next call goes on.
        """
        teams = list(self._teams.values())
        checks = {one.name: one.checks_to_share() for one in teams if "checks" in one.reload.shared}
        for team in teams:
            others = [other for other in teams if other is not team]
            notes = {other.name: other.shared.memory.notes for other in others if "notes" in other.reload.shared}
            copy_shared_notes(team.shared.memory.notes, notes)
            offered = [check for other in others for check in checks.get(other.name, ())]
            team.heartbeats.sharing.pollination.take_checks(offered)

    def say(self, text: str) -> None:
        """Tell every team's ops channel what concerns the process."""
        self.each(lambda team: team.say(text))

    def handlers_of(self, job: Job) -> JobHandlers:
        """Return what works off a claimed job."""
        return self._handlers[self.queues.team_of(job)]

    def _open(self, name: str, settings: Settings) -> Team:
        team = Team(self._process, name, settings, self.home, self.router, self._listeners)
        self._process.noted.attach(team.shared.ops.lines, team.shared.code.ids)
        return team

    def _add(self, team: Team) -> None:
        """Have a team's messages, clicks and jobs reach it."""
        self._teams[team.name], self._handlers[team.name] = team, team.handlers()
        self.router.add(team.edge.listeners)
        self.home.add(team.edge.home)
        self.approvers.add(team.name, team.shared.approvers)
        self.queues.add(team.name, team.shared.jobs, team.wants)
        log.info("team %s is open", team.name, extra={"action": "team_open"})
