"""The checks of `triage doctor` about codebases: can git read and fetch them. They write nothing."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from bot.adapters.clones import Clone, GitNetwork, clone_path
from bot.adapters.search.passage_store import is_oversized
from bot.agent.git.git_folder import MAX_POINTER_BYTES, is_pointer
from bot.agent.git.git_repo import EntryKind, GitRepo
from bot.casework.reports.code_standings import CodebaseStanding, read_clones, read_index_standing
from bot.cli.doctor.context import PATIENCE_S, DoctorContext, HealthCheck, well, wrong
from bot.composition.codebases import checkout_path
from bot.config.codebase_settings import CodebaseSettings
from bot.config.environment import process_home
from bot.domain.search.passages import IndexGaps
from bot.domain.text.sanitize import one_line
from bot.errors import CodebaseUnreadable, ConfigError, ProviderError

THREADS = 8
GAPS_PAGE = "docs/codebases.md says what can be done"


def clones(context: DoctorContext) -> HealthCheck:
    """Whether every codebase with an address can be fetched by whoever runs this; raises StoreError."""
    home, network = process_home(context.home), GitNetwork(stall_s=PATIENCE_S, limit_s=PATIENCE_S)
    asked = {
        codebase: Clone(clone_path(home / "codebases", codebase), one.url, one.branch, network)
        for codebase, one in context.settings().all_codebases.items()
        if one.url is not None
    }
    if not asked:
        return well("none: every codebase is a path")
    with ThreadPoolExecutor(THREADS) as threads:
        problems = dict(zip(asked, threads.map(_problem, asked.values()), strict=True))
    standings = read_clones(context.store().machine)
    says = "; ".join(
        f"{codebase} {f'does not answer ({problem})' if problem else 'answers'}, "
        f"{standings[codebase].words(context.now) if codebase in standings else 'not cloned yet'}"
        for codebase, problem in problems.items()
    )
    failing = [asked[codebase] for codebase, problem in problems.items() if problem]
    return wrong(says, f"as the user who runs triage, try `{failing[0].command_to_try}`") if failing else well(says)


def _problem(clone: Clone) -> str | None:
    try:
        clone.ask_remote()
    except ProviderError as error:
        return str(error)
    return None


def git(context: DoctorContext) -> HealthCheck:
    """Whether git is there and the codebase a checkout with a commit."""
    if shutil.which("git") is None:
        return wrong("git is not installed", "apt-get install git")
    standing = read_index_standing(context.store().machine)
    found = [
        _checkout(name, one, context.home, standing.codebases.get(name, standing))
        for name, one in context.settings().all_codebases.items()
    ]
    fixes = "; ".join(one.fix for one in found if one.fix)
    return HealthCheck(ok=all(one.ok for one in found), says="; ".join(one.says for one in found), fix=fixes)


def _checkout(name: str, settings: CodebaseSettings, home: Path, standing: CodebaseStanding) -> HealthCheck:
    """Whether one codebase can be read and searched."""
    lead = f"{name}: " if name else ""
    try:
        codebase = checkout_path(name, settings, home)
        repo = GitRepo(codebase)
        gaps, commit = find_gaps(repo), repo.head()
    except CodebaseUnreadable as error:
        problem, _, fix = str(error).removeprefix("codebase: ").partition("; ")
        return wrong(lead + problem, fix)
    except ConfigError as error:
        if not name:
            raise
        return well(f"{lead}{str(error).partition(': ')[2]}")  # its remote is another check's matter
    said = [f"{lead}{codebase} is at {commit[:10]}", standing.words()]
    if repo.is_shallow():
        said.append(f"without its older history: `git -C {codebase} fetch --unshallow`")
    if rest := replace(gaps, unreadable=()).words():
        said.append(f"not searched: {rest} ({GAPS_PAGE})")
    if not gaps.unreadable:
        return well(", ".join(filter(None, said)))
    lost = f"{len(gaps.unreadable)} of its files cannot be read, such as {one_line(gaps.unreadable[0], 80)}"
    remote = repo.promisor()
    fix = f"`git -C {codebase} fetch --refetch --no-filter {remote}`, or" if remote else "what is lost:"
    return wrong(", ".join(filter(None, [*said, lost])), f"{fix} `git -C {codebase} fsck --full`; else clone it anew")


def find_gaps(repo: GitRepo) -> IndexGaps:
    """Return what of HEAD cannot be searched: unreadable files, pointers of Git LFS, submodules, large files."""
    head = repo.head()
    entries = list(repo.each_entry(head))
    tree = [one for one in entries if one.kind is EntryKind.FILE]
    small = dict.fromkeys(one.blob for one in tree if not one.is_missing and one.size < MAX_POINTER_BYTES)
    read = repo.readable_blobs(list(small))
    return IndexGaps(
        unreadable=tuple(one.path for one in tree if one.is_missing or (one.blob in small and one.blob not in read)),
        lfs=tuple(one.path for one in tree if one.blob in read and is_pointer(read[one.blob])),
        submodules=tuple(one.path for one in entries if one.kind is EntryKind.SUBMODULE),
        oversized=tuple(one.path for one in tree if is_oversized(one)),
    )
