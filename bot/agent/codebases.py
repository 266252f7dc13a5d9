"""The codebases of one team: looks up the `<codebase>:` of citations, and merges their search results into one ranking.

A team's only codebase is not named in citations, but its name is understood: others may have been removed since. An
unknown name is read as part of the path, which then is not found: so no citation reaches a codebase of another team.
Beside them stand the checkouts of the team's sessions, each opened when it is named: no question is answered from one
but that about an alert of its session.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from bot.agent.git.git_repo import GitRepo
from bot.agent.git.repositories import Located
from bot.domain.citations.links import CodeHost, LinkTo, code_links
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.search.passages import Passage
from bot.domain.search.tokens import joined, likelihood, rescaling
from bot.errors import CodebaseUnreadable, TriageError
from bot.ports import PassageIndex

log = logging.getLogger(__name__)

LIKELY: Final = 5
"""As many codebases are searched for one question, whatever their number; measured with benchmarks/codebases.py."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Codebase:
    """One repository and its index; `prefix` stands before its paths in citations, such as `shop:`, or is empty."""

    id: str
    repo: GitRepo
    index: PassageIndex
    prefix: str = ""
    is_docs: bool = False
    """Whether it is a handbook: its code is examples, which no stack trace and no question after a name is about."""

    @property
    def name(self) -> str:
        """What people call it: its id, else its folder."""
        return self.id or str(self.repo.root)


class Found(NamedTuple):
    """A passage, and where it is from."""

    codebase: Codebase
    passage: Passage


class Likely(NamedTuple):
    """A codebase worth a search, by what its scores are multiplied to compare them, and how many passages it has."""

    codebase: Codebase
    rescaling: float
    size: int


Beside = Mapping[str, Callable[[], Codebase]]
"""What opens each codebase that only a question about it is answered from, by id; raises TriageError."""


class Codebases:
    """Port Repositories over at least one codebase, in the order of triage.yml, and those `beside` them."""

    def __init__(self, members: Iterable[Codebase], beside: Beside = MappingProxyType({})) -> None:
        self._members, self._beside = tuple(members), beside

    @classmethod
    def named(
        cls,
        members: Iterable[tuple[str, GitRepo, PassageIndex]],
        docs: Collection[str] = (),
        beside: Beside = MappingProxyType({}),
    ) -> Codebases:
        """Return the codebases of a team by id, with their names in citations where there are several.

        `docs` has the ids of those that are handbooks.
        """
        given = list(members)
        return cls(
            (
                Codebase(
                    id=name, repo=repo, index=index, prefix=f"{name}:" if len(given) > 1 else "", is_docs=name in docs
                )
                for name, repo, index in given
            ),
            beside,
        )

    def replace(self, others: Codebases) -> None:
        """Take over the members of others at once; what `among` returned before stays as it was."""
        self._members, self._beside = others._members, others._beside

    def __iter__(self) -> Iterator[Codebase]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def first(self) -> Codebase:
        """The first one, which is the only one of most teams."""
        return self._members[0]

    def among(self, ids: Collection[str]) -> Codebases:
        """Return those with one of the ids, named as before; all of them without ids or where none is left."""
        members = self._members
        asked = [self.get(name) for name in ids if name in self._beside]
        found = [*(one for one in members if one.id in ids), *(one for one in asked if one is not None)]
        return Codebases(found or members, self._beside)

    def about(self, ids: Collection[str]) -> Codebases:
        """Return what a question about these is answered from: all of them, but of one beside them that one alone."""
        found = self.among(ids)
        return found if any(one.id in self._beside for one in found) else self.among(())

    def get(self, name: str) -> Codebase | None:
        """Return the codebase of an id; None where there is none, or where one beside them cannot be opened."""
        member = next((one for one in self._members if one.id == name), None)
        if member is not None or name not in self._beside:
            return member
        try:
            return self._beside[name]()
        except TriageError as error:
            log.warning("a checkout cannot be read: %s", error, extra={"action": "checkout_unread", "codebase": name})
            return None

    def locate(self, path: str, commit: str | None = None) -> Located:
        """Return the repository that a cited path lies in; a path without a codebase lies where its commit does."""
        name, colon, rest = path.partition(":")
        member = self.get(name) if name and colon else None
        if member is not None:
            return Located(member.repo, rest)
        return Located(self.holder(commit) if commit else self.first.repo, path)

    def holder(self, commit: str) -> GitRepo:
        """Return the repository whose HEAD contains a commit, or did before a force push; else the first one."""
        repos = [one.repo for one in self._members]
        if len(repos) == 1 and not self._beside:
            return repos[0]
        found = next((repo for repo in repos if repo.resolve_in("HEAD", commit)), None)
        if found is not None:
            return found
        repos += [one.repo for name in self._beside if (one := self.get(name)) is not None]
        return next((repo for repo in repos if repo.resolve(commit)), repos[0])

    def heads(self) -> Mapping[Path, str]:
        """Return the SHA of every HEAD that can be read, by the repository's root.

        Raises:
            ConfigError: a repository has no commit.
            CodebaseUnreadable: none of them can be read.
        """
        found: dict[Path, str] = {}
        problem: CodebaseUnreadable | None = None
        for one in self._members:
            try:
                found[one.repo.root] = one.repo.head()
            except CodebaseUnreadable as error:
                problem = error
        if problem is not None and not found:
            raise problem
        return found

    def search(self, question: str, *, limit: int = 8, subject: str = "") -> list[Found]:
        """Return the best passages of all codebases, best first; raises what an index raises."""
        found = [
            Found(one, replace(passage, score=passage.score * rescaling))
            for one, rescaling, _ in self.likely(question, subject=subject)[:LIKELY]
            for passage in one.index.search(question, limit=limit, subject=subject)
        ]
        return sorted(found, key=lambda one: -one.passage.score)[:limit]

    def likely(self, question: str, *, subject: str = "") -> list[Likely]:
        """Return the codebases, the one that likeliest holds what is asked first; only words are counted for it.

        Raises as an index does.
        """
        if len(self) == 1:
            return [Likely(self.first, 1.0, 1)]
        counts = [one.index.word_counts(question, subject=subject) for one in self]
        every = joined(counts)
        order = sorted(zip(self, counts, strict=True), key=lambda pair: -likelihood(pair[1], every, len(counts)))
        return [Likely(one, rescaling(own, every), own.total) for one, own in order]


class CodebaseLinks:
    """From a citation to its URL, each codebase on its own code host.

    Of one that was damaged or not cloned at the start, as soon as git can read it.
    """

    def __init__(self, codebases: Codebases, host_of: Callable[[str], CodeHost | None]) -> None:
        self._codebases, self._host_of = codebases, host_of
        self._known: dict[tuple[GitRepo, CodeHost | None], LinkTo] = {}

    def __call__(self, ref: EvidenceRef) -> str | None:
        """Return the URL; None where there is none."""
        if ref.kind is not EvidenceKind.FILE:
            return self._of(self._codebases.holder(ref.commit or ref.ref), ref)
        path, colon, lines = ref.ref.rpartition(":")
        repo, path = self._codebases.locate(path, ref.commit)
        return self._of(repo, ref.model_copy(update={"ref": f"{path}{colon}{lines}"}))

    def _of(self, repo: GitRepo, ref: EvidenceRef) -> str | None:
        host = self._host_of(next((one.id for one in self._codebases if one.repo is repo), ""))
        if (repo, host) not in self._known:
            if repo.resolve("HEAD") is None:
                return None
            self._known[repo, host] = code_links(repo.remote_url(), host)
        return self._known[repo, host](ref)
