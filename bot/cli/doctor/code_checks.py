"""The checks of `triage doctor` about codebases: can git read and fetch them, and is there a token for their host.

They write nothing, and read no token's value.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from bot.adapters.git.clones import Clone, GitNetwork, clone_path
from bot.adapters.search.index_rows import is_oversized
from bot.agent.git.git_repo import EntryKind, GitRepo
from bot.agent.git.lfs import MAX_POINTER_BYTES, is_pointer
from bot.casework.reports.code_standings import CloneStanding, CodebaseStanding, read_clones, read_index_standing
from bot.cli.doctor.context import PATIENCE_S, DoctorContext, HealthCheck, well, wrong
from bot.composition.code_hosts import token_variable
from bot.composition.codebases import checkout_path
from bot.config.codebase_settings import CodebaseSettings
from bot.config.environment import host_token_name, process_home
from bot.domain.citations.links import CodeHost, CodeRepository, code_repository
from bot.domain.search.passages import IndexGaps
from bot.domain.text.sanitize import one_line
from bot.errors import CodebaseUnreadable, ConfigError, ProviderError

THREADS = 8


def clones(context: DoctorContext) -> HealthCheck:
    """Whether every codebase with an address can be fetched by whoever runs this.

    Raises:
        ConfigError: git is not installed.
        StoreError: what is known of the clones cannot be read.
    """
    home, codebases = process_home(context.home), context.settings().all_codebases
    network = GitNetwork(stall_s=PATIENCE_S, limit_s=PATIENCE_S)
    asked = {
        codebase: Clone(clone_path(home / "codebases", codebase), one.url, one.branch, network)
        for codebase, one in codebases.items()
        if one.url is not None
    }
    if not asked:
        return well("none: every codebase is a path")
    with ThreadPoolExecutor(THREADS) as threads:
        problems = dict(zip(asked, threads.map(_problem, asked.values()), strict=True))
    standings = read_clones(context.store().machine)
    says = "; ".join(
        _clone_line(codebase, standings.get(codebase), problems[codebase], context.now) for codebase in asked
    )
    failing = [asked[codebase] for codebase, problem in problems.items() if problem]
    if not failing:
        return well(says)
    return wrong(says, f"as the user who runs triage, try `{failing[0].command_to_try}`")


def _problem(clone: Clone) -> str | None:
    try:
        clone.ask_remote()
    except ProviderError as error:
        return str(error)
    return None


def _clone_line(codebase: str, standing: CloneStanding | None, problem: str | None, now: datetime) -> str:
    known = standing.words(now) if standing is not None else "not cloned yet"
    return f"{codebase} does not answer ({problem}), {known}" if problem else f"{codebase} answers, {known}"


def code_hosts(context: DoctorContext) -> HealthCheck:
    """Say for every codebase whether a token for its host is there; none is needed to answer questions."""
    settings = context.settings()
    places = {
        name: _place(name, one, context, default=settings.code_host) for name, one in settings.all_codebases.items()
    }
    return well("; ".join(_host_line(name, place, places, context) for name, place in places.items()))


def _place(
    name: str, one: CodebaseSettings, context: DoctorContext, *, default: CodeHost | None
) -> CodeRepository | None:
    try:
        remote = one.url or GitRepo(checkout_path(name, one, context.home)).remote_url()
    except (ConfigError, ProviderError):  # the check of git says why
        return None
    return code_repository(remote, one.code_host or default)


def _host_line(
    name: str, place: CodeRepository | None, places: dict[str, CodeRepository | None], context: DoctorContext
) -> str:
    lead = f"{name}: " if name else ""
    wanted = host_token_name(place.kind, name if len(places) > 1 else "") if place else None
    if place is None or wanted is None:
        return f"{lead}on no host that is known, so patches are given as files"
    found = token_variable(context.environment, name, place, places.values())
    if found is None:
        return f"{lead}{wanted} is missing for {place.origin}, so patches are given as files"
    return f"{lead}{found} is there for {place.origin}"


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
    said, fixes = [f"{lead}{codebase} is at {commit[:10]}"], []
    if far := standing.words():
        said.append(far)
    elif name and standing.commit == commit:
        said.append(f"{standing.files:,} files indexed")
    if repo.is_shallow():
        said.append("its older history is missing, so nobody can tell who changed what before")
        fixes.append(f"for the history: `git -C {codebase} fetch --unshallow`")
    if gaps.unreadable:
        first = one_line(gaps.unreadable[0], 80)
        count = len(gaps.unreadable)
        said.append(f"but {count} of its files cannot be read, such as {first}; no answer can cite them")
        fixes.append(_refetch(repo, codebase))
    if rest := replace(gaps, unreadable=()).words():
        said.append(f"not searched: {rest}")
    if gaps.lfs:
        fixes.append(f"for Git LFS: `git -C {codebase} lfs pull`")
    if gaps.submodules:
        fixes.append(
            f"for a submodule: `git -C {codebase} submodule update --init`, "
            "then run a second triage with that folder as `codebase`"
        )
    if gaps.oversized:
        fixes.append("for a large file: split it, files over 1 MB are not searched")
    return HealthCheck(ok=not gaps.unreadable, says=", ".join(said), fix="; ".join(fixes))


def _refetch(repo: GitRepo, codebase: Path) -> str:
    """Return what fetches or names the lost files."""
    if remote := repo.promisor():
        return f"`git -C {codebase} fetch --refetch --no-filter {remote}`; if {remote} cannot be reached, clone anew"
    return f"`git -C {codebase} fsck --full` names what is lost; clone the repository anew"


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
