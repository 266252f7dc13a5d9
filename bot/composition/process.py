"""Builds what a process has once, for all its teams: the data directory, the state, Slack's clients, the codebases.

Builds the process's one line to Slack, for all its teams: Socket Mode or HTTP.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from slack_sdk import WebClient

from bot.adapters.clocks import ChatClock, shared_clock
from bot.adapters.storage.files.atomic_write import set_aside_all_but
from bot.adapters.storage.files.file_documents import ALL_COLLECTIONS
from bot.adapters.storage.files.file_leases import FileLeases
from bot.casework.ops_channel import OpsLines, ProcessLines
from bot.composition.codebases import open_process_code
from bot.composition.storage_engine import open_engine
from bot.composition.team_homes import hand_over, refuse_renamed
from bot.config.environment import Environment
from bot.config.settings import Settings
from bot.intake.normalise import Identity
from bot.ports import Clock, Engine, Store
from bot.ports.collections import (
    CLASSIFIED,
    CLONES,
    EVENTS,
    HOME,
    INDEX,
    PRESENCE,
    REPLIES,
    THREADS,
    SingleDocument,
)
from bot.ports.migrations import refuse_newer
from bot.ports.system import Role
from handlers.direct_messages import NativeSigns
from handlers.home import HomeTab
from handlers.routes import bolt_app
from handlers.team_router import TeamRouter
from handlers.transport.attachments import SlackAttachments
from handlers.transport.connection import Connection, OnGap
from handlers.transport.name_book import NameBook
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import POSTS_PER_SECOND, RateLimiter
from handlers.transport.slack_clients import (
    brief_client,
    header_of,
    history_client,
    patiently,
    posting_client,
    repeatable_client,
    translate_slack_errors,
)
from handlers.transport.socket_connection import CONNECT_TIMEOUT_S, SocketConnection, socket_client
from handlers.transport.workspace import SlackWorkspace

REPLACEABLE: Final = (
    "paused.json",
    "overrides.json",
    "index/passages.sqlite",
    "reminders.ndjson",
    "heartbeats.ndjson",
    "spend.ndjson",
)
"""Files without which the bot can start; what else stands in the place of one is set aside."""

REPLACEABLE_FOLDERS: Final = (
    "acknowledgements",
    "auto_replies",
    "cards",
    "codebases",
    "fixes",
    "index",
    "runs",
    "sessions",
    "slack",
    "suggestions",
    "wakes",
)
"""Likewise; `state`, `queue` and the journals hold the truth for all, and without them the bot does not start."""

Say = Callable[[str], None]
STOP_TIMEOUT_S: Final = 3
STOP_POST_TIMEOUT_S: Final = 10
NO_THREAD: Final = "none"
"""What was archived of it is nothing: asking for it shows only whether the archive can be read."""

DONE: Final = (EVENTS, CLASSIFIED, REPLIES)
"""The journals that say what was done already: without one of them, it would be done again."""


class SlackAccess:
    """The clients of one workspace.

    `client` repeats failed requests and waits a little for rate limits, `history_client` as long as they ask,
    `posting` sends nothing twice; `poster` keeps to Slack's rates as well.
    """

    def __init__(
        self, environment: Environment, bot_token: str, names: NameBook, limiter: RateLimiter, clock: Clock, say: Say
    ) -> None:
        makers = (repeatable_client, history_client, posting_client)
        self.client, self.history_client, self.posting = (make(bot_token, environment.slack_api_url) for make in makers)
        self.clock = ChatClock(clock, say)
        self.me = me = patiently(lambda: _identify(self.client, self.clock))
        self.poster = Poster(self.client, posting=self.posting, limiter=limiter, clock=clock)
        self.signs = NativeSigns(self.client)
        self.workspace = SlackWorkspace(
            self.client, team_id=me.team_id, bot_user_id=me.user_id, enterprise_id=me.enterprise_id, names=names
        )
        self.attachments = SlackAttachments(self.client)

    def hurry(self) -> None:
        """Wait little for a Slack that does not answer in what begins from now on: the bot stops."""
        for client in (self.client, self.history_client):
            client.timeout, client.retry_handlers = STOP_TIMEOUT_S, []
        self.posting.timeout = STOP_POST_TIMEOUT_S

    def check_clock(self) -> None:
        """Compare this machine's clock with Slack's; raises ProviderError where Slack does not tell its time."""
        with translate_slack_errors("tell its time"):
            self.clock.note(header_of(self.client.auth_test().headers, "date"))


class Process:
    """What a process has once; `lease` keeps other processes from its data directory, whose `storage` this is.

    `noted` takes lines about the process itself, for every team's ops channel; `jobs_changed` is notified of every
    new job of any team; `time_scale` is that of all its tickers, and of the pauses between posts. No thread of ours
    runs yet.

    Raises:
        ConfigError: a codebase is none, or holds no commit or no text file; another triage runs on this home.
        ProviderError: Slack refused the token; while it cannot be reached it is waited for.
        StoreError: the data directory or the database cannot be used.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Environment,
        role: Role,
        bot_token: str,
        clock: Clock,
        *,
        time_scale: float = 1.0,
    ) -> None:
        self.settings, self.environment, self.time_scale = settings, environment, time_scale
        home, self.jobs_changed = environment.home, threading.Condition()
        self.lease = FileLeases(home).take(HOME)
        self.engine = engine = open_engine(environment, role)
        handed_over = hand_over(engine, home, settings)
        refuse_renamed(home, settings, engine)
        self.clock = shared_clock(clock)
        self.noted = noted = ProcessLines(self.clock)
        self.keep_time()
        self.storage = open_storage(engine, home, noted)
        self.code = open_process_code(settings, environment, self.storage, self.clock, say=noted.append_of)
        names = NameBook(self.storage.documents)
        for chat in (chat for team in settings.by_team().values() for chat in team.watched_chats):
            names.learn(chat.chat_id, chat.name)
        limiter = RateLimiter(engine.pace, posts_per_second=POSTS_PER_SECOND / time_scale)
        self.slack = SlackAccess(environment, bot_token, names, limiter, self.clock, noted.append)
        for line in filter(None, (handed_over, "\n".join(settings.removed_keys))):
            noted.append(line)

    def keep_time(self) -> timedelta:
        """Use the time of the database that replicas share; return how far this clock is ahead. Raises StoreError."""
        replicas, clock = self.engine.replicas, self.clock
        ahead = replicas.ahead(clock.machine) if replicas is not None else None
        if ahead is not None and (line := clock.correct(ahead)):
            self.noted.append(line)
        return clock.ahead

    def single(self, collection: str, *, of_machine: bool = False) -> SingleDocument:
        """Return the one document of a collection of the process; one that cannot be read is set aside and told of."""
        documents = self.storage.machine if of_machine else self.storage.documents
        return SingleDocument(documents, collection, on_damage=lambda where: self.noted.append(set_aside_line(where)))


