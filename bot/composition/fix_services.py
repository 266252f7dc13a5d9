"""Draft pull requests, put together: the code host of the codebase's remote, its token, and what is checked before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pydantic import SecretStr

from bot.adapters.codehost.gitea import GiteaClient
from bot.adapters.codehost.github import GitHubClient
from bot.adapters.codehost.gitlab import GitLabClient
from bot.agent.git.git_repo import GitRepo
from bot.agent.git.patch_repo import Remote
from bot.casework.approvers import Approvers
from bot.casework.fixes.fix_marks import FixMarks
from bot.casework.fixes.fix_opening import FixOpening
from bot.casework.fixes.fix_service import Fixes
from bot.casework.fixes.fix_updates import FixUpdates
from bot.casework.fixes.fix_words import LinkTo
from bot.casework.fixes.patch_check import PatchChecks
from bot.casework.thread_service import ThreadService
from bot.config.environment import Environment, process_home
from bot.config.settings import Settings
from bot.domain.citations.links import CodeHost, CodeRepository, code_repository
from bot.domain.fixes.fixes import Fix
from bot.ports import CardFiles
from bot.ports.codehosts import CodeHostClient
from bot.ports.collections import Collection

_CLIENTS: Final[Mapping[CodeHost, Callable[[CodeRepository, SecretStr], CodeHostClient]]] = MappingProxyType(
    {"github": GitHubClient, "gitlab": GitLabClient, "gitea": GiteaClient}
)
WORKSHOP: Final = "workshop"
"""The folder of the data directory where patches are checked; empty while none is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostAccess:
    """A code host that may be written to."""

    client: CodeHostClient
    remote: Remote


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownFixes:
    """What is on file of patches, and the host that takes them; None where there is no token."""

    store: Collection[Fix]
    access: HostAccess | None

    def marks(self) -> FixMarks:
        """Return what tells cards how the patches of a thread stand."""
        return FixMarks(self.store, self.access.client.name if self.access else None)


@dataclass(frozen=True, kw_only=True, slots=True)
class FixServices:
    """What carries patches out; `stop` ends a check that runs."""

    fixes: Fixes
    updates: FixUpdates
    stop: threading.Event


def open_code_host(settings: Settings, environment: Environment, repo: GitRepo) -> HostAccess | None:
    """Return access to the host of the remote `origin`; None without its token, or where it is not known.

    A token goes over plain HTTP only where `origin` says so itself.
    """
    found = code_repository(repo.remote_url(), settings.code_host)
    tokens = {
        "github": environment.github_token,
        "gitlab": environment.gitlab_token,
        "gitea": environment.gitea_token,
    }
    token = tokens.get(found.kind) if found else None
    if found is None or token is None or found.kind not in _CLIENTS:
        return None
    url = f"{found.origin}/{found.path}.git"
    return HostAccess(client=_CLIENTS[found.kind](found, token), remote=Remote(url, token.get_secret_value()))


def build_fixes(
    settings: Settings,
    environment: Environment,
    desk: ThreadService,
    repo: GitRepo,
    *,
    known: KnownFixes,
    files: CardFiles,
    approvers: Approvers,
    link_to: LinkTo,
) -> FixServices:
    """Return what opens draft pull requests; without access to a host, what gives patches as files."""
    stop, secrets = threading.Event(), environment.secrets()
    store, access = known.store, known.access
    updates = FixUpdates(desk, store, files, access.client if access else None)
    opening = None
    if access is not None:
        home = environment.home
        hidden = [process_home(home)]  # other teams' directories lie there as well
        checks = PatchChecks(repo, settings.fixes, home / WORKSHOP, hidden=hidden, stop=stop, secrets=secrets)
        checks.sweep()
        opening = FixOpening(
            store,
            checks,
            access.client,
            access.remote,
            approvers,
            base=settings.fixes.base,
            link_to=link_to,
            secrets=secrets,
        )
    return FixServices(fixes=Fixes(desk, store, repo, files, updates, opening), updates=updates, stop=stop)
