"""Which codebase of a team a proposed patch is for: one, or none, with a sentence that says why.

What is in front of its paths decides, then which codebase has the files that it changes, then what its draft cites.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Final, NamedTuple

from bot.agent.codebases import Codebase, Codebases
from bot.casework.fixes.patch_check import FixRefused
from bot.domain.fixes.fixes import Fix
from bot.domain.fixes.patch_files import MAX_DIFF_CHARS, DiffFile, diff_files
from bot.domain.fixes.patch_limits import FixCode, PatchRefusal
from bot.domain.returns import EvidenceKind, ProposedPatch
from bot.domain.threads import ThreadState
from bot.errors import ConfigError, StoreError

MAX_FILES: Final = 100
"""Of a diff, looked up in the codebases; one with more is refused for its size."""


class PatchPlace(NamedTuple):
    """The codebase that a patch is for, and the commit of it that the draft was made at."""

    codebase: Codebase
    commit: str


class PatchCodebases:
    """Finds the place of patches in a team's codebases; `ids_of` gives the ids that a channel is about."""

    def __init__(self, codebases: Codebases, ids_of: Callable[[str], Collection[str]]) -> None:
        self._codebases, self._ids_of = codebases, ids_of

    def __len__(self) -> int:
        return len(self._codebases)

    def has(self, codebase: str) -> bool:
        """Whether the team sees a codebase, now."""
        return self._codebases.get(codebase) is not None

    def place(self, state: ThreadState, patch: ProposedPatch) -> PatchPlace:
        """Return where the patch of a thread belongs.

        Raises:
            FixRefused: it is for several codebases, or nobody can tell for which one.
            ConfigError, StoreError: the codebase cannot be read.
        """
        members = self._codebases.among(self._ids_of(state.chat_id))
        cited = self._cited(state, members)
        one = members.first if len(members) == 1 else _chosen(patch.diff, members, cited)
        return PatchPlace(one, cited.get(one.id) or one.repo.head())

    def of(self, fix: Fix) -> Codebase | None:
        """Return the codebase of a patch on file; None where the team has it no more."""
        if (known := self._codebases.get(fix.codebase)) is not None or fix.codebase:
            return known
        return next((one for one in self._codebases if one.repo.resolve_in("HEAD", fix.commit)), None)  # it had no id

    def _cited(self, state: ThreadState, members: Codebases) -> dict[str, str]:
        """Return the codebases whose files the draft cites, each with the commit at which they were read."""
        refs = state.evidence_refs
        found: dict[str, str] = {}
        for ref in refs:
            if ref.kind is EvidenceKind.FILE and ref.commit:
                repo = members.locate(ref.ref.rpartition(":")[0], ref.commit).repo
                found |= {one.id: found.get(one.id, ref.commit) for one in members if one.repo is repo}
        return found


def _chosen(diff: str, members: Codebases, cited: dict[str, str]) -> Codebase:
    files = diff_files(diff[:MAX_DIFF_CHARS], [one.id for one in members])[:MAX_FILES]
    named = {file.codebase for file in files} - {None}
    if named:
        return _only([one for one in members if one.id in named])
    # a file that nobody has says nothing
    holders = [some for file in files if file.is_old and (some := _holders(file, members, cited))]
    likely = [one for one in members if all(one in some for some in holders)]
    if not likely:
        return _only(list(dict.fromkeys(one for some in holders for one in some)))
    if len(likely) > 1:
        likely = [one for one in likely if one.id in cited] or likely
    return likely[0] if len(likely) == 1 else _refuse_unclear(likely)


def _holders(file: DiffFile, members: Codebases, cited: dict[str, str]) -> list[Codebase]:
    """Return the codebases that have a file, at the commit that is cited, else now."""
    found = []
    for one in members:
        with suppress(ConfigError, StoreError):  # one that cannot be read now has nothing
            if one.repo.entry_at(cited.get(one.id) or one.repo.head(), file.path) is not None:
                found.append(one)
    return found


def _only(several: list[Codebase]) -> Codebase:
    if len(several) == 1:
        return several[0]
    names = _listed(several, "and")
    said = f"The patch changes files of {names}; a draft PR is for one codebase. Ask for one patch of each."
    raise FixRefused(PatchRefusal(code=FixCode.SEVERAL_CODEBASES, text=said))


def _refuse_unclear(likely: list[Codebase]) -> Codebase:
    said = f"The patch does not say which codebase it is for: {_listed(likely, 'or')}. Ask again and name the codebase."
    raise FixRefused(PatchRefusal(code=FixCode.SEVERAL_CODEBASES, text=said))


def _listed(codebases: list[Codebase], word: str) -> str:
    names = [f"`{one.name}`" for one in codebases]
    return f"{', '.join(names[:-1])} {word} {names[-1]}"
