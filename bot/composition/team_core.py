"""Opens what every feature of one team needs: data directory, code, ops channel, approvers, threads.

`environment.home` is the team's own data directory; what all teams share stands in `Process`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from blocks.cards.draft_card import CardFacts
from bot.adapters.process.clocks import local_zone
from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.storage.files.atomic_write import create_folder
from bot.casework.acknowledgements import Acknowledgements
from bot.casework.approvers import Approvers
from bot.casework.card_marks import FeedbackCounts, FixMarks
from bot.casework.checks.sources import stale_citations
from bot.casework.direct_messages import DirectMessages
from bot.casework.fixes.patch_check import PatchCodebases
from bot.casework.ops_channel import OpsLines, OpsOutbox
from bot.casework.pause import PauseSwitch
from bot.casework.posting.reply_proof import posted_proof
from bot.casework.thread_service import ChannelCodebases, ThreadService
from bot.casework.twins import joinable
from bot.composition.code_hosts import CodeHosts
from bot.composition.model_access import runs_long
from bot.composition.process import Process, open_storage, set_aside_line
from bot.config.settings import Settings
from bot.domain.hours import ActiveHours
from bot.errors import ConfigError
from bot.intake.classifier import Rules
from bot.ports import Store, Workspace
from bot.ports.collections import (
    CARDS_SHOWN,
    FEEDBACK,
    REPLIES,
    Collection,
    CollectionSpec,
    Model,
    OnDamage,
    SingleDocument,
)
from bot.ports.feature_collections import ACKNOWLEDGEMENTS, FIXES
from bot.ports.threads import Threads
from handlers.answers import SlackAskerChat
from handlers.cards.live_work import SlackLiveWork
from handlers.cards.messenger import SlackMessenger
from handlers.direct_messages import SlackDirectChat
from handlers.ops_channel import OpsQuestions
from handlers.transport.slack_clients import patiently


class TeamCore:
    """What casework, heartbeats and Slack handlers of one team all need; nothing of it runs yet.

    Raises:
        ConfigError: the ops channel is not private.
        ProviderError: Slack refused the ops channel; while it cannot be reached it is waited for.
        StoreError: the data directory cannot be used.
    """

    def __init__(self, process: Process, name: str, settings: Settings) -> None:
        slack, clock, ops_channel = process.slack, process.clock, settings.ops_channel
        self.name, self.settings, self.environment = name, settings, process.environment.of_team(name)
        lines = OpsLines(clock)
        self.storage = storage = _open_team_storage(process, self.environment.home, lines)
        self.on_damage: OnDamage = lambda where: lines.note(set_aside_line(where))
        patiently(partial(_refuse_public, slack.workspace, ops_channel))
        self.approvers = Approvers(
            settings.approvers, ops_channel=ops_channel, team_id=slack.me.team_id, workspace=slack.workspace
        )
        self.rules = Rules(**{**settings.classifier.model_dump(), "bot_id": slack.me.user_id})
        self.code = process.code.of_team(settings)
        self.pausing = PauseSwitch(storage.documents, clock)
        self.feedback = self.collection(FEEDBACK)
        self.fixes = self.collection(FIXES)
        self.picks = ChannelCodebases(settings.watched_chats)
        self.patched = PatchCodebases(self.code.codebases, self.picks.picked)
        self.hosts = CodeHosts(settings.code_host, self.environment, process.code)
        self.threads, self.replies = Threads(storage.documents), storage.journal(REPLIES)
        self.card_facts = self._card_facts(slack.workspace)
        self.messenger = SlackMessenger(
            slack.poster,
            ops_channel=ops_channel,
            bot_user_id=slack.me.user_id,
            facts=self.card_facts,
            asks_feedback=settings.feedback,
        )
        self.ops = OpsOutbox(self.messenger, lines)
        self.service = self._service(process)
        self.ops_questions = OpsQuestions(
            slack.poster,
            slack.workspace,
            self.service.jobs,
            clock,
            team_id=slack.me.team_id,
            ops_channel=ops_channel,
        )

    def _card_facts(self, workspace: Workspace) -> CardFacts:
        settings = self.settings
        return CardFacts(
            link_to=self.code.link_to,
            team_language=settings.team_language,
            paused=self.pausing.words,
            pages=self.approvers.paged,
            fixes=FixMarks(self.fixes, self.patched, self.hosts.client),
            votes=FeedbackCounts(self.feedback),
            can_escalate=settings.escalation.enabled and runs_long(settings, self.environment),
            can_join=lambda state: bool(joinable(self.threads, state)),
            proof=partial(posted_proof, self.threads, workspace),
        )

    def _service(self, process: Process) -> ThreadService:
        settings, slack, clock, home = self.settings, process.slack, process.clock, self.environment.home
        asker = Acknowledgements(
            self.threads,
            self.collection(ACKNOWLEDGEMENTS),
            SlackAskerChat(slack.client, slack.poster),
            clock,
            mode=settings.acknowledge,
            say=self.ops.lines.append,
        )
        direct = DirectMessages(
            approvers=self.approvers,
            chat=SlackDirectChat(slack.poster, slack.signs),
            team=self.name if len(process.settings.teams) > 1 else "",
        )
        stale = partial(stale_citations, self.code.codebases)
        shown = self.collection(CARDS_SHOWN)
        return ThreadService(
            settings=settings,
            store=self.threads,
            jobs=process.engine.jobs(home, clock, changed=process.jobs_changed),
            messenger=self.messenger,
            workspace=slack.workspace,
            attachments=slack.attachments,
            memory=WordNoteIndex(self.storage.notes, self.replies, stale),
            replies=self.replies,
            codebases=self.picks,
            clock=clock,
            asker=asker,
            direct=direct,
            shown=shown,
            live=SlackLiveWork(slack.posting, slack.poster, shown, clock),
            leases=process.engine.leases(home) if process.engine.is_shared else None,
            known_secrets=self.environment.secrets(),
            chat_ahead=lambda: slack.clock.ahead,
        )

    def collection(self, spec: CollectionSpec[Model]) -> Collection[Model]:
        """Return a collection of the team; of what cannot be read the ops channel hears."""
        return Collection(self.storage.documents, spec, on_damage=self.on_damage)

    def single(self, collection: str) -> SingleDocument:
        """Return the one document of a collection; one that cannot be read is set aside and told of."""
        return SingleDocument(self.storage.documents, collection, on_damage=self.on_damage)

    def zone(self, name: str) -> str:
        """Return the IANA name of a zone of the settings, where `local` is the machine's."""
        return local_zone(self.environment.variables) if name == "local" else name

    def working_hours(self) -> ActiveHours | None:
        """Return when people are at work; None: at any hour."""
        wanted = self.settings.working_hours
        return None if wanted is None else wanted.in_zone(self.zone(wanted.timezone))


def _open_team_storage(process: Process, home: Path, lines: OpsLines) -> Store:
    """Return the store of a team's data directory, which may be the process's own."""
    create_folder(home.parent)
    create_folder(home)
    is_own = home == process.environment.home.resolve()
    return process.storage if is_own else open_storage(process.engine, home, lines)


def _refuse_public(workspace: Workspace, ops_channel: str) -> None:
    if not workspace.channel(ops_channel).is_private:
        raise ConfigError(
            f"ops_channel: {ops_channel} is not private; everybody could read the drafts. Name a private one"
        )
