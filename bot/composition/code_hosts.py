"""Finds each codebase's code host and its token, and what its checks may not see."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from bot.adapters.code_host import HOSTS, CodeHostApi
from bot.agent.codebases import Codebase
from bot.agent.git.git_repo import GitRepo
from bot.agent.git.patch_repo import Remote
from bot.casework.fixes.patch_check import PatchCodebases
from bot.composition.codebases import ProcessCode
from bot.config.environment import Environment, host_token_name, process_home
from bot.domain.citations.links import CodeHost, CodeRepository, code_repository
from bot.ports.code import CodeHostClient


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
