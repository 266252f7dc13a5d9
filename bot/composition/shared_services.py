"""Opens what all services of one team share: the stores of its data directory, its ops channel and its approvers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from blocks.cards.draft_card import CardFacts
from bot.adapters.process.clocks import local_zone
from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.storage.files.atomic_write import create_folder
from bot.casework.acknowledgements import Acknowledgements
from bot.casework.approvers import Approvers
from bot.casework.card_marks import FeedbackCounts
from bot.casework.checks.staleness import stale_citations
from bot.casework.fixes.patch_check import PatchCodebases
from bot.casework.ops_channel import OpsLines, OpsOutbox
from bot.casework.pause import PauseSwitch
from bot.casework.reports.metrics_report import MetricsService
from bot.casework.reports.rollups import Rollups
from bot.casework.thread_service import ThreadService
from bot.composition.fix_services import KnownFixes
from bot.composition.process_services import ProcessServices, open_storage, set_aside_line
from bot.config.settings import Settings
from bot.domain.hours import ActiveHours
from bot.errors import ConfigError
from bot.intake.classifier import Rules
from bot.ports import Messenger
from bot.ports.collections import (
    ACKNOWLEDGEMENTS,
    CARDS_SHOWN,
    FEEDBACK,
    FIXES,
    REPLIES,
    Collection,
    CollectionSpec,
    Model,
    SingleDocument,
)
from bot.ports.threads import Threads
from handlers.answers import SlackAskerChat, ephemeral
from handlers.buttons.decision_handler import Say, say_beside
from handlers.cards.messenger import SlackMessenger
from handlers.ops_channel import OpsQuestions
from handlers.transport.slack_clients import patiently

log = logging.getLogger(__name__)


class SharedServices:
    """What one team's casework, heartbeats and Slack handlers all need; `environment.home` is its own data directory.

    Raises:
        ConfigError: the ops channel is not private.
        ProviderError: Slack refused the ops channel; while it cannot be reached it is waited for.
        StoreError: the data directory cannot be used.
    """

    def __init__(self, process: ProcessServices, team: str, settings: Settings) -> None:
        self.team, self.settings, self.clock, self.slack = team, settings, process.clock, process.slack
        self.environment, self.code = process.environment.of_team(team), process.code.of_team(settings)
        self.home, self.ops_channel = self.environment.home, settings.ops_channel
        lines = OpsLines(self.clock)
        self._open_storage(process, lines)
        replies, is_stale = self.storage.journal(REPLIES), partial(stale_citations, self.code.codebases)
        self.note_index = WordNoteIndex(self.storage.notes, replies, is_stale)
        self.pausing = PauseSwitch(self.storage.documents, self.clock)
        patched = PatchCodebases(self.code.codebases, lambda state: self.service.codebases.picked(state))
        self.fixes = KnownFixes(settings, self.environment, process.code, patched, self.collection(FIXES))
        self.feedback = self.collection(FEEDBACK)
        self.card_facts = self._card_facts()
        messenger = self._messenger()
        self.ops = OpsOutbox(messenger, lines)
        self.service = self._threads(messenger)
        patiently(self._refuse_public_ops_channel)
        self.approvers = Approvers(
            settings.approvers,
            ops_channel=self.ops_channel,
            team_id=self.slack.me.team_id,
            workspace=self.slack.workspace,
        )
        slack = self.slack
        self.questions = OpsQuestions(
            slack.poster,
            slack.workspace,
            self.jobs,
            self.clock,
            team_id=slack.me.team_id,
            ops_channel=self.ops_channel,
        )
        baseline_reply_s = settings.baseline_reply_s
        self.metrics = MetricsService(
            self.storage, Rollups(self.storage), self.clock, baseline_reply_s=baseline_reply_s
        )

    def collection(self, spec: CollectionSpec[Model]) -> Collection[Model]:
        """Return a collection; of what cannot be read the ops channel hears."""
        return Collection(self.storage.documents, spec, on_damage=self.note_damage)

    def single(self, collection: str) -> SingleDocument:
        """Return the one document of a collection; one that cannot be read is set aside and told of."""
        return SingleDocument(self.storage.documents, collection, on_damage=self.note_damage)

    def rules(self) -> Rules:
        """Return the rules that sort messages."""
        return Rules(**{**self.settings.classifier.model_dump(), "bot_id": self.slack.me.user_id})

    def zone(self, name: str) -> str:
        """Return the IANA name of a zone of the settings, where `local` is the machine's."""
        return local_zone(self.environment.variables) if name == "local" else name

    def working_hours(self) -> ActiveHours | None:
        """Return when people are at work; None: at any hour."""
        wanted = self.settings.working_hours
        return None if wanted is None else wanted.in_zone(self.zone(wanted.timezone))

    def tell(self) -> Callable[[str, str, str], None]:
        """Return a way to tell one person something only they see."""
        return ephemeral(self.slack.client, self.slack.poster)

    def say(self) -> Say:
        """Return a way to answer a click beside what was clicked."""
        return say_beside(self.tell(), self.ops_channel)

    def _open_storage(self, process: ProcessServices, lines: OpsLines) -> None:
        """Open the team's stores: the process's own where its directory is that, for each keeps what it has read."""
        engine, home = process.engine, self.home
        create_folder(home.parent)
        create_folder(home)
        is_own = home == process.environment.home.resolve()
        self.storage = process.storage if is_own else open_storage(engine, home, lines)
        self.store, self.replicas = Threads(self.storage.documents), engine.replicas
        self.jobs = engine.jobs(home, self.clock, changed=process.jobs_changed)
        self.leases = engine.leases(home) if engine.is_shared else None

    def note_damage(self, where: str) -> None:
        """Have the ops channel hear that something was set aside."""
        self.ops.note(set_aside_line(where))

    def _card_facts(self) -> CardFacts:
        settings = self.settings
        return CardFacts(
            link_to=self.code.link_to,
            team_language=settings.team_language,
            paused=self.pausing.words,
            pages=lambda: self.approvers.paged,
            fixes=self.fixes.marks(),
            votes=FeedbackCounts(self.feedback),
        )

    def _messenger(self) -> SlackMessenger:
        slack = self.slack
        return SlackMessenger(
            slack.poster,
            ops_channel=self.ops_channel,
            bot_user_id=slack.me.user_id,
            facts=self.card_facts,
            asks_feedback=self.settings.feedback,
        )

    def _threads(self, messenger: Messenger) -> ThreadService:
        asker = Acknowledgements(
            self.store,
            self.collection(ACKNOWLEDGEMENTS),
            SlackAskerChat(self.slack.client, self.slack.poster),
            self.clock,
            mode=self.settings.acknowledge,
            say=self.ops.lines.append,
        )
        return ThreadService(
            settings=self.settings,
            store=self.store,
            jobs=self.jobs,
            messenger=messenger,
            workspace=self.slack.workspace,
            attachments=self.slack.attachments,
            memory=self.note_index,
            replies=self.storage.journal(REPLIES),
            clock=self.clock,
            asker=asker,
            shown=self.collection(CARDS_SHOWN),
            leases=self.leases,
            known_secrets=self.environment.secrets(),
            chat_ahead=self.slack.clock.ahead,
        )

    def _refuse_public_ops_channel(self) -> None:
        if not self.slack.workspace.channel(self.ops_channel).is_private:
            raise ConfigError(
                f"ops_channel: {self.ops_channel} is not private; everybody could read the drafts. Name a private one"
            )
