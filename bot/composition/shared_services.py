"""What everything else stands on: the stores of one data directory, the clients of one workspace, and the desk."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from slack_sdk import WebClient

from blocks.cards.draft_card import LinkTo
from bot.adapters.process.chat_clock import ChatClock
from bot.adapters.search.index_process import IndexProcess
from bot.adapters.search.note_index import FileNoteIndex
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.adapters.storage.files.atomic_write import set_aside_non_files, set_aside_non_folders
from bot.adapters.storage.files.file_store import FileStore
from bot.adapters.storage.files.note_files import NoteFiles
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.agent.git.git_repo import GitRepo
from bot.casework.acknowledgements import Acknowledgements
from bot.casework.approvers import Approvers
from bot.casework.checks.citation_staleness import CitationStaleness
from bot.casework.memory.lesson_notes import lesson_offers
from bot.casework.ops_outbox import OpsLines, OpsOutbox
from bot.casework.pause import PauseSwitch
from bot.casework.reports.metrics_service import MetricsService
from bot.casework.reports.rollups import Rollups
from bot.casework.thread_service import ThreadService
from bot.config.environment import Environment
from bot.config.settings import Settings
from bot.domain.citations.links import CodeHost, code_links
from bot.domain.returns import EvidenceRef
from bot.domain.search.file_kinds import is_indexed
from bot.errors import CodebaseUnreadable, ConfigError, ProviderError
from bot.intake.classifier.classification import Rules
from bot.intake.normalise import Identity
from bot.ports import Clock
from bot.ports.collections import (
    ACKNOWLEDGEMENTS,
    ALL_COLLECTIONS,
    CARDS_SHOWN,
    CLASSIFIED,
    EVENTS,
    REPLIES,
    Collection,
    SingleDocument,
)
from bot.ports.migrations import refuse_newer
from bot.ports.names import NameBook
from bot.ports.threads import Threads
from handlers.answers import ephemeral
from handlers.buttons.decision_handler import Say, say_beside
from handlers.cards.asker_chat import SlackAskerChat
from handlers.cards.messenger import SlackMessenger
from handlers.cards.publisher import CardPublisher
from handlers.ops_channel import Ask, ops_questions
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import RateLimiter, RateLimits
from handlers.transport.slack_clients import date_of, posting_client, repeatable_client, translate_slack_errors
from handlers.transport.startup_retry import patiently
from handlers.transport.workspace import SlackWorkspace

CLAIM_WAIT_S = 1.0
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
    "cards",
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

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Codebase:
    """The repository that questions are about, and what is known of it."""

    repo: GitRepo
    index: SqlitePassageIndex
    staleness: CitationStaleness
    link_to: LinkTo


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackAccess:
    """The clients of one workspace; `client` may repeat itself, `posting` may not, `poster` keeps the pace as well."""

    me: Identity
    client: WebClient
    posting: WebClient
    poster: Poster
    publisher: CardPublisher
    reactions: RateLimiter
    workspace: SlackWorkspace
    clock: ChatClock


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """What earlier answers left: the notes, and the index that searches them."""

    notes: NoteFiles
    index: FileNoteIndex


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedServices:
    """The ground floor of casework, heartbeats and the edge."""

    settings: Settings
    environment: Environment
    clock: Clock
    code: Codebase
    slack: SlackAccess
    memory: Memory
    storage: FileStore
    store: Threads
    jobs: SpoolQueue
    pausing: PauseSwitch
    desk: ThreadService
    approvers: Approvers
    ops: OpsOutbox
    metrics: MetricsService

    def single(self, collection: str) -> SingleDocument:
        """Return the one document of a collection; one that cannot be read is set aside and told of."""
        return SingleDocument(
            self.storage.documents, collection, on_damage=lambda where: self.ops.note(_set_aside(where))
        )

    @property
    def home(self) -> Path:
        """The data directory."""
        return self.environment.home

    @property
    def ops_channel(self) -> str:
        """Where drafts wait and the bot speaks of itself."""
        return self.settings.ops_channel

    def rules(self) -> Rules:
        """Return the rules that sort messages."""
        rules = Rules(**{**self.settings.classifier.model_dump(), "bot_id": self.slack.me.user_id})
        if rules.problem:
            log.warning(rules.problem, extra={"action": "weights_unusable"})
        return rules

    def tell(self) -> Callable[[str, str, str], None]:
        """Return a way to tell one person something only they see."""
        return ephemeral(self.slack.client, self.slack.poster)

    def say(self) -> Say:
        """Return a way to answer a click beside what was clicked."""
        return say_beside(self.tell(), self.ops_channel)

    def ask(self) -> Ask:
        """Return a way to ask a question in the ops channel."""
        return ops_questions(self.slack.poster, self.jobs, team_id=self.slack.me.team_id, ops_channel=self.ops_channel)


def open_shared_services(settings: Settings, environment: Environment, bot_token: str, clock: Clock) -> SharedServices:
    """Open the stores and reach the workspace.

    Raises:
        ConfigError: the codebase is none, holds no commit or no text file, or the ops channel is not private.
        ProviderError: Slack refused the token, or the ops channel; while it cannot be reached it is waited for.
        StoreError: the data directory cannot be used.
    """
    home, noted = environment.home, OpsLines(clock)
    storage = _open_storage(home, noted)
    code, notes = _open_codebase(settings, environment), NoteFiles(home / "memory")
    names = NameBook(storage.documents)
    for chat in settings.watched_chats:
        names.learn(chat.chat_id, chat.name)
    slack = _open_slack(settings, environment, bot_token, names, clock, ChatClock(clock, noted.append))
    memory = Memory(notes=notes, index=FileNoteIndex(notes, storage.journal(REPLIES), code.staleness.changed))
    jobs = SpoolQueue(home / "queue", clock, max_running=settings.max_concurrent_sessions, wait_s=CLAIM_WAIT_S)
    store, pausing = Threads(storage.documents), PauseSwitch(storage.documents, clock)
    messenger = _messenger(settings, slack, code.link_to, pausing, notes)
    desk = ThreadService(
        settings=settings,
        store=store,
        jobs=jobs,
        messenger=messenger,
        workspace=slack.workspace,
        memory=memory.index,
        replies=storage.journal(REPLIES),
        clock=clock,
        asker=_asker(settings, slack, storage, store, noted),
        shown=Collection(storage.documents, CARDS_SHOWN, on_damage=lambda where: noted.append(_set_aside(where))),
        known_secrets=environment.secrets(),
        chat_ahead=slack.clock.ahead,
    )
    patiently(lambda: _refuse_public_ops_channel(desk))
    approvers = Approvers(
        settings.approvers, ops_channel=settings.ops_channel, team_id=slack.me.team_id, workspace=slack.workspace
    )
    return SharedServices(
        settings=settings,
        environment=environment,
        clock=clock,
        code=code,
        slack=slack,
        memory=memory,
        storage=storage,
        store=store,
        jobs=jobs,
        pausing=pausing,
        desk=desk,
        approvers=approvers,
        ops=OpsOutbox(messenger, noted),
        metrics=MetricsService(storage, Rollups(storage), clock, baseline_reply_s=settings.baseline_reply_s),
    )


def _open_storage(home: Path, noted: OpsLines) -> FileStore:
    """Open a data directory; what the bot can start without is set aside where it cannot be used."""
    storage = FileStore(home)
    refuse_newer(storage.documents, ALL_COLLECTIONS)
    for name in DONE:
        storage.journal(name).require_readable()
    moved = set_aside_non_folders(home / name for name in REPLACEABLE_FOLDERS)
    for path in (*moved, *set_aside_non_files(home / name for name in REPLACEABLE)):
        noted.append(_set_aside(path))
    return storage


def _open_codebase(settings: Settings, environment: Environment) -> Codebase:
    repo, database = GitRepo(settings.codebase, may_be_damaged=True), environment.home / "index" / "passages.sqlite"
    with suppress(CodebaseUnreadable):  # questions wait until it is mended, and the watch over the index tells of it
        _refuse_empty(repo)
    return Codebase(
        repo=repo,
        index=SqlitePassageIndex(
            repo, database, environment.secrets(), beside=IndexProcess(repo.root, database, environment.secrets())
        ),
        staleness=CitationStaleness(repo),
        link_to=CodeLinks(repo, settings.code_host),
    )


def _refuse_empty(repo: GitRepo) -> None:
    head = repo.head()
    try:
        is_empty = not any(is_indexed(entry.path) for entry in repo.each_entry(head))
    except ProviderError:  # a clone without blobs, or damage
        is_empty = not any(is_indexed(entry.path) for entry in repo.tree(head))
    if is_empty:
        raise ConfigError(f"codebase: {repo.root} has no text file committed; there is nothing to quote")


class CodeLinks:
    """From a citation to its URL; where the codebase was damaged at the start, as soon as git can read it."""

    def __init__(self, repo: GitRepo, host: CodeHost | None) -> None:
        self._repo, self._host = repo, host
        self._known: LinkTo | None = None

    def __call__(self, ref: EvidenceRef) -> str | None:
        """Return the URL; None where there is none."""
        if self._known is None:
            if self._repo.resolve("HEAD") is None:
                return None
            self._known = code_links(self._repo.remote_url(), self._host)
        return self._known(ref)


def _open_slack(
    settings: Settings, environment: Environment, bot_token: str, names: NameBook, clock: Clock, chat_clock: ChatClock
) -> SlackAccess:
    client, posting = (make(bot_token, environment.slack_api_url) for make in (repeatable_client, posting_client))
    me = patiently(lambda: _identify(client, chat_clock))
    pacing = RateLimits(posts_per_second=settings.slack.posts_per_second)
    poster = Poster(posting, pacing.posts, reader=client, clock=clock)
    return SlackAccess(
        me=me,
        client=client,
        posting=posting,
        poster=poster,
        publisher=CardPublisher(client, poster, pacing.updates),
        reactions=pacing.reactions,
        workspace=SlackWorkspace(
            client, team_id=me.team_id, bot_user_id=me.user_id, enterprise_id=me.enterprise_id, names=names
        ),
        clock=chat_clock,
    )


def _messenger(
    settings: Settings, slack: SlackAccess, link_to: LinkTo, pausing: PauseSwitch, notes: NoteFiles
) -> SlackMessenger:
    return SlackMessenger(
        slack.client,
        slack.poster,
        slack.publisher,
        ops_channel=settings.ops_channel,
        bot_user_id=slack.me.user_id,
        link_to=link_to,
        team_language=settings.team_language,
        offers_notes=settings.save_notes == "ask",
        paused=pausing.words,
        lesson=lesson_offers(notes, switched_on=settings.save_notes != "never"),
        pages=paged(settings),
    )


def _asker(
    settings: Settings, slack: SlackAccess, storage: FileStore, store: Threads, noted: OpsLines
) -> Acknowledgements:
    """Return what tells askers that their questions are looked into."""
    return Acknowledgements(
        store,
        Collection(storage.documents, ACKNOWLEDGEMENTS, on_damage=lambda where: noted.append(_set_aside(where))),
        SlackAskerChat(slack.client, slack.reactions),
        noted.clock,
        mode=settings.acknowledge,
        say=noted.append,
    )


def paged(settings: Settings) -> tuple[str, ...]:
    """Return whom a page mentions: the listed approvers, else everybody in the ops channel."""
    return settings.approvers or ("channel",)


def _set_aside(where: Path | str) -> str:
    return f"{where} was set aside: what it held could not be read. The rest works as before."


def _refuse_public_ops_channel(desk: ThreadService) -> None:
    channel = desk.settings.ops_channel
    if not desk.workspace.channel(channel).is_private:
        raise ConfigError(f"ops_channel: {channel} is not private; everybody could read the drafts. Name a private one")


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
