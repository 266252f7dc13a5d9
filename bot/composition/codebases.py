"""Opens each codebase of the process once, and selects those that one team may see.

An index lies in the process's data directory: `index/passages.sqlite` for the codebase of the short form, else
`index/codebases/<id>.sqlite`, that of a session's checkout `index/codebases/sessions/<id>.sqlite`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from bot.adapters.clones import GitNetwork, clone_path
from bot.adapters.search.index_build import IndexProcess
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebase, CodebaseLinks, Codebases
from bot.agent.git.git_repo import GitRepo
from bot.config.codebase_settings import CodebaseSettings
from bot.config.environment import Environment, process_home
from bot.config.settings import Settings
from bot.domain.citations.links import CodeHost, LinkTo
from bot.domain.search.files import is_indexed
from bot.domain.search.passages import IndexReport
from bot.errors import CodebaseUnreadable, ConfigError, InputError
from bot.ports import Clock, Store
from bot.runtime.clone_service import CloneService

SESSIONS: Final = "sessions"
"""The folder of the indexes of sessions' checkouts, beside those of codebases."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamCode:
    """The repositories that questions of one team are about, and what is known of them; `ids` changes with a reload."""

    codebases: Codebases
    ids: set[str]
    link_to: LinkTo
    clones: CloneService | None = None
    of_sessions: dict[str, str] = field(default_factory=dict)
    """The id of the codebase that each session looks after."""

    def replace(self, codebases: Codebases, of_sessions: Mapping[str, str]) -> None:
        """Have the team see other codebases from now on; an investigation under way keeps those it began with."""
        self.codebases.replace(codebases)
        ids = {one.id for one in codebases}
        self.ids.update(ids)
        self.ids.intersection_update(ids)
        self.of_sessions.clear()
        self.of_sessions.update(of_sessions)

    def about_session(self, session_id: str) -> tuple[str, ...]:
        """Return the ids of the codebases that a question about a session's alert is about; none: all of the team's.

        Raises:
            InputError: its folder cannot be looked into.
        """
        name = self.of_sessions.get(session_id, session_id)
        if self.codebases.get(name) is None:
            raise InputError(
                f"Nothing was asked: the folder of {session_id} is no git checkout with committed files, so there is "
                "nothing to look into."
            )
        return (name,) if name else ()


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenCodebase:
    """One codebase of the process, as its settings are now."""

    settings: CodebaseSettings
    repo: GitRepo
    index: SqlitePassageIndex


Opener = Callable[[str, CodebaseSettings], OpenCodebase]


class ProcessCode:
    """All codebases of the process, opened with `opener`; `clones` keeps those that are given by their address."""

    def __init__(
        self, given: Mapping[str, CodebaseSettings], opener: Opener, clones: CloneService | None = None
    ) -> None:
        self._opener, self._clones = opener, clones
        self._reloading, self._opening = threading.Lock(), threading.Lock()
        self._checkouts: dict[tuple[str, Path], OpenCodebase] = {}
        self._open = {name: opener(name, one) for name, one in given.items()}

    def of_team(self, settings: Settings) -> TeamCode:
        """Return those that a team's settings name."""
        members = self.members(settings)
        return TeamCode(
            of_sessions=self.of_sessions(settings),
            codebases=members,
            ids={one.id for one in members},
            link_to=CodebaseLinks(members, partial(self.code_host, default=settings.code_host)),
            clones=self._clones,
        )

    def members(self, settings: Settings) -> Codebases:
        """Return the codebases that a team's settings name, which must be open; beside them its sessions' checkouts."""
        found = {name: self._open[name] for name in settings.all_codebases}
        docs = {name for name, one in settings.all_codebases.items() if one.kind == "docs"}
        beside = {
            name: partial(self._checkout, session_id, name, settings.sessions[session_id].cwd)
            for session_id, name in self.of_sessions(settings).items()
            if name not in found
        }
        return Codebases.named(((name, one.repo, one.index) for name, one in found.items()), docs, beside)

    def of_sessions(self, settings: Settings) -> dict[str, str]:
        """Return the id of the codebase that each session looks after: the team's of that folder, else the session's.

        No such id is that of another codebase of the process, whose settings it would have.
        """
        own = {one.path.resolve(): name for name, one in settings.all_codebases.items() if one.path is not None}
        return {
            name: own.get(one.cwd.resolve(), f"{name}.session" if name in self._open else name)
            for name, one in settings.sessions.items()
        }

    def _checkout(self, session_id: str, name: str, folder: Path) -> Codebase:
        """Return the checkout of a session, which is opened once; raises ConfigError, CodebaseUnreadable."""
        with self._opening:
            known = self._checkouts.get((session_id, folder))
            if known is None:
                known = self._opener(f"{SESSIONS}/{session_id}", CodebaseSettings.model_construct(path=folder))
                self._checkouts[session_id, folder] = known
        return Codebase(id=name, repo=known.repo, index=known.index, prefix=f"{name}:")

    def settings_of(self, name: str) -> CodebaseSettings | None:
        """Return a codebase's settings as they are now; None where there is none of this id."""
        return self._open[name].settings if name in self._open else None

    def code_host(self, name: str, *, default: CodeHost | None) -> CodeHost | None:
        """Return what a codebase's remote is said to be, where anybody says so."""
        own = self.settings_of(name)
        return (own.code_host if own else None) or default

    @property
    def repos(self) -> Mapping[str, GitRepo]:
        """The repository of each codebase."""
        return {name: one.repo for name, one in self._open.items()}

    def refreshes(self) -> Mapping[str, Callable[[], IndexReport]]:
        """Return what brings each index up to HEAD without waiting."""
        return {name: partial(one.index.refresh, waits=False) for name, one in self._open.items()}

    def fetch(self) -> None:
        """Begin to fetch the clones that are older than they may be; raises StoreError.

        Does nothing during a reload: a clone that failed then would be told of before any team reads it, to nobody.
        """
        if self._clones is None or not self._reloading.acquire(blocking=False):
            return
        try:
            self._clones.tick()
        finally:
            self._reloading.release()

    @contextmanager
    def reopened(self, settings: Settings) -> Iterator[None]:
        """Open what is new in other settings, and close what is gone once the block ends without an error.

        Raises:
            ConfigError, ProviderError, StoreError: one cannot be opened; then all is as before.
        """
        with self._reloading, self._reopened(settings):
            yield

    @contextmanager
    def _reopened(self, settings: Settings) -> Iterator[None]:
        before, given = self._open, settings.all_codebases
        kept = {name: before[name] for name, one in given.items() if name in before and _is_same(before[name], one)}
        new: dict[str, OpenCodebase] = {}
        try:
            self._follow(given)
            for name in given.keys() - kept.keys():
                new[name] = self._opener(name, given[name])
            known = {**kept, **new}
            self._open = {name: replace(known[name], settings=one) for name, one in given.items()}
            yield
        except BaseException:
            self._open = before
            for one in new.values():
                one.index.close()
            self._follow({name: one.settings for name, one in before.items()})
            raise
        for name in before.keys() - kept.keys():
            before[name].index.close()

    def close(self) -> None:
        """End the processes that build indexes, and the fetches."""
        if self._clones is not None:
            self._clones.close()
        for one in (*self._open.values(), *self._checkouts.values()):
            one.index.close()

    def _follow(self, given: Mapping[str, CodebaseSettings]) -> None:
        if self._clones is not None:
            self._clones.follow(given)


