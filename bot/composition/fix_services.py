"""Builds draft pull requests: each codebase's code host client and token, and the checks before a push."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pydantic import SecretStr

from bot.adapters.codehost.github import GiteaClient, GitHubClient
from bot.adapters.codehost.gitlab import GitLabClient
from bot.agent.codebases import Codebase
from bot.agent.git.git_repo import GitRepo
from bot.agent.git.patch_repo import Remote
from bot.casework.approvers import Approvers
from bot.casework.card_marks import FixMarks
from bot.casework.fixes.fix_opening import FixOpening
from bot.casework.fixes.fix_service import Fixes
from bot.casework.fixes.fix_updates import FixUpdates
from bot.casework.fixes.patch_check import PatchChecks, PatchCodebases, sweep
from bot.casework.thread_service import ThreadService
from bot.composition.codebases import ProcessCode
from bot.config.environment import Environment, host_token_name, process_home
from bot.config.settings import Settings
from bot.domain.citations.links import CodeHost, CodeRepository, LinkTo, code_repository
from bot.domain.fixes.fixes import Fix
from bot.ports import CardFiles
from bot.ports.code import CodeHostClient
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


class CodeHosts:
    """The code host of each codebase's remote `origin`, with a token; opened when it is first asked for.

    A token goes over plain HTTP only where `origin` says so itself. One that is for all codebases goes to one host.
    """

    def __init__(self, host: CodeHost | None, environment: Environment, process: ProcessCode) -> None:
        self._host, self._environment, self._process = host, environment, process
        self._known: dict[tuple[GitRepo, CodeHost | None], HostAccess] = {}

    def access(self, codebase: Codebase) -> HostAccess | None:
        """Return access to a codebase's host; None without a token, or where the host is not known."""
        key = (codebase.repo, self._process.code_host(codebase.id, default=self._host))
        if key not in self._known and (found := self._find(codebase)) is not None:
            self._known[key] = found
        return self._known.get(key)

    def client(self, codebase: Codebase) -> CodeHostClient | None:
        """Return who opens pull requests for a codebase; None where nobody does."""
        access = self.access(codebase)
        return access.client if access else None

    def _find(self, codebase: Codebase) -> HostAccess | None:
        found = self._place(codebase.id, codebase.repo)
        if found is None or found.kind not in _CLIENTS:
            return None
        places = (self._place(name, repo) for name, repo in self._process.repos.items())
        variable = token_variable(self._environment, codebase.id, found, places)
        if variable is None:
            return None
        token = SecretStr(self._environment.variables[variable])
        url = f"{found.origin}/{found.path}.git"
        return HostAccess(client=_CLIENTS[found.kind](found, token), remote=Remote(url, token.get_secret_value()))

    def _place(self, name: str, repo: GitRepo) -> CodeRepository | None:
        return code_repository(repo.remote_url(), self._process.code_host(name, default=self._host))


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


class KnownFixes:
    """What is on file of a team's patches, which codebases they are for, and the hosts that take them."""

    def __init__(
        self,
        settings: Settings,
        environment: Environment,
        process: ProcessCode,
        codebases: PatchCodebases,
        store: Collection[Fix],
    ) -> None:
        self.store, self.codebases, self.settings_of = store, codebases, process.settings_of
        self.hosts = CodeHosts(settings.code_host, environment, process)
        self._process, self._home = process, process_home(environment.home)

    def hidden(self) -> list[Path]:
        """Return what no check may see: the data of every team, and the checkouts that only other teams see.

        A checkout stays in sight if one of the team's own, or the Python that runs this, lies in it.
        """
        repos = self._process.repos
        needed = [Path(sys.prefix), *(repo.root for name, repo in repos.items() if self.codebases.has(name))]
        others = [repo.root for name, repo in repos.items() if not self.codebases.has(name)]
        return [self._home, *(root for root in others if not any(one.is_relative_to(root) for one in needed))]

    def marks(self) -> FixMarks:
        """Return what tells cards how the patches of a thread stand."""
        return FixMarks(self.store, self.codebases, self.hosts.client)


class FixServices:
    """What carries patches out; `stop` ends a check that runs.

    Of a codebase without access to its host, patches are given as files.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Environment,
        service: ThreadService,
        known: KnownFixes,
        files: CardFiles,
        approvers: Approvers,
        link_to: LinkTo,
    ) -> None:
        self._settings, self._known, self._approvers, self._link_to = settings, known, approvers, link_to
        self._secrets, self._workshop = environment.secrets(), environment.home / WORKSHOP
        self.stop = threading.Event()
        sweep(self._workshop)
        store, codebases = known.store, known.codebases
        self.updates = FixUpdates(service, store, files, codebases, known.hosts.client, keep=settings.keep_runs_for)
        self.fixes = Fixes(service, store, codebases, files, self.updates, self._opening_of)

    def _opening_of(self, codebase: Codebase) -> FixOpening | None:
        access, own = self._known.hosts.access(codebase), self._known.settings_of(codebase.id)
        if access is None or own is None:
            return None
        wanted, secrets, hidden = own.fixes.over(self._settings.fixes), self._secrets, self._known.hidden()
        return FixOpening(
            self._known.store,
            PatchChecks(codebase.repo, wanted, self._workshop, hidden=hidden, stop=self.stop, secrets=secrets),
            access.client,
            access.remote,
            self._approvers,
            base=wanted.base or own.branch,
            link_to=self._link_to,
            secrets=secrets,
        )
