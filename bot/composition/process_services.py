"""What the process has once, for all its teams: the data directory, the workspace, the code."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from slack_sdk import WebClient

from bot.adapters.process.clocks import ChatClock, SharedClock
from bot.adapters.storage.files.atomic_write import set_aside_non_files, set_aside_non_folders
from bot.adapters.storage.files.file_documents import ALL_COLLECTIONS
from bot.casework.ops_channel import OpsLines, ProcessLines
from bot.composition.codebases import ProcessCode, open_process_code
from bot.config.environment import Environment
from bot.config.settings import Settings
from bot.intake.normalise import Identity
from bot.ports import Clock, Engine, Store
from bot.ports.collections import (
    CLASSIFIED,
    CLONES,
    EVENTS,
    INDEX,
    REPLIES,
    SingleDocument,
)
from bot.ports.migrations import refuse_newer
from bot.ports.names import NameBook
from handlers.cards.publisher import CardPublisher
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import RateLimiter, RateLimits
from handlers.transport.slack_clients import (
    date_of,
    patient_client,
    patiently,
    posting_client,
    repeatable_client,
    translate_slack_errors,
)
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
    "proposals",
    "runs",
    "sessions",
    "slack",
    "suggestions",
    "wakes",
)
"""Likewise; `state`, `queue` and the journals hold the truth for all, and without them the bot does not start."""
DONE: Final = (EVENTS, CLASSIFIED, REPLIES)
"""The journals that say what was done already: without one of them, it would be done again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackAccess:
    """The clients of one workspace; `client` may repeat itself, `patient` waits for
    nobody, `posting` does not repeat itself, `poster` keeps the pace as well."""

    me: Identity
    client: WebClient
    patient: WebClient
    posting: WebClient
    poster: Poster
    publisher: CardPublisher
    reactions: RateLimiter
    workspace: SlackWorkspace
    clock: ChatClock

    def check_clock(self) -> None:
        """Compare this machine's clock with Slack's; raises ProviderError where Slack does not tell its time."""
        with translate_slack_errors("tell its time"):
            self.clock.note(date_of(self.patient.auth_test().headers))


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessServices:
    """What all teams of one process share; `storage` is that of the process's own data directory.

    `noted` takes lines about the process itself, for every team's ops channel; `jobs_changed` is notified of every
    new job of any team.
    """

    settings: Settings
    environment: Environment
    clock: SharedClock
    engine: Engine
    storage: Store
    code: ProcessCode
    slack: SlackAccess
    noted: ProcessLines
    jobs_changed: threading.Condition

    def keep_time(self) -> timedelta:
        """Use the time of the database that replicas share; return how far this clock is ahead. Raises StoreError."""
        return _keep_time(self.engine, self.clock, self.noted)

    def single(self, collection: str, *, of_machine: bool = False) -> SingleDocument:
        """Return the one document of a collection of the process; one that cannot be read is set aside and told of."""
        documents = self.storage.machine if of_machine else self.storage.documents
        return SingleDocument(documents, collection, on_damage=lambda where: self.noted.append(set_aside_line(where)))


def open_process_services(
    settings: Settings, environment: Environment, engine: Engine, bot_token: str, clock: Clock
) -> ProcessServices:
    """Open the data directory and the code, and reach the workspace.

    Raises:
        ConfigError: the codebase is none, or holds no commit or no text file.
        ProviderError: Slack refused the token; while it cannot be reached it is waited for.
        StoreError: the data directory cannot be used.
    """
    time = SharedClock(clock)
    noted = ProcessLines(time)
    _keep_time(engine, time, noted)
    storage = open_storage(engine, environment.home, noted)
    code = open_process_code(settings, environment, storage, time, say=noted.append_of)
    names = NameBook(storage.documents)
    for team in settings.by_team().values():
        for chat in team.watched_chats:
            names.learn(chat.chat_id, chat.name)
    pacing = RateLimits(posts_per_second=settings.slack.posts_per_second, shared=engine.pace)
    return ProcessServices(
        settings=settings,
        environment=environment,
        clock=time,
        engine=engine,
        storage=storage,
        code=code,
        slack=_open_slack(environment, bot_token, pacing, names, time, ChatClock(time, noted.append)),
        noted=noted,
        jobs_changed=threading.Condition(),
    )


def _keep_time(engine: Engine, clock: SharedClock, noted: ProcessLines) -> timedelta:
    ahead = engine.replicas.ahead(clock.machine) if engine.replicas is not None else None
    if ahead is not None and (line := clock.correct(ahead)):
        noted.append(line)
    return clock.ahead


def open_storage(engine: Engine, home: Path, noted: OpsLines | ProcessLines) -> Store:
    """Open a data directory; what the bot can start without is set aside where it cannot be used."""
    storage = engine.store(home)
    refuse_newer(storage.documents, ALL_COLLECTIONS)
    refuse_newer(storage.machine, (INDEX, CLONES))
    for name in DONE:
        storage.journal(name).require_readable()
    moved = set_aside_non_folders(home / name for name in REPLACEABLE_FOLDERS)
    for path in (*moved, *set_aside_non_files(home / name for name in REPLACEABLE)):
        noted.append(set_aside_line(path))
    return storage


def _open_slack(
    environment: Environment, bot_token: str, pacing: RateLimits, names: NameBook, clock: Clock, chat_clock: ChatClock
) -> SlackAccess:
    client, posting = (make(bot_token, environment.slack_api_url) for make in (repeatable_client, posting_client))
    me = patiently(lambda: _identify(client, chat_clock))
    poster = Poster(posting, pacing.posts, reader=client, clock=clock)
    return SlackAccess(
        me=me,
        client=client,
        patient=patient_client(bot_token, environment.slack_api_url),
        posting=posting,
        poster=poster,
        publisher=CardPublisher(client, poster, pacing.updates),
        reactions=pacing.reactions,
        workspace=SlackWorkspace(
            client, team_id=me.team_id, bot_user_id=me.user_id, enterprise_id=me.enterprise_id, names=names
        ),
        clock=chat_clock,
    )


def _identify(client: WebClient, chat_clock: ChatClock) -> Identity:
    with translate_slack_errors("recognise the bot's token"):
        said = client.auth_test()
        chat_clock.note(date_of(said.headers))
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
