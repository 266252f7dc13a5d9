"""What everything of one team stands on: the stores of its data directory, its ops channel and its approvers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.search.note_index import FileNoteIndex
from bot.adapters.storage.files.atomic_write import create_folder
from bot.casework.acknowledgements import Acknowledgements
from bot.casework.approvers import Approvers
from bot.casework.card_marks import FeedbackCounts, lesson_offers
from bot.casework.fixes.patch_codebases import PatchCodebases
from bot.casework.ops_channel import OpsLines, OpsOutbox
from bot.casework.pause import PauseSwitch
from bot.casework.reports.metrics_report import MetricsService
from bot.casework.reports.rollups import Rollups
from bot.casework.thread_service import ThreadService
from bot.composition.codebases import TeamCode
from bot.composition.fix_services import KnownFixes, know_fixes
from bot.composition.process_services import ProcessServices, SlackAccess, open_storage, set_aside_line
from bot.config.environment import Environment
from bot.config.settings import Settings
from bot.domain.citations.links import LinkTo
from bot.domain.questions.feedback import Feedback
from bot.errors import ConfigError
from bot.intake.classifier.classification import Rules
from bot.ports import Clock, JobQueue, Leases, NoteStore, Store
from bot.ports.collections import (
    ACKNOWLEDGEMENTS,
    CARDS_SHOWN,
    FEEDBACK,
    FIXES,
    REPLIES,
    Collection,
    SingleDocument,
)
from bot.ports.replicas import Replicas
from bot.ports.threads import Threads
from handlers.answers import ephemeral
from handlers.buttons.decision_handler import Say, say_beside
from handlers.cards.asker_chat import SlackAskerChat
from handlers.cards.messenger import CardFacts, SlackMessenger
from handlers.ops_channel import Ask, ops_questions
from handlers.transport.startup_retry import patiently

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """What earlier answers left: the notes, and the index that searches them."""

    notes: NoteStore
    index: FileNoteIndex


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedServices:
    """The ground floor of one team's casework, heartbeats and edge; `environment.home` is its own data directory."""

    team: str
    settings: Settings
    environment: Environment
    clock: Clock
    code: TeamCode
    slack: SlackAccess
    memory: Memory
    storage: Store
    store: Threads
    jobs: JobQueue
    leases: Leases | None
    replicas: Replicas | None
    pausing: PauseSwitch
    desk: ThreadService
    approvers: Approvers
    ops: OpsOutbox
    fixes: KnownFixes
    feedback: Collection[Feedback]
    metrics: MetricsService

    def single(self, collection: str) -> SingleDocument:
        """Return the one document of a collection; one that cannot be read is set aside and told of."""
        return SingleDocument(
            self.storage.documents, collection, on_damage=lambda where: self.ops.note(set_aside_line(where))
        )

    @property
    def home(self) -> Path:
        """The team's data directory."""
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


def open_shared_services(process: ProcessServices, team: str, settings: Settings) -> SharedServices:
    """Open what one team has for itself, in its own data directory.

    Raises:
        ConfigError: the ops channel is not private.
        ProviderError: Slack refused the ops channel; while it cannot be reached it is waited for.
        StoreError: the data directory cannot be used.
    """
    clock, slack, code = process.clock, process.slack, process.code.of_team(settings)
    noted = OpsLines(clock)
    environment = process.environment.of_team(team)
    create_folder(environment.home.parent)
    create_folder(environment.home)
    storage = _storage(process, environment.home, noted)
    notes, store = storage.notes, Threads(storage.documents)
    memory = Memory(notes=notes, index=FileNoteIndex(notes, storage.journal(REPLIES), code.staleness.stale))
    jobs = process.engine.jobs(
        environment.home, clock, max_running=process.settings.max_concurrent_sessions, changed=process.jobs_changed
    )
    pausing = PauseSwitch(storage.documents, clock)
    leases = process.engine.leases(environment.home) if process.engine.is_shared else None
    wanted = Collection(storage.documents, FIXES, on_damage=lambda where: noted.append(set_aside_line(where)))
    patched = PatchCodebases(code.codebases, lambda chat_id: desk.codebases.picked(chat_id))
    fixes = know_fixes(settings, environment, process.code, patched, wanted)
    feedback = Collection(storage.documents, FEEDBACK, on_damage=lambda where: noted.append(set_aside_line(where)))
    messenger = _messenger(settings, slack, code.link_to, pausing, notes, fixes, FeedbackCounts(feedback))
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
        shown=Collection(storage.documents, CARDS_SHOWN, on_damage=lambda where: noted.append(set_aside_line(where))),
        leases=leases,
        known_secrets=environment.secrets(),
        chat_ahead=slack.clock.ahead,
    )
    patiently(lambda: _refuse_public_ops_channel(desk))
    return SharedServices(
        team=team,
        settings=settings,
        environment=environment,
        clock=clock,
        code=code,
        slack=slack,
        memory=memory,
        storage=storage,
        store=store,
        jobs=jobs,
        leases=leases,
        replicas=process.engine.replicas,
        pausing=pausing,
        desk=desk,
        approvers=Approvers(
            settings.approvers, ops_channel=settings.ops_channel, team_id=slack.me.team_id, workspace=slack.workspace
        ),
        ops=OpsOutbox(messenger, noted),
        fixes=fixes,
        feedback=feedback,
        metrics=MetricsService(storage, Rollups(storage), clock, baseline_reply_s=settings.baseline_reply_s),
    )


def _storage(process: ProcessServices, home: Path, noted: OpsLines) -> Store:
    """Return the store of a team's directory: the process's own where that is it, for each keeps what it has read."""
    if home == process.environment.home.resolve():
        return process.storage
    return open_storage(process.engine, home, noted)


def _messenger(
    settings: Settings,
    slack: SlackAccess,
    link_to: LinkTo,
    pausing: PauseSwitch,
    notes: NoteStore,
    fixes: KnownFixes,
    votes: FeedbackCounts,
) -> SlackMessenger:
    facts = CardFacts(
        link_to=link_to,
        team_language=settings.team_language,
        offers_notes=settings.save_notes == "ask",
        paused=pausing.words,
        lesson=lesson_offers(notes, switched_on=settings.save_notes != "never"),
        pages=paged(settings),
        fixes=fixes.marks(),
        votes=votes,
    )
    return SlackMessenger(
        slack.client,
        slack.poster,
        slack.publisher,
        ops_channel=settings.ops_channel,
        bot_user_id=slack.me.user_id,
        facts=facts,
        asks_feedback=settings.feedback,
    )


def _asker(settings: Settings, slack: SlackAccess, storage: Store, store: Threads, noted: OpsLines) -> Acknowledgements:
    """Return what tells askers that their questions are looked into."""
    return Acknowledgements(
        store,
        Collection(storage.documents, ACKNOWLEDGEMENTS, on_damage=lambda where: noted.append(set_aside_line(where))),
        SlackAskerChat(slack.client, slack.reactions),
        noted.clock,
        mode=settings.acknowledge,
        say=noted.append,
    )


def paged(settings: Settings) -> tuple[str, ...]:
    """Return whom a page mentions: the listed approvers, else everybody in the ops channel."""
    return settings.approvers or ("channel",)


def _refuse_public_ops_channel(desk: ThreadService) -> None:
    channel = desk.settings.ops_channel
    if not desk.workspace.channel(channel).is_private:
        raise ConfigError(f"ops_channel: {channel} is not private; everybody could read the drafts. Name a private one")
