"""The codebases of the process, each opened once, and those of them that one team may see.

An index lies in the process's data directory: `index/passages.sqlite` for the codebase of the short form, else
`index/codebases/<id>.sqlite`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bot.adapters.git.clones import clone_path
from bot.adapters.git.network import GitNetwork
from bot.adapters.search.index_process import IndexProcess
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.adapters.storage.files.file_store import FileStore
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.citation_staleness import CitationStaleness
from bot.config.codebase_settings import CodebaseSettings
from bot.config.environment import Environment, process_home
from bot.config.settings import Settings
from bot.domain.citations.links import CodeHost, code_links
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.search.file_kinds import is_indexed
from bot.domain.search.passages import IndexReport
from bot.errors import CodebaseUnreadable, ConfigError, ProviderError
from bot.ports import Clock
from bot.runtime.clone_service import CloneService

LinkTo = Callable[[EvidenceRef], str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamCode:
    """The repositories that questions of one team are about, and what is known of them."""

    codebases: Codebases
    staleness: CitationStaleness
    link_to: LinkTo
    clones: CloneService | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessCode:
    """All codebases of the process; `clones` keeps those that are given by their address, None without any."""

    repos: Mapping[str, GitRepo]
    indexes: Mapping[str, SqlitePassageIndex]
    clones: CloneService | None = None

    def of_team(self, settings: Settings) -> TeamCode:
        """Return those that a team's settings name; raises ConfigError where one came into the file under way."""
        names = list(settings.all_codebases)
        new = [name for name in names if name not in self.repos]
        if new:
            raise ConfigError(*(f"codebases.{one}: it is new; stop triage and start it to have it read" for one in new))
        members = Codebases.named((name, self.repos[name], self.indexes[name]) for name in names)
        links = CodebaseLinks(members, settings.code_host)
        clones = self.clones if any(one.url for one in settings.all_codebases.values()) else None
        return TeamCode(codebases=members, staleness=CitationStaleness(members), link_to=links, clones=clones)

    def refreshes(self) -> Mapping[str, Callable[[], IndexReport]]:
        """Return what brings each index up to HEAD without waiting."""
        return {name: partial(index.refresh, waits=False) for name, index in self.indexes.items()}

    def close(self) -> None:
        """End the processes that build indexes, and the fetches."""
        if self.clones is not None:
            self.clones.close()
        for index in self.indexes.values():
            index.close()


def open_process_code(
    settings: Settings, environment: Environment, storage: FileStore, clock: Clock, *, say: Callable[[str, str], None]
) -> ProcessCode:
    """Open every codebase of the process; `say` is told what becomes of clones.

    Raises:
        ConfigError: a codebase is none, or holds no commit or no text file.
        StoreError: the data directory cannot be used.
    """
    secrets, home = environment.secrets(), environment.home
    given = settings.all_codebases
    clones = None
    if any(one.url for one in given.values()):
        clones = CloneService(given, home / "codebases", GitNetwork(secrets), storage.documents, clock, say=say)
    repos = {name: _open(name, one, clones) for name, one in given.items()}
    indexes = {}
    for name, repo in repos.items():
        database = index_path(home, name)
        beside = IndexProcess(repo.root, database, secrets)
        indexes[name] = SqlitePassageIndex(repo, database, secrets, beside=beside)
    return ProcessCode(repos=repos, indexes=indexes, clones=clones)


def open_team_code(settings: Settings, environment: Environment) -> TeamCode:
    """Return a team's codebases for a process that keeps no clone fresh: a command, a long run.

    Raises:
        ConfigError: a codebase is none, or was not cloned yet.
    """
    home = process_home(environment.home)
    repos = {name: GitRepo(checkout_path(name, one, home)) for name, one in settings.all_codebases.items()}
    secrets = environment.secrets()
    indexes = {name: SqlitePassageIndex(repo, index_path(home, name), secrets) for name, repo in repos.items()}
    return ProcessCode(repos=repos, indexes=indexes).of_team(settings)


def index_path(home: Path, name: str) -> Path:
    """Return where a codebase's index is; `name` is empty for the one of the short form."""
    return home / "index" / "codebases" / f"{name}.sqlite" if name else home / "index" / "passages.sqlite"


def checkout_path(name: str, settings: CodebaseSettings, home: Path) -> Path:
    """Return where a codebase is on this machine; raises ConfigError where it was not cloned yet."""
    path = settings.path or clone_path(process_home(home) / "codebases", name)
    if settings.path is None and not path.is_dir():
        raise ConfigError(f"codebases.{name}: it is not cloned yet; `triage run` clones it")
    return path


def _open(name: str, settings: CodebaseSettings, clones: CloneService | None) -> GitRepo:
    if settings.path is None:
        assert clones is not None
        return clones.open(name)
    repo = GitRepo(settings.path, may_be_damaged=True)
    with suppress(CodebaseUnreadable):  # questions wait until it is mended, and the watch over the index tells of it
        _refuse_empty(repo)
    return repo


def _refuse_empty(repo: GitRepo) -> None:
    head = repo.head()
    try:
        is_empty = not any(is_indexed(entry.path) for entry in repo.each_entry(head))
    except ProviderError:  # a clone without blobs, or damage
        is_empty = not any(is_indexed(entry.path) for entry in repo.tree(head))
    if is_empty:
        raise ConfigError(f"codebase: {repo.root} has no text file committed; there is nothing to quote")


class CodebaseLinks:
    """From a citation to its URL, each codebase on its own code host.

    Of one that was damaged or not cloned at the start, as soon as git can read it.
    """

    def __init__(self, codebases: Codebases, host: CodeHost | None) -> None:
        self._codebases, self._host = codebases, host
        self._known: dict[Path, LinkTo] = {}

    def __call__(self, ref: EvidenceRef) -> str | None:
        """Return the URL; None where there is none."""
        if ref.kind is not EvidenceKind.FILE:
            return self._of(self._codebases.holder(ref.commit or ref.ref), ref)
        path, colon, lines = ref.ref.rpartition(":")
        repo, path = self._codebases.locate(path, ref.commit)
        return self._of(repo, ref.model_copy(update={"ref": f"{path}{colon}{lines}"}))

    def _of(self, repo: GitRepo, ref: EvidenceRef) -> str | None:
        if repo.root not in self._known:
            if repo.resolve("HEAD") is None:
                return None
            self._known[repo.root] = code_links(repo.remote_url(), self._host)
        return self._known[repo.root](ref)