def open_storage(engine: Engine, home: Path, noted: OpsLines | ProcessLines) -> Store:
    """Open a data directory; what the bot can start without is set aside where it cannot be used."""
    storage = engine.store(home)
    refuse_newer(storage.documents, ALL_COLLECTIONS)
    refuse_newer(storage.machine, (INDEX, CLONES))
    for name in DONE:
        next(storage.journal(name).newest_first(), None)
    storage.documents.archived(THREADS.name, NO_THREAD)
    moved = set_aside_all_but((home / name for name in REPLACEABLE_FOLDERS), Path.is_dir)
    for path in (*moved, *set_aside_all_but((home / name for name in REPLACEABLE), Path.is_file)):
        noted.append(set_aside_line(path))
    return storage


def _identify(client: WebClient, chat_clock: ChatClock) -> Identity:
    with translate_slack_errors("recognise the bot's token"):
        said = client.auth_test()
        chat_clock.note(header_of(said.headers, "date"))
        answer: dict[str, Any] = dict(said.data)  # type: ignore[arg-type]  # bytes for files only
        return Identity(
            team_id=answer["team_id"],
            user_id=answer["user_id"],
            bot_id=answer.get("bot_id"),
            enterprise_id=answer.get("enterprise_id"),
        )


def set_aside_line(where: Path | str) -> str:
    """Return what the ops channel is told of something that could not be read."""
    return f"{where} was set aside: what it held could not be read. The rest works as before."


def connect_to_slack(
    process: Process,
    router: TeamRouter,
    home: HomeTab,
    executor: Executor,
    *,
    ear_secret: str | None,
    on_gap: OnGap,
) -> Connection:
    """Return the process's one line to Slack, for all teams; `ear_secret` is the app token, or the signing secret.

    None: this process has no line.
    """
    clock, slack = process.clock, process.settings.slack
    of_machine = process.single(PRESENCE, of_machine=True)
    if ear_secret is None:
        return Connection([of_machine], clock, on_gap, hears=False)
    places = [process.single(PRESENCE), *([of_machine] if process.engine.is_shared else [])]
    bolt = bolt_app(process.slack.client, process.slack.me, router, home, executor)
    if slack.mode == "socket":
        web_client = brief_client(ear_secret, process.environment.slack_api_url, timeout_s=CONNECT_TIMEOUT_S)
        return SocketConnection(bolt, socket_client(bolt, web_client), places, clock, on_gap)
    from handlers.transport.http_app import Signatures
    from handlers.transport.http_connection import (
        HttpConnection,
        HttpServer,  # takes 50 ms and 3 MB to import
    )

    host, port = slack.listens_on
    server = HttpServer(host=host, port=port)
    return HttpConnection(bolt, Signatures(ear_secret, clock), server, places, clock, on_gap)
