"""The composition root: settings become adapters, adapters become a bot; imported by the entry points only."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from bot.adapters.clock import SystemClock
from bot.adapters.lock import HomeLock
from bot.adapters.memory_index import MemoryNotes
from bot.adapters.ndjson_journal import NdjsonJournal
from bot.adapters.passage_index import CodePassages
from bot.adapters.spool_queue import SpoolQueue
from bot.adapters.tinydb_store import TinyThreadStore
from bot.agent.git import GitRepo
from bot.casework.approvers import Approvers
from bot.casework.decisions import Decisions
from bot.casework.desk import Desk
from bot.casework.freshness import quotes_at_head
from bot.casework.offline import OfflineInvestigator
from bot.casework.orchestrator import Orchestrator
from bot.casework.recovery import recover
from bot.casework.replies import Replies
from bot.casework.rounds import Rounds
from bot.casework.runs import RunRecorder
from bot.casework.validator import CodeValidator
from bot.domain.jobs import Job
from bot.domain.links import code_links
from bot.errors import ConfigError, ProviderError
from bot.intake.classifier import Rules
from bot.intake.normalise import Identity
from bot.intake.watcher import Watcher
from bot.settings import Environment, Settings, require_tokens
from bot.worker import WorkerPool
from handlers.approvals import Approvals
from handlers.commands import Commands
from handlers.commands.status import status_command
from handlers.messenger import SlackMessenger, ephemeral
from handlers.routes import Listeners, bolt_app
from handlers.transport import posting_client, repeatable_client, translated
from handlers.workspace import SlackWorkspace

log = logging.getLogger(__name__)

PING_INTERVAL_S = 3
CLAIM_WAIT_S = 1.0

Progress = Callable[[int, int], None]


class Triage:
    """The whole bot over one data directory and one workspace.

    Raises:
        ConfigError: tokens, config or codebase cannot be used, or another triage runs on this home.
        ProviderError: Slack refused the tokens or cannot be reached.
        StoreError: the data directory cannot be used.
    """

    def __init__(self, settings: Settings, environment: Environment, *, on_progress: Progress | None = None) -> None:
        bot_token, app_token = require_tokens(environment)
        home = environment.home
        self._lock = HomeLock(home)
        self._clock = SystemClock()
        self.repo = GitRepo(settings.codebase)
        self.repo.head()
        client = repeatable_client(bot_token, environment.slack_api_url)
        self.me = _identify(client)
        self._messenger = SlackMessenger(
            client,
            posting_client(bot_token, environment.slack_api_url),
            ops_channel=settings.ops_channel,
            bot_user_id=self.me.user_id,
            link_to=code_links(self.repo.remote_url()),
        )
        self._jobs = SpoolQueue(
            home / "queue", self._clock, max_running=settings.max_concurrent_sessions, wait_s=CLAIM_WAIT_S
        )
        self._store = TinyThreadStore(home)
        self.index = CodePassages(self.repo, home / "index" / "passages.sqlite")
        self._events = NdjsonJournal(home / "events.ndjson")
        self._desk = self._furnish(settings, home, SlackWorkspace(client, team_id=self.me.team_id))
        self._replies = Replies(self._desk)
        listeners = self._listen(settings, home, client)
        self.watcher = listeners.watcher
        self._workers = WorkerPool(
            self._jobs,
            self._orchestrator(settings, home).handle,
            threads=settings.max_concurrent_sessions,
            on_given_up=self._given_up,
        )
        self._socket = SocketModeHandler(
            bolt_app(bot_token, environment.slack_api_url, self.me, listeners),
            app_token,
            web_client=WebClient(token=app_token, base_url=environment.slack_api_url),
            ping_interval=PING_INTERVAL_S,
        )
        self.indexed = self.index.refresh(on_progress)
        if not self.indexed.files:
            raise ConfigError(f"codebase: {self.repo.root} has no text file committed; there is nothing to quote")

    def start(self) -> None:
        """Settle what the last run left, then take work and listen."""
        self._report_damage()
        for problem in recover(self._desk, self._replies):
            self.tell_ops(f"A thread could not be settled after the restart: {problem}")
        self.watcher.start()
        self._workers.start()
        with translated("open the Socket Mode connection"):
            self._socket.connect()

    def stop(self) -> None:
        """Stop listening, finish or hand back what runs, release the home; takes at most about 10 s."""
        _close(self._socket)
        self.watcher.stop()
        self._workers.stop()
        self._lock.release()

    def tell_ops(self, text: str) -> None:
        """Say a line in the ops channel, or in the log where that fails."""
        log.warning(text, extra={"action": "ops_told"})
        with suppress(ProviderError):
            self._messenger.tell_ops(text)

    def _furnish(self, settings: Settings, home: Path, workspace: SlackWorkspace) -> Desk:
        replies = NdjsonJournal(home / "replies.ndjson")
        return Desk(
            settings=settings,
            store=self._store,
            jobs=self._jobs,
            messenger=self._messenger,
            workspace=workspace,
            memory=MemoryNotes(home / "memory", replies),
            replies=replies,
            clock=self._clock,
        )

    def _listen(self, settings: Settings, home: Path, client: WebClient) -> Listeners:
        approvers = Approvers(
            settings.approvers,
            ops_channel=settings.ops_channel,
            team_id=self.me.team_id,
            workspace=self._desk.workspace,
        )
        decisions = Decisions(self._desk, self._replies, quotes_at_head(settings.codebase))
        watcher = Watcher(
            settings,
            self.me,
            rules=Rules(**{**settings.classifier.model_dump(), "bot_id": self.me.user_id}),
            events=self._events,
            classified=NdjsonJournal(home / "events-classified.ndjson"),
            store=self._store,
            jobs=self._jobs,
            clock=self._clock,
            on_trouble=self.tell_ops,
        )
        approvals = Approvals(
            decisions, approvers, self._store, ops_channel=settings.ops_channel, tell=ephemeral(client)
        )
        commands = Commands({"status": ("what waits, what runs", status_command(home, approvers, self._clock))})
        return Listeners(watcher=watcher, approvals=approvals, commands=commands)

    def _orchestrator(self, settings: Settings, home: Path) -> Orchestrator:
        runs = RunRecorder(home / "runs", self._clock)
        rounds = Rounds(
            self._desk,
            OfflineInvestigator(self.repo, self.index),
            CodeValidator(settings.codebase, home / "memory", runs, self._clock),
            runs,
        )
        return Orchestrator(self._desk, rounds, bot_user_id=self.me.user_id)

    def _report_damage(self) -> None:
        for path in (*self._store.corrupt, *self._jobs.corrupt):
            self.tell_ops(f"A file could not be read and was set aside as {path.name}; nothing in it was lost.")
        for job in self._jobs.given_up:
            self._given_up(job)
        if self._events.bad_lines:
            self.tell_ops(f"{self._events.bad_lines} unreadable lines in events.ndjson were skipped.")

    def _given_up(self, job: Job) -> None:
        why = job.failures[-1] if job.failures else "the bot died while it ran"
        self.tell_ops(f"Gave up on a job for {job.key} after {job.attempts} attempts: {why}. It lies in queue/failed/.")


def _close(handler: SocketModeHandler) -> None:
    """Close at once; `close` alone waits for the reader, which looks up from the socket every 3 s only."""
    client = handler.client
    client.auto_reconnect_enabled = False
    session = client.current_session
    if session is not None and session.sock is not None:
        with suppress(OSError):
            session.sock.shutdown(socket.SHUT_RDWR)
    handler.close()


def _identify(client: WebClient) -> Identity:
    with translated("recognise the bot's token"):
        answer = client.auth_test()
    return Identity(team_id=answer["team_id"], user_id=answer["user_id"], bot_id=answer.get("bot_id"))