def _is_same(known: OpenCodebase, wanted: CodebaseSettings) -> bool:
    before = known.settings
    return (before.path, before.url, before.branch) == (wanted.path, wanted.url, wanted.branch)


def open_process_code(
    settings: Settings, environment: Environment, storage: Store, clock: Clock, *, say: Callable[[str, str], None]
) -> ProcessCode:
    """Open every codebase of the process; `say` is told what becomes of clones.

    Raises:
        ConfigError: a codebase is none, or holds no commit or no text file.
        StoreError: the data directory cannot be used.
    """
    secrets, home = environment.secrets(), environment.home
    given = settings.all_codebases
    clones = CloneService(given, home / "codebases", GitNetwork(secrets), storage.machine, clock, say=say)

    def opener(name: str, one: CodebaseSettings) -> OpenCodebase:
        repo, database = _open(name, one, clones), _index_path(home, name)
        index = SqlitePassageIndex(repo, database, secrets, beside=IndexProcess(repo.root, database, secrets))
        return OpenCodebase(settings=one, repo=repo, index=index)

    return ProcessCode(given, opener, clones)


def open_team_code(settings: Settings, environment: Environment) -> TeamCode:
    """Return a team's codebases for a process that keeps no clone fresh: a command, a long run.

    Raises:
        ConfigError: a codebase is none, or was not cloned yet.
        CodebaseUnreadable: the only codebase is damaged; one of several raises it when it is read.
    """
    home, secrets = process_home(environment.home), environment.secrets()
    has_several = len(settings.all_codebases) > 1

    def opener(name: str, one: CodebaseSettings) -> OpenCodebase:
        repo = GitRepo(checkout_path(name, one, home), may_be_damaged=has_several)
        return OpenCodebase(settings=one, repo=repo, index=SqlitePassageIndex(repo, _index_path(home, name), secrets))

    return ProcessCode(settings.all_codebases, opener).of_team(settings)


def _index_path(home: Path, name: str) -> Path:
    """Return where a codebase's index is; `name` is empty for the one of the short form."""
    return home / "index" / "codebases" / f"{name}.sqlite" if name else home / "index" / "passages.sqlite"


def checkout_path(name: str, settings: CodebaseSettings, home: Path) -> Path:
    """Return where a codebase is on this machine; raises ConfigError where it was not cloned yet."""
    path = settings.path or clone_path(process_home(home) / "codebases", name)
    if settings.path is None and not path.is_dir():
        raise ConfigError(f"codebases.{name}: it is not cloned yet; `triage run` clones it")
    return path


def _open(name: str, settings: CodebaseSettings, clones: CloneService) -> GitRepo:
    if settings.path is None:
        return clones.open(name)
    repo = GitRepo(settings.path, may_be_damaged=True)
    with suppress(CodebaseUnreadable):  # questions wait until it is mended, and the watch over the index tells of it
        _refuse_empty(repo)
    return repo


def _refuse_empty(repo: GitRepo) -> None:
    if not any(is_indexed(entry.path) for entry in repo.each_entry(repo.head())):
        raise ConfigError(f"codebase: {repo.root} has no text file committed; there is nothing to quote")
