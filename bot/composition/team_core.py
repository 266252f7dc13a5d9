"""Opens what every feature of one team needs: data directory, code, ops channel, approvers, threads.

`environment.home` is the team's own data directory; what all teams share stands in `Process`.

Finds each codebase's code host and its token, and what its checks may not see.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from blocks.cards.draft_card import CardFacts
from bot.adapters.clocks import local_zone
from bot.adapters.code_host import HOSTS, CodeHostApi
from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.storage.files.atomic_write import create_folder
from bot.agent.codebases import Codebase
from bot.agent.git.git_repo import GitRepo
from bot.agent.git.patch_repo import Remote
from bot.casework.acknowledgements import Acknowledgements
from bot.casework.approvers import Approvers
from bot.casework.card_marks import FeedbackCounts, FixMarks
from bot.casework.checks.sources import stale_citations
from bot.casework.ops_channel import DirectMessages, OpsLines, OpsOutbox
from bot.casework.patch_check import PatchCodebases
from bot.casework.pause import PauseSwitch
from bot.casework.posting.reply_proof import posted_proof
from bot.casework.thread_service import ChannelCodebases, ThreadService
from bot.casework.twins import joinable
from bot.composition.codebases import ProcessCode
from bot.composition.investigators import runs_long
from bot.composition.process import Process, open_storage, set_aside_line
from bot.config.environment import Environment, host_token_name, process_home
from bot.config.settings import Settings
from bot.domain.citations.links import CodeHost, CodeRepository, code_repository
from bot.domain.hours import ActiveHours
from bot.errors import ConfigError
from bot.intake.classifier import Rules
from bot.ports import Store, Workspace
from bot.ports.code import CodeHostClient
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
from handlers.answers import OpsQuestions, SlackAskerChat
from handlers.cards.live_work import SlackLiveWork
from handlers.cards.messenger import SlackMessenger
from handlers.direct_messages import SlackDirectChat
from handlers.transport.slack_clients import patiently


class HostAccess(NamedTuple):
    """A code host that may be written to."""

    client: CodeHostClient
    remote: Remote


class CodeHosts:
    """The code host of each codebase's remote `origin`, with a token; opened when it is first asked for.

    A token goes over plain HTTP only where `origin` says so itself. One that is for all codebases goes to one host.
    """

    def __init__(self, host: CodeHost | None, environment: Environment, process: ProcessCode) -> None:
        self._host, self._environment, self.process = host, environment, process
        self._known: dict[tuple[GitRepo, CodeHost | None], HostAccess] = {}

    def access(self, codebase: Codebase) -> HostAccess | None:
        """Return access to a codebase's host; None without a token, or where the host is not known."""
        key = (codebase.repo, self.process.code_host(codebase.id, default=self._host))
        if key in self._known:
            return self._known[key]
        found = self._place(codebase.id, codebase.repo)
        if found is None or found.kind not in HOSTS:
            return None
        places = (self._place(name, repo) for name, repo in self.process.repos.items())
        variable = token_variable(self._environment, codebase.id, found, places)
        if variable is None:
            return None
        token = self._environment.variables[variable]
        client, url = CodeHostApi(found, SecretStr(token)), f"{found.origin}/{found.path}.git"
        return self._known.setdefault(key, HostAccess(client, Remote(url, token)))

    def client(self, codebase: Codebase) -> CodeHostClient | None:
        """Return who opens pull requests for a codebase; None where nobody does."""
        access = self.access(codebase)
        return access.client if access else None

    def _place(self, name: str, repo: GitRepo) -> CodeRepository | None:
        return code_repository(repo.remote_url(), self.process.code_host(name, default=self._host))


def token_variable(
    environment: Environment, codebase: str, at: CodeRepository, places: Iterable[CodeRepository | None]
) -> str | None:
    """Return the variable whose token a codebase's host gets; None where none is set.

    That of all codebases only where none of their `places` is another host of the same kind, which it is not for.
    """
    own = host_token_name(at.kind, codebase) if codebase else None
    if own and environment.variables.get(own):
        return own
    common = host_token_name(at.kind)
    is_only_host = all(one.origin == at.origin for one in places if one and one.kind == at.kind)
    return common if common and is_only_host and environment.variables.get(common) else None


def hidden_from_checks(process: ProcessCode, codebases: PatchCodebases, home: Path) -> list[Path]:
    """Return what no check may see: the data of every team, and the checkouts that only other teams see.

    A checkout stays in sight if one of the team's own, or the Python that runs this, lies in it.
    """
    needed = [Path(sys.prefix), *(repo.root for name, repo in process.repos.items() if codebases.has(name))]
    others = [repo.root for name, repo in process.repos.items() if not codebases.has(name)]
    hidden = (root for root in others if not any(one.is_relative_to(root) for one in needed))
    return [process_home(home), *hidden]


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
