"""The composition root: settings become adapters, adapters become a bot; imported by the entry points only."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path

from slack_bolt import App
from slack_sdk import WebClient

from blocks.home import Home
from bot.adapters.clock import SystemClock
from bot.adapters.files import probe_folder
from bot.adapters.json_file import JsonFile
from bot.adapters.local_zone import local_zone
from bot.adapters.lock import HomeLock
from bot.adapters.memory_index import MemoryNotes
from bot.adapters.ndjson_journal import NdjsonJournal
from bot.adapters.passage_index import CodePassages
from bot.adapters.proposal_files import ProposalFiles
from bot.adapters.spool_queue import SpoolQueue
from bot.adapters.tinydb_store import TinyThreadStore
from bot.agent.git import GitRepo
from bot.beat_staffing import Heartbeats, Surroundings, heartbeats, other_surfaces
from bot.casework.approvers import Approvers
from bot.casework.briefs import FILE as BRIEF
from bot.casework.briefs import Briefs
from bot.casework.decisions import Decisions
from bot.casework.desk import Desk
from bot.casework.disk_watch import DiskWatch
from bot.casework.escalation import Escalations
from bot.casework.escalation_watch import POLL_S, EscalationWatch
from bot.casework.freshness import quotes_at_head
from bot.casework.ops_lines import OpsLines
from bot.casework.orchestrator import Orchestrator
from bot.casework.overview import overview
from bot.casework.pausing import FILE as PAUSE
from bot.casework.pausing import Pausing
from bot.casework.presence import FILE as PRESENCE
from bot.casework.rebuilding import Rebuilding
from bot.casework.recovery import Recovery
from bot.casework.replies import Replies
from bot.casework.rounds import Rounds
from bot.casework.today import today
from bot.casework.waiting import Waiting
from bot.domain.jobs import Job
from bot.domain.links import code_links
from bot.environment import Environment, require_signing_secret, require_tokens
from bot.errors import ConfigError
from bot.heartbeat.controls import Controls
from bot.heartbeat.overview import rows
from bot.heartbeat.proposals import Proposals, commands_not_allowed
from bot.heartbeat.proposing import Proposing
from bot.heartbeat.task_desk import TaskDesk
from bot.intake.backfill import Backfill
from bot.intake.classifier import Rules, classify
from bot.intake.gaps import Gaps
from bot.intake.lost_jobs import queue_lost
from bot.intake.normalise import Identity
from bot.intake.watcher import Watcher
from bot.long_runs import long_runs
from bot.reload import Reload
from bot.settings import Settings
from bot.slack_settings import SlackSettings
from bot.staffing import Sources, Staff, staff
from bot.ticker import Ticker
from bot.worker import Handler, WorkerPool, one_of, unless
from handlers.alert_surface import SlackAlerts
from handlers.alerts import AlertButtons, AlertDesk
from handlers.approvals import Approvals
from handlers.commands import Commands
from handlers.commands.casework import CaseworkCommands
from handlers.commands.heartbeat import HeartbeatCommand
from handlers.commands.metrics import metrics_command
from handlers.commands.pollinate import PollinateCommand
from handlers.commands.status import status_command
from handlers.commands.tiers import Tiers, view_opener
from handlers.connection import SlackConnection
from handlers.history import SlackHistory
from handlers.home import HomeTab
from handlers.http_connection import HttpConnection
from handlers.messenger import SlackMessenger, ephemeral
from handlers.ops_questions import Ask, ops_questions
from handlers.pacing import Pacer, Pacing
from handlers.posting import Poster
from handlers.proposal_cards import SlackProposals
from handlers.proposals import ProposalButtons
from handlers.routes import Listeners, bolt_app
from handlers.shortcuts import Shortcuts
from handlers.signatures import Signatures
from handlers.suggestion_cards import SuggestionCards
from handlers.suggestions import SuggestionButtons, SuggestionOffice
from handlers.transport import posting_client, repeatable_client, translated, unhurried_client
from handlers.workspace import SlackWorkspace

log = logging.getLogger(__name__)

CLAIM_WAIT_S = 1.0
LISTENER_THREADS = 16
CATCH_UP_EVERY_S = 1
DISK_CHECK_S = 5
FLUSH_EVERY_S = 10
LISTEN_CHECK_S = 1
WATCHER_STOP_S = 2.0
TIDY_EVERY_S = 60
HOME_EVERY_S = 30
BEAT_TICK_S = 5

Progress = Callable[[int, int], None]


class Triage:
    """The whole bot over one data directory and one workspace.

    Raises:
        ConfigError: tokens, config or codebase cannot be used, or another triage runs on this home.
        ProviderError: Slack refused the tokens or cannot be reached.
        StoreError: the data directory cannot be used.
    """

    def __init__(self, settings: Settings, environment: Environment, *, on_progress: Progress | None = None) -> None:
        over_http = settings.slack.mode == "http"
        bot_token, ear_secret = (require_signing_secret if over_http else require_tokens)(environment)
        home = environment.home
        self._lock = HomeLock(home)
        self._clock = SystemClock()
        self.repo = GitRepo(settings.codebase)
        self.repo.head()
        client = repeatable_client(bot_token, environment.slack_api_url)
        self.me = _identify(client)
        self._posting = posting_client(bot_token, environment.slack_api_url)
        self._pausing = Pausing(home, JsonFile(home / PAUSE), self._clock)
        pacing = Pacing(posts_per_second=settings.slack.posts_per_second)
        self._poster = Poster(self._posting, pacing.posts)
        self._speak(settings, client, pacing.updates)
        self._open_stores(home, settings.max_concurrent_sessions)
        self.index = CodePassages(self.repo, home / "index" / "passages.sqlite", environment.secrets())
        memory = MemoryNotes(home / "memory", self._reply_log)
        self._desk = self._furnish(settings, client, memory, environment.secrets())
        self._refuse_public_ops_channel(settings.ops_channel)
        self._waiting = Waiting(self._desk, NdjsonJournal(home / "reminders.ndjson"))
        self._briefs = self._brief_times(settings, environment)
        self.staff = self._hire(settings, environment, memory)
        self._replies = Replies(self._desk)
        self._recovery = Recovery(self._desk, self._replies)
        self._long_runs = long_runs(settings, environment, self.staff.models.spending if self.staff.models else None)
        self._escalations = Escalations(self._desk, self._long_runs)
        self.escalation_watch = EscalationWatch(
            self._desk, self._long_runs, self.staff.runs, secrets=environment.secrets()
        )
        self._listeners = ThreadPoolExecutor(LISTENER_THREADS, thread_name_prefix="listener")
        self.heartbeats = self._keep_watch(settings, environment, client)
        self.reload = Reload(
            settings,
            environment,
            self.heartbeats.sessions,
            say=self.ops.say,
            learn=self.heartbeats.learn_zones,
        )
        listeners = self._listen(settings, home, client)
        self.watcher = listeners.watcher
        self._workers = WorkerPool(
            self._jobs,
            self._casework(settings),
            threads=settings.max_concurrent_sessions,
            wanted=self._pausing.allows,
            on_given_up=self._given_up,
            interrupt=self.staff.models.stop.set if self.staff.models else None,
        )
        self.backfill = self._make_up(settings, home, unhurried_client(bot_token, environment.slack_api_url))
        self._disk = DiskWatch(partial(probe_folder, home), self._clock, say=self.ops.say, on_back=self._disk_is_back)
        bolt = bolt_app(bot_token, environment.slack_api_url, self.me, listeners, self._listeners)
        connect = self._over_http if over_http else self._over_socket
        self.connection = connect(bolt, ear_secret, settings.slack, environment)
        self.indexed = self.index.refresh(on_progress)
        if not self.indexed.files:
            raise ConfigError(f"codebase: {self.repo.root} has no text file committed; there is nothing to quote")

    def start(self) -> None:
        """Settle what the last run left, then take work and listen."""
        self._report_damage()
        self._approvers.refresh()
        self._recover("the restart")
        self._desk.show_all_again()
        self._ticker.every(CATCH_UP_EVERY_S, self._desk.catch_up)
        self._ticker.every(CATCH_UP_EVERY_S, self._settle_late)
        self.escalation_watch.poll()
        self._ticker.every(POLL_S, self.escalation_watch.poll)
        self._ticker.every(FLUSH_EVERY_S, self.ops.flush)
        self._ticker.every(TIDY_EVERY_S, self._desk.tidy)
        self._ticker.every(TIDY_EVERY_S, self._approvers.refresh)
        self._ticker.every(TIDY_EVERY_S, self._waiting.tick)
        self._ticker.every(TIDY_EVERY_S, self._briefs.tick)
        self._ticker.every(HOME_EVERY_S, self._home.tick)
        self._proposals.settle()
        self._ticker.every(TIDY_EVERY_S, self._proposals.settle)
        self._pulse.every(LISTEN_CHECK_S, self.connection.check)
        self.heartbeats.learn_zones()
        self._ticker.every(BEAT_TICK_S, self.heartbeats.scheduler.tick)
        self._ticker.every(TIDY_EVERY_S, self.heartbeats.learn_zones)
        self._ticker.every(BEAT_TICK_S, self._suggestion_office.cards.tick)
        self.heartbeats.desk.settle()
        self._ticker.every(TIDY_EVERY_S, self.heartbeats.desk.settle)
        self._ticker.every(DISK_CHECK_S, self._disk.tick)
        self.watcher.start()
        self._workers.start()
        self.backfill.start()
        self.connection.open()
        self._ticker.start()
        self._pulse.start()

    def stop(self) -> None:
        """Stop listening, finish or hand back what runs, all within 10 s, then release the home.

        A click's post under way is waited for, however long Slack takes (about 20 s, 35 s where it asks for patience):
        released earlier, another process would find its claim, not yet its post, and post again.
        """
        self.connection.close()
        self._pulse.stop()
        self._ticker.stop()
        self.backfill.stop()
        self.watcher.stop(timeout_s=WATCHER_STOP_S)
        self._workers.stop()
        self._listeners.shutdown(wait=True)
        self._desk.catch_up(at_once=True)
        self.staff.close()
        self._lock.release()

    def _speak(self, settings: Settings, client: WebClient, updates: Pacer) -> None:
        self._messenger = SlackMessenger(
            client,
            self._poster,
            updates,
            ops_channel=settings.ops_channel,
            bot_user_id=self.me.user_id,
            link_to=code_links(self.repo.remote_url()),
            team_language=settings.team_language,
            offers_notes=settings.save_notes == "ask",
            paused=self._pausing.words,
        )
        self.ops = OpsLines(self._messenger)
        self._ticker = Ticker()
        self._pulse = (
            Ticker()
        )  # apart: what the other one asks of Slack may take a minute, and this looks after the line

    def _open_stores(self, home: Path, max_running: int) -> None:
        self._jobs = SpoolQueue(home / "queue", self._clock, max_running=max_running, wait_s=CLAIM_WAIT_S)
        self._store = TinyThreadStore(home)
        self._events = NdjsonJournal(home / "events.ndjson")
        self._classified = NdjsonJournal(home / "events-classified.ndjson")
        self._reply_log = NdjsonJournal(home / "replies.ndjson")

    def _hire(self, settings: Settings, environment: Environment, memory: MemoryNotes) -> Staff:
        return staff(
            Sources(
                settings=settings,
                environment=environment,
                repo=self.repo,
                index=self.index,
                memory=memory,
                clock=self._clock,
            )
        )

    def _refuse_public_ops_channel(self, channel: str) -> None:
        if not self._desk.workspace.is_private(channel):
            raise ConfigError(f"ops_channel: {channel} is not private; drafts would be read by all. Name a private one")

    def _furnish(self, settings: Settings, client: WebClient, memory: MemoryNotes, secrets: frozenset[str]) -> Desk:
        return Desk(
            settings=settings,
            store=self._store,
            jobs=self._jobs,
            messenger=self._messenger,
            workspace=SlackWorkspace(client, team_id=self.me.team_id),
            memory=memory,
            replies=self._reply_log,
            clock=self._clock,
            known_secrets=secrets,
        )

    def _listen(self, settings: Settings, home: Path, client: WebClient) -> Listeners:
        self._approvers = Approvers(
            settings.approvers,
            ops_channel=settings.ops_channel,
            team_id=self.me.team_id,
            workspace=self._desk.workspace,
        )
        decisions = Decisions(self._desk, self._replies, quotes_at_head(settings.codebase), self._escalations)
        watcher = Watcher(
            settings,
            self.me,
            rules=self._rules(settings),
            events=self._events,
            classified=self._classified,
            store=self._store,
            jobs=self._jobs,
            clock=self._clock,
            on_trouble=self.ops.say,
            on_queued=lambda job: self._orchestrator.hear(job),
        )
        approvals = Approvals(
            decisions, self._approvers, self._store, ops_channel=settings.ops_channel, tell=ephemeral(client)
        )
        tiers = self._tiers_command(home, client)
        self._suggestion_office = office = self._answer_suggestions(client)
        commands = Commands(
            {
                "status": ("what waits, what runs", status_command(home, self._approvers, self._clock)),
                "metrics": (
                    "what is promised, measured",
                    metrics_command(home, self._clock, baseline_reply_s=settings.baseline_reply_s),
                ),
                **self._casework_commands(home).table(),
                "heartbeat": ("sessions: list, switch, run, and why a beat went as it did", self._heartbeat_command()),
                "tiers": ("a session's tasks: list, add, remove, move, edit, and what is due", tiers),
                "pollinate": ("checks that travel between sessions: run, list, accept, reject", self._pollinate()),
            }
        )
        buttons = SuggestionButtons(office, ops_channel=settings.ops_channel, tell=ephemeral(client))
        self._home = self._home_tab(home, client)
        return Listeners(
            watcher=watcher,
            approvals=approvals,
            alerts=self._alert_buttons(client),
            suggestions=buttons,
            commands=commands,
            tiers=tiers,
            proposals=self._proposal_buttons(settings, home, client),
            shortcuts=Shortcuts(watcher, self._desk.workspace, team_id=self.me.team_id),
            home=self._home,
        )

    def _brief_times(self, settings: Settings, where: Environment) -> Briefs:
        zone = local_zone(where.variables) if settings.brief.timezone == "local" else settings.brief.timezone
        return Briefs(self._desk, where.home, settings.brief, JsonFile(where.home / BRIEF), zone=zone)

    def _home_tab(self, home: Path, client: WebClient) -> HomeTab:
        beats = self.heartbeats

        def look() -> Home:
            now = self._clock.now()
            sessions = rows(beats.sessions, beats.store, beats.zones, beats.log, now)
            return Home(overview=overview(home, now), today=today(home, now), sessions=sessions, now=now)

        return HomeTab(client, look, self._approvers, self._clock, team_id=self.me.team_id)

    def _keep_watch(self, settings: Settings, environment: Environment, client: WebClient) -> Heartbeats:
        self._alerts = SlackAlerts(client, self._poster)
        return heartbeats(
            Surroundings(
                settings=settings,
                environment=environment,
                clock=self._clock,
                jobs=self._jobs,
                workspace=self._desk.workspace,
                surfaces={"slack": self._alerts, **other_surfaces(environment)},
                models=self.staff.models,
                secrets=environment.secrets(),
                on_damage=lambda path: self.ops.say(f"{path} was set aside: what it held could not be read."),
                say=self.ops.say,
                halted=self._pausing.words,
            )
        )

    def _casework_commands(self, home: Path) -> CaseworkCommands:
        return CaseworkCommands(
            home=home,
            approvers=self._approvers,
            pausing=self._pausing,
            show_cards=self._desk.show_all_again,
            ask=self._ask_in_ops(),
            clock=self._clock,
        )

    def _ask_in_ops(self) -> Ask:
        return ops_questions(
            self._poster, self._jobs, team_id=self.me.team_id, ops_channel=self._desk.settings.ops_channel
        )

    def _heartbeat_command(self) -> HeartbeatCommand:
        beats = self.heartbeats
        return HeartbeatCommand(
            sessions=beats.sessions,
            store=beats.store,
            controls=Controls(beats.sessions, beats.overrides, beats.scheduler.wake),
            record=beats.log,
            zones=beats.zones,
            approvers=self._approvers,
            clock=self._clock,
            team_id=self.me.team_id,
        )

    def _tiers_command(self, home: Path, client: WebClient) -> Tiers:
        beats = self.heartbeats
        shown = JsonFile(home / "listed.json")
        return Tiers(
            sessions=beats.sessions,
            desk=TaskDesk(beats.sessions, beats.store, beats.zones, self._clock, shown),
            approvers=self._approvers,
            team_id=self.me.team_id,
            open_view=view_opener(self._posting),
            tell=ephemeral(client),
        )

    def _proposal_buttons(self, settings: Settings, home: Path, client: WebClient) -> ProposalButtons:
        sessions = self.heartbeats.sessions
        proposing = Proposing(
            sessions=sessions,
            workspace=self._desk.workspace,
            clock=self._clock,
            bot_user_id=self.me.user_id,
            allow_external=settings.watcher.allow_external,
            say=self.ops.say,
        )
        self._proposals = Proposals(
            proposing,
            ProposalFiles(home, on_damage=lambda path: self.ops.say(f"{path} was set aside: it could not be read.")),
            SlackProposals(
                client,
                self._poster,
                ops_channel=settings.ops_channel,
                bot_user_id=self.me.user_id,
                not_allowed=partial(commands_not_allowed, sessions),
            ),
            self._clock,
            require_private=self._desk.privacy.require,
        )
        return ProposalButtons(
            self._proposals,
            sessions,
            self._approvers,
            team_id=self.me.team_id,
            ops_channel=settings.ops_channel,
            tell=ephemeral(client),
        )

    def _pollinate(self) -> PollinateCommand:
        return PollinateCommand(office=self._suggestion_office, pollination=self.heartbeats.pollination)

    def _answer_suggestions(self, client: WebClient) -> SuggestionOffice:
        beats, ops_channel = self.heartbeats, self._desk.settings.ops_channel
        return SuggestionOffice(
            sessions=beats.sessions,
            store=beats.suggestions,
            desk=beats.desk,
            cards=SuggestionCards(client, self._poster, beats.suggestions, ops_channel=ops_channel),
            approvers=self._approvers,
            team_id=self.me.team_id,
        )

    def _alert_buttons(self, client: WebClient) -> AlertButtons:
        beats = self.heartbeats
        desk = AlertDesk(
            sessions=beats.sessions,
            findings=beats.findings,
            show=self._alerts.show,
            wake=beats.scheduler.wake,
            ask=self._ask_in_ops(),
            clock=self._clock,
            team_id=self.me.team_id,
        )
        return AlertButtons(desk, self._approvers, tell=ephemeral(client))

    def _make_up(self, settings: Settings, home: Path, client: WebClient) -> Backfill:
        return Backfill(
            settings,
            self.watcher,
            SlackHistory(client),
            team_id=self.me.team_id,
            store=self._store,
            gaps=Gaps(JsonFile(home / "slack" / "gaps.json")),
            clock=self._clock,
            say=self.ops.say,
        )

    def _over_socket(self, bolt: App, app_token: str, how: SlackSettings, where: Environment) -> SlackConnection:
        return SlackConnection(
            bolt,
            app_token,
            WebClient(token=app_token, base_url=where.slack_api_url),
            slate=JsonFile(where.home / PRESENCE),
            clock=self._clock,
            on_session=self.backfill.open,
            connections=how.connections,
        )

    def _over_http(self, bolt: App, signing_secret: str, how: SlackSettings, where: Environment) -> HttpConnection:
        return HttpConnection(
            bolt,
            Signatures(signing_secret, self._clock),
            host=how.http.host,
            port=how.http.port,
            slate=JsonFile(where.home / PRESENCE),
            clock=self._clock,
            on_session=self.backfill.open,
        )

    def _casework(self, settings: Settings) -> Handler:
        """Return what works off the queue."""
        rounds = Rounds(self._desk, self.staff.investigator, self.staff.validator, self.staff.runs, self._escalations)
        lost = frozenset(damage.thread_id for damage in self._store.damage())
        self._orchestrator = orchestrator = Orchestrator(
            self._desk, rounds, bot_user_id=self.me.user_id, lost=lost, is_paused=lambda: self._pausing.is_paused
        )
        rules = self._rules(settings)
        self._rebuilding = Rebuilding(
            self._desk,
            orchestrator,
            self._events,
            lambda event: classify(event, rules, inflight=False).classification == "actionable",
            bot_user_id=self.me.user_id,
        )
        said = unless(self._proposals.takes, self._proposals.handle, orchestrator.handle)
        return one_of({"beat": self.heartbeats.beats.handle, "rebuild": self._rebuilding.handle}, said)

    def _rules(self, settings: Settings) -> Rules:
        return Rules(**{**settings.classifier.model_dump(), "bot_id": self.me.user_id})

    def _report_damage(self) -> None:
        """Tell the ops channel what the start found broken, and what to do about it."""
        for damage in self._store.damage():
            if line := self._rebuilding.plan(damage):
                self.ops.say(line)
        self._replace_lost_jobs()
        for job in self._jobs.given_up:
            self._given_up(job)
        for journal, name in ((self._events, "events"), (self._classified, "events-classified")):
            if journal.bad_lines:
                self.ops.say(f"{journal.bad_lines} unreadable lines in {name}.ndjson were skipped.")

    def _replace_lost_jobs(self) -> None:
        """Queue again what damaged jobs held; the file of an earlier start counts, too: the bot may have died here."""
        for path in self._jobs.corrupt:
            self.ops.say(f"A waiting job could not be read; it was set aside as {path.name}.")
        since_ms = self._jobs.lost_since_ms()
        if since_ms is None:
            return
        rules = self._rules(self._desk.settings)
        count = queue_lost(self._classified, self._store, self._jobs, rules, since_ms=since_ms)
        if count:
            self.ops.say(f"{count} question{'s' * (count > 1)} of that time had no job and no record: queued again.")

    def _recover(self, what: str) -> None:
        self._say_unsettled(self._recovery.recover(), what)

    def _settle_late(self) -> None:
        """Post on a listener's thread, which a stop waits for."""
        if self._recovery.is_due():
            self._listeners.submit(lambda: self._say_unsettled(self._recovery.settle_late(), "the restart"))

    def _say_unsettled(self, problems: list[str], what: str) -> None:
        for problem in problems:
            self.ops.say(f"A thread could not be settled after {what}: {problem}")

    def _disk_is_back(self, since: datetime) -> None:
        """Take up what the disk refused: messages that were not journaled, steps that were not saved."""
        self.backfill.open(since)
        self._recover("the disk's refusal")

    def _given_up(self, job: Job) -> None:
        why = job.failures[-1] if job.failures else "the bot died while it ran"
        self.ops.say(
            f"Gave up on the job for {job.key} after {job.attempts} attempts: {why}. "
            f"To try again, move queue/failed/{job.name} to queue/ while the bot is stopped."
        )


def _identify(client: WebClient) -> Identity:
    with translated("recognise the bot's token"):
        answer = client.auth_test()
    return Identity(team_id=answer["team_id"], user_id=answer["user_id"], bot_id=answer.get("bot_id"))
