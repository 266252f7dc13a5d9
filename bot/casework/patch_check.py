"""Checks a patch before it leaves the machine: its codebase, whether it applies, its limits, and the codebase's check.

The codebase is decided by what is in front of the patch's paths, else by what its draft cites; git then refuses a patch
of other files. Works in a throw-away folder below `workshop`; the checkout that people work in is only read.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from bot.agent.codebases import Codebase, Codebases
from bot.agent.git.git_repo import GitRepo
from bot.agent.git.patch_repo import DoesNotApply, PatchRepo
from bot.casework.check_run import ISOLATION_WORDS, LIMITS, TEMPORARY, CheckRun, Isolation, run_check
from bot.config.codebase_settings import FixSettings
from bot.domain.fixes import Fix
from bot.domain.patches import MAX_DIFF_CHARS, FixCode, FixRefused, check_changes, check_diff, codebases_in
from bot.domain.returns import EvidenceKind, ProposedPatch
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line
from bot.domain.threads import ThreadState
from bot.errors import refused

LOG_LINES: Final = 200
SAID_CHARS: Final = 200
ANEW: Final = "Press Re-investigate, or ask again, for a patch of the newest code."
_OTHER: Final = "Ask again for another patch, and say what was wrong with this one."


class PatchChecks:
    """Checks patches of one codebase, one at a time, below `workshop`; `hidden` are folders no check should see."""

    def __init__(
        self,
        codebase: GitRepo,
        settings: FixSettings,
        workshop: Path,
        *,
        hidden: Sequence[Path],
        stop: threading.Event,
        secrets: Collection[str] = (),
    ) -> None:
        self._codebase, self._settings, self._workshop = codebase, settings, workshop
        self._hidden, self._stop, self._secrets = hidden, stop, secrets

    @contextmanager
    def repository(self) -> Iterator[PatchRepo]:
        """Enter with an empty throw-away repository over the codebase; it is removed at the end."""
        sweep(self._workshop)
        with refused(f"cannot work in {self._workshop}", "free space or fix its owner"):
            self._workshop.mkdir(mode=0o700, parents=True)
            repo = PatchRepo(self._codebase, self._workshop / "repo.git")
        try:
            yield repo
        finally:
            sweep(self._workshop)

    def apply(self, repo: PatchRepo, commit: str, diff: str) -> str:
        """Return the tree that a patch makes of a commit.

        Raises:
            FixRefused: it does not apply, or changes what it must not.
        """
        check_diff(diff)
        try:
            tree = repo.apply(commit, diff)
        except DoesNotApply as error:
            said = f"The patch does not apply to {commit[:10]}: {one_line(str(error), SAID_CHARS)}. {ANEW}"
            raise FixRefused(FixCode.DOES_NOT_APPLY, said) from error
        check_changes(repo.changes(commit, tree), repo.added(commit, tree), self._secrets, repo.paths(tree))
        return tree

    def require_current(self, repo: PatchRepo, tip: str, diff: str) -> None:
        """Return if a patch still applies to the newest commit; raises FixRefused if not."""
        try:
            repo.apply(tip, diff)
        except DoesNotApply as error:
            said = f"The patch does not apply any more: the code has changed since (now at {tip[:10]}). {ANEW}"
            raise FixRefused(FixCode.OUTDATED, said) from error

    def check(self, repo: PatchRepo, commit: str, tree: str) -> tuple[str, ...]:
        """Run the codebase's check on a patched tree; returns what was found, a sentence each.

        Raises:
            FixRefused: it failed.
            CheckStopped: the bot ends.
        """
        applied = f"it applies to {commit[:10]} and stays within the limits of paths, kinds and size"
        if self._settings.check is None:
            return applied, "no check was run (`fixes.check` names none)"
        name = f"`{' '.join(self._settings.check)}`"
        after = self._run(repo, tree)
        if not after.passed:
            raise self._failed(name, after)
        return applied, f"{name} passes", f"the check ran {ISOLATION_WORDS[after.isolation]}"

    def _run(self, repo: PatchRepo, tree: str) -> CheckRun:
        """Run the check over the files of a tree, in a folder of their own."""
        assert self._settings.check is not None
        folder = self._workshop / "tree"
        for used in (folder, self._workshop / TEMPORARY):
            sweep(used)
        repo.check_out(tree, folder)
        return run_check(self._settings.check, folder, limits=LIMITS, hidden=self._hidden, stop=self._stop)

    def _failed(self, name: str, run: CheckRun) -> FixRefused:
        tail = redact(run.tail, self._secrets).rstrip("\n").split("\n")[-LOG_LINES:]
        said = f"The check {name} did not pass: {run.problem}. Its last lines are in this card's thread. {_OTHER}"
        if run.isolation is Isolation.FILES_AND_NETWORK and "/tmp/" in name:  # noqa: S108 - a word of the settings
            said += " A check sees an empty /tmp here; put what it needs somewhere else."
        return FixRefused(FixCode.CHECK_FAILED, said, log="\n".join(tail))


def sweep(folder: Path) -> None:
    """Remove what a check or a crash left behind, folders that nobody may write to included, as those of Go modules."""
    _let_in(folder)
    for parent, names, _ in os.walk(folder):
        for name in names:
            _let_in(Path(parent, name))
    shutil.rmtree(folder, ignore_errors=True)


def _let_in(folder: Path) -> None:
    with suppress(OSError):
        if not folder.is_symlink():
            folder.chmod(0o700)


class PatchPlace(NamedTuple):
    """The codebase that a patch is for, and the commit of it that the draft was made at."""

    codebase: Codebase
    commit: str


class PatchCodebases:
    """Finds the place of patches in a team's codebases; `ids_of` gives the ids that a thread is about."""

    def __init__(self, codebases: Codebases, ids_of: Callable[[ThreadState], Collection[str]]) -> None:
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
        members = self._codebases.among(self._ids_of(state))
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
        found: dict[str, str] = {}
        for ref in state.evidence_refs:
            if ref.kind is EvidenceKind.FILE and ref.commit:
                repo = members.locate(ref.ref.rpartition(":")[0], ref.commit).repo
                found |= {one.id: found.get(one.id, ref.commit) for one in members if one.repo is repo}
        return found


def _chosen(diff: str, members: Codebases, cited: Collection[str]) -> Codebase:
    """Return the codebase that the paths of a diff name, else the one that its draft cites; raises FixRefused."""
    named = codebases_in(diff[:MAX_DIFF_CHARS], [one.id for one in members])
    likely = [one for one in members if one.id in (named or cited)]
    if len(likely) == 1:
        return likely[0]
    if named:
        said = f"changes files of {_listed(likely, 'and')}; a draft PR is for one codebase. Ask for one patch of each."
    else:
        some = _listed(likely or members, "or")
        said = f"does not say which codebase it is for: {some}. Ask again and name the codebase."
    raise FixRefused(FixCode.SEVERAL_CODEBASES, f"The patch {said}")


def _listed(codebases: Iterable[Codebase], word: str) -> str:
    *names, last = (f"`{one.name}`" for one in codebases)
    return f"{', '.join(names)} {word} {last}"
